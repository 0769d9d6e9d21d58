package tell

import (
	"strings"
	"time"

	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Row is a row of the table of operations: a span or a gap of the timeline.
type Row struct {
	Start  time.Duration `json:"startNs"`
	End    time.Duration `json:"endNs"`
	Lane   string        `json:"lane"`            // compute, to host, to device
	What   string        `json:"what"`            // B18, s17, or "waiting"
	Kind   string        `json:"kind"`            // backward, copy to the host, or the reason of a wait
	Stage  string        `json:"layer,omitempty"` // name of the stage; empty if it belongs to none
	Why    string        `json:"why,omitempty"`   // what runs beside it and what it waited for, in words
	Target lookup.Target `json:"-"`
}

var laneWords = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "to host", sim.ToDev: "to device",
	sim.Network: "network", sim.CPU: "CPU"}

// NumRows returns the number of rows of the table: one for each span and each gap.
func (m *Index) NumRows() int { return len(m.Rows) }

// Row returns row i of the table, in the order of starts.
func (m *Index) Row(i int) Row {
	if ref := m.Rows[i]; ref < 0 {
		g := &m.Trace.Gaps[^ref]
		return Row{g.Start, g.End, laneWords[sim.Compute], "waiting", g.Reason.String(), "",
			Sentences(m.explainGap(int(^ref))), lookup.TargetOf(ref)}
	}
	s := &m.Trace.Spans[m.Rows[i]]
	r := Row{s.Start, s.End, laneWords[s.Lane], m.SpanName(s), kindWords[s.Kind], "",
		Sentences(append(m.own(s), m.waited(s)...)),
		lookup.TargetOf(m.Rows[i])}
	if k := m.StageOfSpan(s); k > 0 {
		r.Stage = m.StageName(k)
	}
	return r
}

// Table returns the head and all rows of the table as texts for a file, with times in milliseconds.
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

// quoteCSV quotes a field if necessary, including one with a #, which some readers take for the
// beginning of a comment. It marks a field that a spreadsheet would take for a formula as text.
func quoteCSV(s string) string {
	// Some readers skip space before a formula.
	if start := strings.TrimSpace(s); start != "" && strings.ContainsRune("=+-@", rune(start[0])) {
		s = "'" + s
	}
	if strings.ContainsAny(s, ",\"#\r\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
