package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Model { return NewModel(tracetest.Small()) }

func randomModel(n int, seed uint64) *Model { return NewModel(tracetest.Random(n, seed)) }

func emptyModel() *Model { return NewModel(tracetest.Empty()) }

func played(t *testing.T, p *engine.Problem, away bool) *Model {
	return NewModel(tracetest.Played(t, p, away))
}

// A stage that is none of the blocks has no number of theirs.
func TestOnlyBlocksHaveNumbers(t *testing.T) {
	m := smallModel()
	m.Names = []string{"the optimizer of all weights of a network"}
	for k := 2; k <= m.Count; k++ {
		m.Names = append(m.Names, fmt.Sprintf("block %d", 10+k))
	}
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := s.words()
	if slices.Contains(words, "1") ||
		!slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "12") }) {
		t.Errorf("the timeline says %q; want the number 12 of a block, and no 1 of the optimizer", words)
	}
}
