// Package window knows the hours in which a van fetches parcels.
package window

// Window is a part of the day, in minutes after midnight. To is not part of it.
type Window struct {
	From, To int
}

// Contains says whether the van may stop at this minute.
func (w Window) Contains(minute int) bool {
	return w.From <= minute && minute < w.To
}
