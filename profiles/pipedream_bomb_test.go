package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_pipedream(t *testing.T) {
	runBombs(t, "pipedream", 1, []bomb{
		{"a line of 50 MB", content(pdHead, "node2 -- ", rep("x", 50<<20), "\n"), "Line 2: the line is 52428809 bytes long"},
		{"a list of 10 million sizes", content(pdHead, "node2 -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=[", rep("1;", 10<<20), "1], parameter_size=0\n"), "the line is 20971628 bytes long"},
		{"a name of 2 KB", content(pdHead, "node", rep("2", 2000), " -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=0\n"), "a name is 2004 bytes long"},
		{"5 million edges", content(pdHead, rep("\tnode1 -- node1\n", 3<<20)), "there are more than 20000 operators or 160000 edges"},
	})
}
