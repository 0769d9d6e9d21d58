//go:build !js

package browsertest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// long skips a test unless MEMTIDE_LONG is set, which make check-long does. Call it where a test or a subtest repeats
// in another state, width, theme or program what others check in one, or in the page what native tests check.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("MEMTIDE_LONG") == "" {
		t.Skip("MEMTIDE_LONG is not set")
	}
}
