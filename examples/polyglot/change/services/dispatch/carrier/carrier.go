// Package carrier talks to the carriers' booking services.
package carrier

import (
	"strconv"
	"time"
)

// Wait is the pause before the second call of one booking.
const Wait = 2 * time.Second

// Key lets a carrier recognise a booking that it already holds: one per order and address.
func Key(order string, revision int) string {
	return order + "/" + strconv.Itoa(revision)
}

// TotalWait is the time that a booking of so many calls may spend waiting.
func TotalWait(calls int, longest time.Duration) time.Duration {
	total, wait := time.Duration(0), Wait
	for call := 1; call < calls; call++ {
		total += wait
		wait = min(wait*2, longest)
	}
	return total
}
