package question

import (
	"cmp"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// Table is a list of answers for people. No text in it is HTML.
type Table struct {
	Columns []string // the first is about the heads of the rows
	Rows    []Row
}

// Row is one answer.
type Row struct {
	Answer   int // index into Answers.List
	Head     string
	Strategy *engine.Strategy // not nil: the row is about it, and Head is its title
	Cells    []Cell           // beside the head, one for each column; of an answer without a schedule only one has a text
	Use      string           // what a click chooses, in words; empty: nothing can be clicked
}

// Cell is a text.
type Cell struct {
	Text   string
	Title  string // more of it, on demand
	Better bool   // than what is chosen
}

// failed has a row say in one of its cells why there is no schedule.
func (r *Row) failed(at int, f *proto.Failure) {
	r.Cells[at] = Cell{Text: "no answer"}
	if f == nil {
		return
	}
	words := map[proto.FailureKind]string{proto.Infeasible: "does not fit", proto.Unsupported: "does not apply", proto.Deadline: "takes too long"}[f.Kind]
	r.Cells[at] = Cell{Text: cmp.Or(words, "failed"), Title: f.Text}
}

// stepTime is a step time; of the best so far it is at most that.
func stepTime(x *proto.Answer) string {
	if x.Partial && !x.Largest {
		return "≤ " + format.Duration(x.StepTime)
	}
	return format.Duration(x.StepTime)
}
