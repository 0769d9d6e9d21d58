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

// LayerRow is what the table of layers says about a stage.
type LayerRow struct {
	Stage     int
	Name      string
	Decision  sim.Decision
	Size      engine.Bytes  // that it saves for its backward
	Forward   time.Duration // of its first runs
	Recompute time.Duration // of its further runs
	Backward  time.Duration
	Copies    time.Duration // of what was copied, both ways
	Slack     time.Duration // from the end of its first run to the start of its backward; 0 if it has none
	Waiting   time.Duration // that compute stood still until a copy of its values
	Why       string        // in words
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

// Title returns the heading of a column, Doc what it means.
func (c LayerColumn) Title() string { return layerColumns[c].title }

// Doc says what a column means.
func (c LayerColumn) Doc() string { return layerColumns[c].doc }

// Amount reports whether a column holds amounts, of which the largest come first.
func (c LayerColumn) Amount() bool { return c >= LayerSize && c <= LayerWaiting }

// layerColumns are the columns, with their headings, what they mean and how rows are sorted by them.
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

// by compares rows by a value.
func by[T cmp.Ordered](value func(*LayerRow) T) func(a, b *LayerRow) int {
	return func(a, b *LayerRow) int { return cmp.Compare(value(a), value(b)) }
}

// LayerTable lists the stages by a column; down: the largest first. Rows in which
// find occurs nowhere, in any case, are left out.
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

// waitsByStage returns the waiting that ended with a copy of each stage's values.
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
	r := LayerRow{Stage: k, Name: m.StageName(k), Decision: m.Decision(k), Size: m.Sizes[k-1], Waiting: waiting}
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
	r.Why = m.why(&r)
	return r
}

// why says what the decision about a stage costs, and what the others would.
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

// copyTime returns how long a size takes to the host and back; false without a link.
func (m *Index) copyTime(size engine.Bytes) (there, back time.Duration, ok bool) {
	d := &m.Problem.Device
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return 0, 0, false
	}
	return d.ToHost.Time(size), d.ToDev.Time(size), true
}

// LayersCells returns the table as texts for a file, with a head: sizes in bytes, times
// in milliseconds.
func LayersCells(rows []LayerRow) (head []string, cells [][]string) {
	head = []string{"layer", "name", "decision", "bytes", "forward_ms", "backward_ms", "recompute_ms", "copies_ms",
		"between_ms", "waiting_ms", "why"}
	for i := range rows {
		r := &rows[i]
		row := []string{strconv.Itoa(r.Stage), r.Name, DecisionLetter(r.Decision), strconv.FormatInt(int64(r.Size), 10)}
		for _, d := range [...]time.Duration{r.Forward, r.Backward, r.Recompute, r.Copies, r.Slack, r.Waiting} {
			row = append(row, strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64))
		}
		cells = append(cells, append(row, r.Why))
	}
	return head, cells
}
