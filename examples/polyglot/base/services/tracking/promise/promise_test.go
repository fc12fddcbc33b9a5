package promise

import (
	"testing"

	"parcelwright.example/dispatch/window"
)

var afternoon = window.Window{From: 13*60 + 30, To: 18 * 60}

func TestText(t *testing.T) {
	if got := Text(afternoon); got != "between 13:30 and 18:00" {
		t.Errorf("Text = %q", got)
	}
}
