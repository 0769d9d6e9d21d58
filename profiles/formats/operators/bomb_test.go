package operators_test

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	const head = `{"format":"memtide/1","kind":"operators",`
	formattest.Bombs(t, "operators", 1, []formattest.Bomb{
		{Name: "2 million storages", Content: formattest.Content(head, `"storages":[1`, formattest.Rep(",1", 2<<20),
			"]}"), Want: "There are more than 1048576 storages"},
		{Name: "a long list of inputs", Content: formattest.Content(head, `"inputs":[1`, formattest.Rep(",1", 2<<20),
			"]}"), Want: "inputs is"},
		{Name: "units without calls", Content: formattest.Content(head,
			`"storages":[],"resident":[],"ops":[],"forward_ops":0,"calls":[],"keeps":[],"units":[0]}`),
			Want: "units is something else"},
	})
}
