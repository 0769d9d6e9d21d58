package tidy

import (
	"bytes"
	"testing"
)

// mostLines is the limit on lines of Go outside tests and generated code. An addition that would exceed it
// requires deleting something superfluous.
const mostLines = 120_000

// TestLines counts the lines of all Go files except tests and generated files.
func TestLines(t *testing.T) {
	lines := 0
	for _, f := range sources(t) {
		if !f.test() && !f.generated() {
			lines += bytes.Count(f.src, []byte("\n"))
		}
	}
	if t.Logf("%d lines of Go", lines); lines > mostLines {
		t.Errorf("%d lines of Go outside tests and generated code, want at most %d", lines, mostLines)
	}
}
