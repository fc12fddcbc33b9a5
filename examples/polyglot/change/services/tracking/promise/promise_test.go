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

func TestBroken(t *testing.T) {
	if Broken(afternoon, 18*60) || !Broken(afternoon, 19*60) {
		t.Error("a promise is broken when the grace is over")
	}
}
