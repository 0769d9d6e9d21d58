package tell

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Index is a lookup.Index with methods that describe its trace in words.
type Index struct{ *lookup.Index }

// New indexes a trace of p's graph, see lookup.New.
func New(p *engine.Problem, t *sim.Trace) *Index {
	return &Index{lookup.New(p, t)}
}

// Said is a sentence of an explanation, with the colour of what it is about. Name is
// the name that the page emphasizes, empty if there is none.
type Said struct {
	Role                display.Role
	Before, Name, After string
}

// String returns the sentence.
func (s Said) String() string { return s.Before + s.Name + s.After }

// Sentences returns an explanation as one text.
func Sentences(said []Said) string {
	var parts []string
	for _, s := range said {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, " ")
}

// decisions are the letters and the words of decisions.
var decisions = [...]struct{ letter, words string }{
	sim.Keep:                    {"K", "kept"},
	sim.Recompute:               {"R", "computed again"},
	sim.Offload:                 {"O", "moved"},
	sim.Recompute | sim.Offload: {"R+O", "computed again and moved"},
}

// DecisionLetter returns the abbreviation of a decision: K, R, O or R+O.
func DecisionLetter(d sim.Decision) string { return decisions[d].letter }

// DecisionName returns a decision in words.
func DecisionName(d sim.Decision) string { return decisions[d].words }

// kindRoles are the colours of kinds of spans.
var kindRoles = [...]display.Role{sim.SpanForward: display.Forward, sim.SpanRecompute: display.Recompute,
	sim.SpanBackward: display.Backward,
	sim.SpanOffload:  display.Transfer, sim.SpanFetch: display.Transfer, sim.SpanNetwork: display.Transfer,
	sim.SpanCPU: display.Fixed}

// DecisionRole returns the colour of a decision.
func DecisionRole(d sim.Decision) display.Role {
	switch {
	case d&sim.Recompute != 0:
		return display.Recompute
	case d&sim.Offload != 0:
		return display.Transfer
	}
	return display.Forward
}

// ArcWords returns how many values have arcs, and how many arcs are not drawn: more of them because of their
// number, and folded of them because they are within one of the repeated blocks.
func ArcWords(all, more, folded, blocks int) string {
	if all == 0 {
		return fmt.Sprintf("no value is read more than %d operations later", lookup.FarReader)
	}
	words := fmt.Sprintf("%s values read more than %d operations later", format.Count(all), lookup.FarReader)
	if more > 0 {
		words += ", " + format.Count(more) + " not drawn"
	}
	if folded > 0 {
		words += fmt.Sprintf(", %s within %d repeated blocks", format.Count(folded), blocks)
	}
	return words
}

// ArcSentence describes an arc: "pool1 to cat: 8 MiB, read 20 operations later".
func (m *Index) ArcSentence(a *lookup.Arc) string {
	g, st := m.Problem.Graph, m.Structure()
	return fmt.Sprintf("%s to %s: %s, read %s operations later", bareName(&g.Ops[st.Ops[a.From]]),
		bareName(&g.Ops[st.Ops[a.To]]),
		format.Bytes(a.Bytes), format.Count(int(a.To-a.From)))
}

// bareName returns the name of a forward operation without the prefix that some formats add.
func bareName(op *engine.Op) string {
	return strings.TrimPrefix(strings.ToValidUTF8(op.Name, "\uFFFD"), "F ")
}

// GraphDesc describes the strip of a graph.
func (m *Index) GraphDesc() string {
	st := m.Structure()
	words := fmt.Sprintf("%s forward operations; %s.", format.Count(len(st.Ops)), ArcWords(len(st.Arcs), 0, 0, 0))
	if len(st.Arcs) > 0 {
		words += " The heaviest is " + m.ArcSentence(&st.Arcs[0]) + "."
	}
	return words
}
