package tell

import (
	"strings"
	"time"

	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Row is a line of the table that says what the timeline shows.
type Row struct {
	Start, End time.Duration
	Lane       string // compute, to host, to device
	What       string // B18, s17, or "waiting"
	Kind       string // backward, copy to the host, or the reason of a wait
	Stage      string // its name; empty if it belongs to none
	Why        string // what held it back, in words; empty if nothing did
	Target     lookup.Target
}

var laneWords = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "to host", sim.ToDev: "to device",
	sim.Network: "network", sim.CPU: "CPU"}

// NumRows returns how many rows the table has: one for each span and each gap.
func (m *Index) NumRows() int { return len(m.Rows) }

// Row is row i of the table, in the order of starts.
func (m *Index) Row(i int) Row {
	if ref := m.Rows[i]; ref < 0 {
		g := &m.Trace.Gaps[^ref]
		return Row{g.Start, g.End, laneWords[sim.Compute], "waiting", g.Reason.String(), "",
			Sentences(m.explainGap(int(^ref))), lookup.TargetOf(ref)}
	}
	s := &m.Trace.Spans[m.Rows[i]]
	r := Row{s.Start, s.End, laneWords[s.Lane], m.SpanName(s), kindWords[s.Kind], "", Sentences(m.waited(s)),
		lookup.TargetOf(m.Rows[i])}
	if k := m.StageOfSpan(s); k > 0 {
		r.Stage = m.StageName(k)
	}
	return r
}

// Table returns the head of the table and all rows as texts, for files and for
// readers that cannot page: times in milliseconds.
func (m *Index) Table() (head []string, rows [][]string) {
	head = []string{"start (ms)", "end (ms)", "lane", "what", "kind", "layer", "why"}
	rows = make([][]string, m.NumRows())
	for i := range rows {
		r := m.Row(i)
		rows[i] = []string{format.Milliseconds(r.Start), format.Milliseconds(r.End), r.Lane, r.What, r.Kind, r.Stage,
			r.Why}
	}
	return head, rows
}

// CSV returns a table as comma-separated values.
func CSV(head []string, rows [][]string) string {
	var b strings.Builder
	for _, cells := range append([][]string{head}, rows...) {
		for i, c := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteCSV(c))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// quoteCSV quotes a field, also where it has a # that a reader would take for the
// begin of a comment; what a spreadsheet would take for a formula is marked as text.
func quoteCSV(s string) string {
	// Some readers skip space before a formula, and what a tab was is a space in a name.
	if start := strings.TrimSpace(s); start != "" && strings.ContainsRune("=+-@", rune(start[0])) {
		s = "'" + s
	}
	if strings.ContainsAny(s, ",\"#\r\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
