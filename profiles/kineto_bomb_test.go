package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_kineto(t *testing.T) {
	runBombs(t, "kineto", 1, []bomb{
		{"an event of 50 MB", content(traceHead, `{"ph":"X","ts":1,"name":"`, rep("x", 50<<20), `"}]}`), "one event is larger than 16 MiB"},
		{"500,000 small operators", content(traceHead, rep(`{"ph":"X","ts":1,"cat":"cpu_op"},`, 500_000), `{"ph":"i","ts":1,"name":"x"}]}`), "reading takes more than"},
		{"a call stack of 10 million frames", content(traceHead, `{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Call stack":"`, rep(";", 10<<20), `"}},`, `{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`), ""},
		{"a tensor of 5 million dimensions", content(traceHead, `{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Input Dims":[[`, rep("1,", 5<<20), `1]],"Input type":["float"]}},`, `{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`), ""},
		{"lists in lists", content(traceHead, `{"ph":"X","name":"a","ts":1,"args":`, rep("[", 10<<20)), "ends early"},
	})
}

const traceHead = `{"traceEvents":[`
