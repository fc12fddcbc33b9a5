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

// Grace is how many minutes a van may be late before the shipper hears of it.
const Grace = 20

// Broken says whether the van has missed its window for good.
func Broken(w window.Window, minute int) bool {
	return minute > w.To+Grace
}
