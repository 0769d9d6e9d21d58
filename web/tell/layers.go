package tell

import (
	"cmp"
	"sort"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
)

// LayerRow is a row of the table of layers.
type LayerRow struct {
	Stage     int // from 1
	Name      string
	Decision  sim.Decision
	Size      engine.Bytes  // saved for the backward
	Forward   time.Duration // total time of first runs
	Recompute time.Duration // total time of further runs
	Backward  time.Duration
	Copies    time.Duration // total time of copies, both ways
	Slack     time.Duration // from the end of the first run to the start of the backward; 0 if there is none
	Waiting   time.Duration // time for which compute waited for copies of the stage's values
	Why       string        // cost of the decision and of its alternatives, in words
}

// LayerColumn is a column of the table of layers.
type LayerColumn uint8

// The columns, from left to right.
const (
	LayerNumber LayerColumn = iota
	LayerName
	LayerDecision
	LayerSize
	LayerForward
	LayerBackward
	LayerRecompute
	LayerCopies
	LayerSlack
	LayerWaiting
	LayerWhy
	NumLayerColumns
)

// Title returns the heading of a column.
func (c LayerColumn) Title() string { return layerColumns[c].title }

// Doc returns the meaning of a column.
func (c LayerColumn) Doc() string { return layerColumns[c].doc }

// Amount reports whether a column holds amounts, whose largest are more interesting than the smallest.
func (c LayerColumn) Amount() bool { return c >= LayerSize && c <= LayerWaiting }

// layerColumns are the columns, with their headings, their meanings and the order of their rows.
var layerColumns = [NumLayerColumns]struct {
	title, doc string
	compare    func(a, b *LayerRow) int
}{
	{"#", "Place in the network", by(func(r *LayerRow) int { return r.Stage })},
	{"Block", "Name", by(func(r *LayerRow) string { return r.Name })},
	{"K/R/O", "Kept, computed again (R) or moved (O)",
		by(func(r *LayerRow) string { return DecisionLetter(r.Decision) })},
	{"Size", "What it saves for its backward pass", by(func(r *LayerRow) engine.Bytes { return r.Size })},
	{"Forward", "Time of its first run", by(func(r *LayerRow) time.Duration { return r.Forward })},
	{"Backward", "Time of its backward pass", by(func(r *LayerRow) time.Duration { return r.Backward })},
	{"Again", "Time of its further runs", by(func(r *LayerRow) time.Duration { return r.Recompute })},
	{"Copies", "Time of its copies, both ways", by(func(r *LayerRow) time.Duration { return r.Copies })},
	{"Between", "From the end of its first run to the start of its backward pass",
		by(func(r *LayerRow) time.Duration { return r.Slack })},
	{"Waiting", "How long compute stood still until one of its copies",
		by(func(r *LayerRow) time.Duration { return r.Waiting })},
	{"Why", "What the decision costs, and what the others would", by(func(r *LayerRow) string { return r.Why })},
}

// by returns a comparison of rows by a value.
func by[T cmp.Ordered](value func(*LayerRow) T) func(a, b *LayerRow) int {
	return func(a, b *LayerRow) int { return cmp.Compare(value(a), value(b)) }
}

// LayerTable returns the rows of all stages sorted by a column, in descending order if down is
// true. It leaves out rows that do not contain find, in any case.
func (m *Index) LayerTable(column LayerColumn, down bool, find string) []LayerRow {
	waits := m.waitsByStage()
	find = strings.ToLower(strings.TrimSpace(find))
	rows := make([]LayerRow, 0, len(m.Sizes))
	for k := 1; k <= len(m.Sizes); k++ {
		r := m.layerRow(k, waits[k-1])
		text := strconv.Itoa(k) + " " + r.Name + " " + DecisionName(r.Decision) + " " + r.Why
		if find == "" || strings.Contains(strings.ToLower(text), find) {
			rows = append(rows, r)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		order := layerColumns[column].compare(&rows[i], &rows[j])
		return order < 0 && !down || order > 0 && down
	})
	return rows
}

// waitsByStage returns, for each stage, the total time of waits that a copy of its values ended.
func (m *Index) waitsByStage() []time.Duration {
	out := make([]time.Duration, len(m.Sizes))
	for i := range m.Trace.Gaps {
		g := &m.Trace.Gaps[i]
		if c := m.Span(g.Cause); c != nil {
			if k := m.StageOfSpan(c); k >= 1 && k <= len(out) {
				out[k-1] += g.End - g.Start
			}
		}
	}
	return out
}

func (m *Index) layerRow(k int, waiting time.Duration) LayerRow {
	r := LayerRow{Stage: k, Name: m.StageName(k), Decision: m.Deed(k), Size: m.Sizes[k-1], Waiting: waiting}
	first, back := time.Duration(-1), time.Duration(-1)
	for _, id := range m.ByStage[k-1] {
		s := &m.Trace.Spans[id]
		d := s.End - s.Start
		switch s.Kind {
		case sim.SpanForward:
			r.Forward += d
			first = max(first, s.End)
		case sim.SpanRecompute:
			r.Recompute += d
		case sim.SpanBackward:
			r.Backward += d
			if back < 0 {
				back = s.Start
			}
		default:
			r.Copies += d
		}
	}
	if first >= 0 && back > first {
		r.Slack = back - first
	}
	if r.Why = m.why(&r); r.Decision != m.Decision(k) {
		r.Why = "kept by the policy: " + format.Bytes(r.Size) + "; the rest is " + DecisionName(r.Decision)
		if again := m.Problem.Chain.Chain.Stages[k-1].Again; again > 0 {
			r.Recompute, r.Backward = again, max(0, r.Backward-again)
		}
	}
	return r
}

// why returns what the decision about a stage costs, and what the alternatives would cost.
func (m *Index) why(r *LayerRow) string {
	if r.Size == 0 && r.Decision == sim.Keep {
		return "saves nothing"
	}
	size := format.Bytes(r.Size)
	var parts []string
	if r.Decision&sim.Recompute != 0 {
		str := "computed again: " + size + " for " + format.Duration(r.Recompute)
		if there, back, ok := m.copyTime(r.Size); ok && r.Decision == sim.Recompute {
			str += "; copies: " + format.Duration(there+back)
		}
		parts = append(parts, str)
	}
	if r.Decision&sim.Offload != 0 {
		str := "moved: " + size + ", copies " + format.Duration(r.Copies) + " of the " + format.Duration(r.Slack) +
			" between its passes"
		if r.Waiting > 0 {
			str += ", waiting " + format.Duration(r.Waiting)
		} else {
			str += ", no waiting"
		}
		if r.Decision == sim.Offload {
			str += "; computing again: " + format.Duration(r.Forward)
		}
		parts = append(parts, str)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	str := "kept: computing again would take " + format.Duration(r.Forward)
	switch there, back, ok := m.copyTime(r.Size); {
	case !ok:
	case r.Slack == 0:
		str += ", and its backward pass follows at once"
	case there+back <= r.Slack:
		str += ", copies " + format.Duration(there+back) + " of the " + format.Duration(r.Slack) + " between its passes"
	default:
		str += ", copies " + format.Duration(there+back) + ", more than the " + format.Duration(r.Slack) +
			" between its passes"
	}
	return str
}

// copyTime returns the times of a copy to the host and back; ok is false without a link.
func (m *Index) copyTime(size engine.Bytes) (there, back time.Duration, ok bool) {
	d := &m.Problem.Device
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return 0, 0, false
	}
	return d.ToHost.Time(size), d.ToDev.Time(size), true
}

// LayersCells returns the head and the rows of the table as texts for a file: sizes in bytes, times in milliseconds.
func LayersCells(rows []LayerRow) (head []string, cells [][]string) {
	head = []string{"layer", "name", "decision", "bytes", "forward_ms", "backward_ms", "recompute_ms", "copies_ms",
		"between_ms", "waiting_ms", "why"}
	for i := range rows {
		r := &rows[i]
		row := []string{strconv.Itoa(r.Stage), r.Name, DecisionLetter(r.Decision), strconv.FormatInt(int64(r.Size), 10)}
		for _, d := range [...]time.Duration{r.Forward, r.Backward, r.Recompute, r.Copies, r.Slack, r.Waiting} {
			row = append(row, format.Milliseconds(d))
		}
		cells = append(cells, append(row, r.Why))
	}
	return head, cells
}
