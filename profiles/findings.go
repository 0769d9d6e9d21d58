package profiles

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Lint returns warnings about a profile that looks wrong but can be used: whole sentences, at most one for each rule.
// It returns nil for profiles without a chain. Decode has already added them to the profile's warnings.
//
// The thresholds are rules of thumb from measured and published profiles: on GPUs the backward of a network takes 1 to
// 3 times its forward, a small kernel takes some 10 microseconds, and no training step needs petabytes.
func Lint(p *Profile) []string {
	if p.Chain == nil {
		return nil
	}
	var list []string
	for _, rule := range []func(*Profile) string{lintRatio, lintFloor, lintSaved, lintFast, lintLinear, lintTimeUnit,
		lintSizeUnit} {
		if w := rule(p); w != "" {
			list = append(list, w)
		}
	}
	return list
}

// stagesThat counts the stages of the chain for which is returns true.
func (p *Profile) stagesThat(is func(s *engine.Stage) bool) (n int) {
	for i := range p.Chain.Stages {
		if is(&p.Chain.Stages[i]) {
			n++
		}
	}
	return n
}

// lintRatio checks the ratio of backward to forward time.
func lintRatio(p *Profile) string {
	f, b := p.Chain.ForwardTime(), p.Chain.BackTime()
	for i := range p.Chain.Stages {
		if st := &p.Chain.Stages[i]; st.Kind == engine.OptimizerKind {
			b -= st.Back
		}
	}
	if f == 0 && b == 0 {
		said := "All times are 0: only memory can be compared."
		if p.Source.Tool == "collect.py" {
			said += " collect.py --meta --times DEVICE writes those of a model."
		}
		return said
	}
	if f == 0 || b == 0 {
		return fmt.Sprintf("The forward takes %v and the backward %v: one of them was not measured.", f, b)
	}
	if r := b.Seconds() / f.Seconds(); r < 0.8 || r > 3.5 {
		return fmt.Sprintf("The backward takes %.2f times as long as the forward; 0.8 to 3.5 times is usual.", r)
	}
	return ""
}

// lintFloor detects a constant part of every forward time: profilers that synchronize after each layer include the wait
// for the device. Many stages are then close to the smallest time, which is far below the largest.
func lintFloor(p *Profile) string {
	if p.Source.Times == Analytic || p.Source.Times == Estimated {
		return ""
	}
	const least, most = 200 * time.Microsecond, 500 * time.Microsecond
	var floor, top time.Duration
	timed := 0
	for i := range p.Chain.Stages {
		if f := p.Chain.Stages[i].Forward; f > 0 {
			timed++
			top = max(top, f)
			if floor == 0 || f < floor {
				floor = f
			}
		}
	}
	near := p.stagesThat(func(s *engine.Stage) bool { return s.Forward > 0 && s.Forward <= 2*floor })
	if floor <= least || floor > most || near < 3 || 4*near < timed || top < 8*floor {
		return ""
	}
	return fmt.Sprintf("No forward takes less than %v, and %d are close to it: the times may contain a wait for the device after every layer.", floor, near)
}

// lintSaved finds saved sets that are smaller than the output. Decoders raise them; this finds
// chains that did not come from one.
func lintSaved(p *Profile) string {
	n := p.stagesThat(func(s *engine.Stage) bool { return s.Saved < s.Out && !s.Unsaved })
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("In %s, the saved set is smaller than the output, which it contains.", Count(n, "stage"))
}

// lintFast finds second algorithms that cannot be useful: they are not faster in either pass
// and need no less workspace.
func lintFast(p *Profile) string {
	n := p.stagesThat(func(s *engine.Stage) bool {
		f := s.Fast
		return f != nil && f.Forward >= s.Forward && f.Back >= s.Back && f.FwdTemp >= s.FwdTemp &&
			f.BwdTemp >= s.BwdTemp
	})
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("In %s, the second algorithm is neither faster nor smaller than the first.", Count(n, "stage"))
}

// NoChain is how the warning of a chain with little to choose from begins.
const NoChain = "This is no useful chain: "

func lintLinear(p *Profile) string {
	if why := p.NotLinear(); why != "" {
		return NoChain + why + ". Strategies for chains have little to choose from here."
	}
	return ""
}

// readAs precedes, in a warning, the unit in which the file was read.
const readAs = " They are read as "

func lintTimeUnit(p *Profile) string {
	step := p.Chain.ForwardTime() + p.Chain.BackTime()
	switch {
	case step > 10*time.Minute:
		return fmt.Sprintf("One step takes %v: the times may be 1000 times too large."+readAs+"%s.",
			step.Round(time.Second), timeUnit(p))
	case step > 0 && step < 10*time.Microsecond:
		return fmt.Sprintf("One step takes %v: the times may be 1000 times too small."+readAs+"%s.", step, timeUnit(p))
	}
	return ""
}

func timeUnit(p *Profile) string {
	if f := formats.Lookup(p.Format); f != nil && f.TimeUnit != "" {
		return f.TimeUnit
	}
	return "seconds"
}

func lintSizeUnit(p *Profile) string {
	var most engine.Bytes
	for i := range p.Chain.Stages {
		most = max(most, p.Chain.Stages[i].Saved)
	}
	switch {
	case most > 4<<40:
		return fmt.Sprintf("One stage saves %d GiB: the sizes may be 1000 times too large. They are read as bytes.",
			most/engine.GiB)
	case most < 64*engine.KiB:
		return fmt.Sprintf("No stage saves more than %d bytes: the sizes may be 1000 times too small. They are read as bytes.", most)
	}
	return ""
}

// Totals are sums by which the user sees whether a profile is the expected one: a wrong unit shows here.
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
	KeepAllPeak engine.Bytes
}

// Totals returns the sums of the chain, or of the graph if there is no chain.
func (p *Profile) Totals() (t Totals) {
	if p.Graph != nil {
		t.Ops = len(p.Graph.Ops)
	}
	if c := p.Chain; c != nil {
		t.Stages = c.Layers()
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
	return t
}

// replacements reports, for each value of g, whether it is a weight that the step writes from a state it starts with.
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

// NotLinear explains why the chain is useless for planning: one stage holds most of the memory, so nearly every choice
// is hidden inside it. It returns "" if the chain is useful, and if the profile has no chain.
func (p *Profile) NotLinear() string {
	if p.Chain == nil || p.Chain.Layers() < 4 {
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
