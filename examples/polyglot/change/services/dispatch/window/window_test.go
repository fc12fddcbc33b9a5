package window

import "testing"

var afternoon = Window{From: 13 * 60, To: 18 * 60}

func TestContains(t *testing.T) {
	for minute, want := range map[int]bool{779: false, 780: true, 1079: true, 1080: false} {
		if got := afternoon.Contains(minute); got != want {
			t.Errorf("Contains(%d) = %v", minute, got)
		}
	}
}

func TestFetchable(t *testing.T) {
	if !afternoon.Fetchable(15*60, 45) {
		t.Error("an early announcement is fetched")
	}
	if afternoon.Fetchable(17*60+30, 45) {
		t.Error("a late announcement waits for the next day")
	}
}
