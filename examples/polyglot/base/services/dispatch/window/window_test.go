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
