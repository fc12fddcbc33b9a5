package carrier

import (
	"testing"
	"time"
)

func TestKey(t *testing.T) {
	if Key("A-1009", 1) == Key("A-1009", 2) {
		t.Error("a new address needs a new key")
	}
}

func TestTotalWait(t *testing.T) {
	if got := TotalWait(4, time.Minute); got != 14*time.Second {
		t.Errorf("TotalWait(4, 1m) = %v", got)
	}
}
