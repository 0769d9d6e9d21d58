package kineto

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "kineto", 1, []formattest.Bomb{
		{Name: "an event of 50 MB", Content: formattest.Content(traceHead, `{"ph":"X","ts":1,"name":"`,
			formattest.Rep("x", 50<<20), `"}]}`), Want: "one event is larger than 16 MiB"},
		{Name: "500,000 small operators",
			Content: formattest.Content(traceHead, formattest.Rep(`{"ph":"X","ts":1,"cat":"cpu_op"},`, 500_000),
				`{"ph":"i","ts":1,"name":"x"}]}`), Want: "reading takes more than"},
		{Name: "a call stack of 10 million frames",
			Content: formattest.Content(traceHead,
				`{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Call stack":"`,
				formattest.Rep(";", 10<<20), `"}},`,
				`{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`),
			Want: ""},
		{Name: "a tensor of 5 million dimensions",
			Content: formattest.Content(traceHead,
				`{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Input Dims":[[`,
				formattest.Rep("1,", 5<<20), `1]],"Input type":["float"]}},`,
				`{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`),
			Want: ""},
		{Name: "lists in lists", Content: formattest.Content(traceHead, `{"ph":"X","name":"a","ts":1,"args":`,
			formattest.Rep("[", 10<<20)), Want: "ends early"},
	})
}

const traceHead = `{"traceEvents":[`
