package carrier

import "testing"

func TestKey(t *testing.T) {
	if got := Key("A-1009"); got != "A-1009" {
		t.Errorf("Key = %q", got)
	}
}
