// Package promise tells a shipper when the van comes.
package promise

import (
	"fmt"

	"parcelwright.example/dispatch/window"
)

// Text is the line on the tracking page.
func Text(w window.Window) string {
	return fmt.Sprintf("between %02d:%02d and %02d:%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}
