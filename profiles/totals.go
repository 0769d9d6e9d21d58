package profiles

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Totals are the sums that let a person see at once whether a profile is what
// they think it is: a wrong unit shows here.
type Totals struct {
	Stages  int           // of the chain, the loss not counted; 0 if there is no chain
	Ops     int           // of the graph; 0 if there is no graph
	Forward time.Duration // sum of the forward times
	Back    time.Duration // sum of the backward times
	Input   engine.Bytes  // [a^0]
	Out     engine.Bytes  // sum of a, the input not counted
	Saved   engine.Bytes  // sum of abar; of a graph, of all activations

	Resident      engine.Resident // what stays for the whole step
	KeepAllPeak   engine.Bytes    // peak of keeping everything, resident memory included; 0 if there is no chain
	SamplesPerSec float64         // batch over forward and backward time; 0 if either is unknown
}

// Totals adds up the profile: the chain, or the graph if there is no chain.
func (p *Profile) Totals() Totals {
	var t Totals
	if p.Graph != nil {
		t.Ops = len(p.Graph.Ops)
	}
	if c := p.Chain; c != nil {
		t.Stages = layers(c)
		t.Forward, t.Back = c.ForwardTime(), c.BackTime()
		t.Input, t.Resident = c.Input, c.Resident
		for i := range c.Stages {
			t.Out += c.Stages[i].Out
			t.Saved += c.Stages[i].Saved
		}
		t.KeepAllPeak = c.KeepAllPeak()
	} else if p.Graph != nil {
		for i := range p.Graph.Ops {
			switch op := &p.Graph.Ops[i]; {
			case op.Lane != engine.LaneCompute: // beside what the device computes
			case op.Pass == engine.Forward:
				t.Forward += op.Time
			default:
				t.Back += op.Time
			}
		}
		t.Resident.Pinned = p.Graph.Fixed
		replaced := replacements(p.Graph)
		for i := range p.Graph.Values {
			switch v := &p.Graph.Values[i]; {
			case replaced[i]: // counted as what it replaces
			case v.Kind == engine.KindWeight, v.Kind == engine.KindState && v.Initial&engine.OnDevice != 0:
				t.Resident.Weights += v.Size
			case v.Kind == engine.KindActivation && v.PartOf == engine.NoValue:
				t.Saved += v.Size
			}
		}
	}
	if step := t.Forward + t.Back; p.Batch > 0 && step > 0 {
		t.SamplesPerSec = float64(p.Batch) / step.Seconds()
	}
	return t
}

// replacements are the values by which the step replaces states.
func replacements(g *engine.Graph) []bool {
	out := make([]bool, len(g.Values))
	for i := range g.Ops {
		op := &g.Ops[i]
		if slices.ContainsFunc(op.In, func(v engine.ValueID) bool { return g.Values[v].Kind == engine.KindState && g.Values[v].Initial != 0 }) {
			for _, v := range op.Out {
				out[v] = g.Values[v].Kind == engine.KindWeight
			}
		}
	}
	return out
}

// layers is the number of stages without the loss [L]: a chain whose seed is
// not born ends in one (see engine.Chain).
func layers(c *engine.Chain) int {
	if c.LossGradAllocated {
		return c.Len()
	}
	return c.Len() - 1
}

// NotLinear says why the chain is of no use although there is one: one stage
// holds most of the memory, so that nearly every choice is hidden inside it.
// Empty if the chain is useful, or if there is none.
func (p *Profile) NotLinear() string {
	if p.Chain == nil || layers(p.Chain) < 4 {
		return ""
	}
	// Floats are enough for a share and cannot overflow.
	var sum float64
	var most engine.Bytes
	at := 0
	for i := range p.Chain.Stages {
		saved := p.Chain.Stages[i].Saved
		sum += float64(saved)
		if saved > most {
			most, at = saved, i
		}
	}
	if float64(most) <= sum/2 {
		return ""
	}
	return fmt.Sprintf("one stage holds %.0f %% of all memory (stage %d, %s)", 100*float64(most)/sum, at+1, Clip(p.Chain.Stages[at].Name))
}
