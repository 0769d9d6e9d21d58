package pipedream

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "pipedream", 1, []formattest.Bomb{
		{Name: "a line of 50 MB", Content: formattest.Content(pdHead, "node2 -- ", formattest.Rep("x", 50<<20), "\n"),
			Want: "Line 2: the line is 52428809 bytes long"},
		{Name: "a list of 10 million sizes",
			Content: formattest.Content(pdHead,
				"node2 -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=[",
				formattest.Rep("1;", 10<<20), "1], parameter_size=0\n"), Want: "the line is 20971628 bytes long"},
		{Name: "a name of 2 KB", Content: formattest.Content(pdHead, "node", formattest.Rep("2", 2000),
			" -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=0\n"), Want: "a name is 2004 bytes long"},
		{Name: "5 million edges", Content: formattest.Content(pdHead, formattest.Rep("\tnode1 -- node1\n", 3<<20)),
			Want: "there are more than 20000 operators or 160000 edges"},
	})
}
