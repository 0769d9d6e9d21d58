package draw

import (
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
)

// words returns the texts of a scene in the order in which they are painted.
func (s *Scene) words() (out []string) {
	for _, t := range s.Texts {
		out = append(out, t.S)
	}
	return out
}

// groupsModel returns a model with ten layers: three are offloaded, three kept and four computed again.
func groupsModel() *Index {
	c := &engine.Chain{Input: 1, LossGradAllocated: true, Stages: make([]engine.Stage, 10)}
	for i := range c.Stages {
		c.Stages[i] = engine.Stage{Forward: ms, Back: ms, Out: engine.GiB, Saved: 2 * engine.GiB, Grad: 1}
	}
	d := []sim.Decision{sim.Offload, sim.Offload, sim.Offload, sim.Keep, sim.Keep, sim.Keep, sim.Recompute,
		sim.Recompute, sim.Recompute, sim.Recompute}
	return NewIndex(engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit),
		&sim.Trace{Makespan: 20 * ms, Decisions: d})
}

// TestGroups checks that adjacent layers with the same decision share one name, which is shortened to the room
// that it has, and that each bar has its letter if there is room.
func TestGroups(t *testing.T) {
	m := groupsModel()
	for _, c := range []struct {
		width   float64
		names   []string
		letters int
	}{
		{900, []string{"3 to the host and back", "3 kept", "4 computed again"}, 10},
		{420, []string{"3 to the host", "3 kept", "4 computed again"}, 10},
		{320, []string{"3 out", "3 kept", "4 again"}, 10},
		{150, nil, 5},
	} {
		var s Scene
		m.Draw(&s, Strip, View{Width: c.width})
		words, letters := s.words(), 0
		for _, w := range words {
			if w == "K" || w == "R" || w == "O" {
				letters++
			}
		}
		for _, want := range c.names {
			if !slices.Contains(words, want) {
				t.Errorf("width %v: the texts are %q; want %q among them", c.width, words, want)
			}
		}
		if letters != c.letters {
			t.Errorf("width %v: %d letters; want %d", c.width, letters, c.letters)
		}
	}
}
