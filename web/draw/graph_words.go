package draw

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/web/format"
)

// arcWords says how many values have arcs, and where those are that are not drawn.
func arcWords(all, more, folded, blocks int) string {
	if all == 0 {
		return fmt.Sprintf("no value is read more than %d operations later", farReader)
	}
	words := fmt.Sprintf("%s values read more than %d operations later", format.Count(all), farReader)
	if more > 0 {
		words += ", " + format.Count(more) + " not drawn"
	}
	if folded > 0 {
		words += fmt.Sprintf(", %s within %d repeated blocks", format.Count(folded), blocks)
	}
	return words
}

// arcSentence is an arc in short: "pool1 to cat: 8 MiB, read 20 operations later".
func (m *tellModel) arcSentence(a *arc) string {
	g, st := m.problem.Graph, m.graph()
	return fmt.Sprintf("%s to %s: %s, read %s operations later", bareName(&g.Ops[st.ops[a.from]]), bareName(&g.Ops[st.ops[a.to]]),
		format.Bytes(a.bytes), format.Count(int(a.to-a.from)))
}

// bareName is the name of a forward operation without the mark that some formats
// put before it.
func bareName(op *engine.Op) string {
	return strings.TrimPrefix(strings.ToValidUTF8(op.Name, "\uFFFD"), "F ")
}

// graphDesc says what the strip of a graph shows.
func (m *tellModel) graphDesc() string {
	st := m.graph()
	words := fmt.Sprintf("%s forward operations; %s.", format.Count(len(st.ops)), arcWords(len(st.arcs), 0, 0, 0))
	if len(st.arcs) > 0 {
		words += " The heaviest is " + m.arcSentence(&st.arcs[0]) + "."
	}
	return words
}
