package profiles

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Totals are sums by which the user sees whether a profile is the expected one: a wrong unit
// shows here.
type Totals struct {
	Stages  int           // in the chain, without the loss; 0 without a chain
	Ops     int           // in the graph; 0 without a graph
	Forward time.Duration // sum of the forward times
	Back    time.Duration // sum of the backward times
	Input   engine.Bytes  // [a^0]
	Out     engine.Bytes  // sum of a, without the input
	Saved   engine.Bytes  // sum of abar; in a graph, sum of all activations

	Resident engine.Resident // what stays for the whole step
	// peak of the schedule that keeps everything, resident memory included; 0 without a chain
	KeepAllPeak   engine.Bytes
	SamplesPerSec float64 // batch over forward and backward time; 0 if either is unknown
}

// Totals returns the sums of the chain, or of the graph if there is no chain.
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
			case op.Lane != engine.LaneCompute: // other lanes run beside the device
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
			case replaced[i]: // its weight or state is counted already
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

// replacements reports, for each value of g, whether it is a weight that the step writes from a
// state it starts with.
func replacements(g *engine.Graph) []bool {
	out := make([]bool, len(g.Values))
	for i := range g.Ops {
		op := &g.Ops[i]
		if slices.ContainsFunc(op.In, func(v engine.ValueID) bool {
			return g.Values[v].Kind == engine.KindState &&
				g.Values[v].Initial != 0
		}) {
			for _, v := range op.Out {
				out[v] = g.Values[v].Kind == engine.KindWeight
			}
		}
	}
	return out
}

// layers returns the number of stages without the loss [L]. A chain that does not allocate the
// gradient of its loss has the loss as its last stage (see engine.Chain).
func layers(c *engine.Chain) int {
	if c.LossGradAllocated {
		return c.Len()
	}
	return c.Len() - 1
}

// NotLinear explains why the chain is useless for planning: one stage holds most of the memory,
// so nearly every choice is hidden inside it. It returns "" if the chain is useful, or if there
// is none.
func (p *Profile) NotLinear() string {
	if p.Chain == nil || layers(p.Chain) < 4 {
		return ""
	}
	// Floating-point numbers are exact enough for a share and cannot overflow.
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
	return fmt.Sprintf("one stage holds %.0f %% of all memory (stage %d, %s)", 100*float64(most)/sum, at+1,
		Clip(p.Chain.Stages[at].Name))
}
