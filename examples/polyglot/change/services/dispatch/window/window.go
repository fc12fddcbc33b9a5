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

// Fetchable says whether a parcel announced at this minute is fetched on the same day,
// given the minutes that the van needs to get there.
func (w Window) Fetchable(announced, drive int) bool {
	if announced < w.From {
		return w.From+drive <= w.To
	}
	return announced+drive < w.To
}
