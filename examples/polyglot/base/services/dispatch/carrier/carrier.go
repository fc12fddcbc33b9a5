// Package carrier talks to the carriers' booking services.
package carrier

import "time"

// Wait is the pause before the second call of one booking.
const Wait = 2 * time.Second

// Key lets a carrier recognise a booking that it already holds.
func Key(order string) string {
	return order
}
