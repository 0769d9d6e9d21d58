package enginetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"memtide/engine"
)

// Device returns a device with a link on which a byte takes a nanosecond in either direction.
func Device(d engine.Duplex) engine.Device {
	return engine.Device{Name: "test", ToHost: 1e9, ToDev: 1e9, Duplex: d}
}

// Rand returns a generator with a fixed seed. Tests print the seed when they fail.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Shape bounds random chains. The zero value bounds them to small ones.
type Shape struct {
	MinStages, MaxStages int          // 1 and 6 if 0
	MaxSize              engine.Bytes // of an output, and of the other saved activations of a stage; 8 if 0
	MaxTime              int64        // of an operation, in nanoseconds; 9 if 0
}

// RandomChain draws a valid chain. Saved activations contain the outputs, sizes and times may be zero, and
// LossGradAllocated is random. Some chains have no temporaries, some save only outputs, and some have equal sizes,
// so that ties and lives without bytes occur.
func RandomChain(r *rand.Rand, s Shape) *engine.Chain {
	s.MinStages = cmp.Or(s.MinStages, 1)
	s.MaxStages = cmp.Or(s.MaxStages, max(6, s.MinStages))
	s.MaxSize, s.MaxTime = cmp.Or(s.MaxSize, 8), cmp.Or(s.MaxTime, 9)
	n := s.MinStages + r.IntN(s.MaxStages-s.MinStages+1)
	top := 1 + engine.Bytes(r.Int64N(int64(s.MaxSize)))
	size := func() engine.Bytes { return engine.Bytes(r.Int64N(int64(top) + 1)) }
	maybe := func(on bool) engine.Bytes {
		if !on || r.IntN(3) == 0 {
			return 0
		}
		return size()
	}
	temps, extras, zeros, equal := r.IntN(3) > 0, r.IntN(3) > 0, r.IntN(4) == 0, r.IntN(4) == 0
	span := func() time.Duration {
		if zeros && r.IntN(3) == 0 {
			return 0
		}
		return time.Duration(r.Int64N(s.MaxTime + 1))
	}
	c := &engine.Chain{Name: "random", Input: size(), InputGrad: size(), LossGradAllocated: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		c.Resident = engine.Resident{Weights: size(), Grads: size(), Optimizer: 2 * size(), Pinned: size()}
	}
	for k := range n {
		out := size()
		if equal {
			out = top
		}
		grad := out
		if r.IntN(4) == 0 {
			grad = size()
		}
		c.Stages = append(c.Stages, engine.Stage{
			Name: fmt.Sprintf("stage%d", k+1), Kind: []string{"conv", "act", "pool", "fc"}[r.IntN(4)],
			Forward: span(), Back: span(), Out: out, Saved: out + maybe(extras), Grad: grad,
			FwdTemp: maybe(temps), BwdTemp: maybe(temps),
		})
	}
	return c
}

// GiveFast gives about half of the stages a second algorithm, which is mostly faster and needs more workspace.
func GiveFast(r *rand.Rand, c *engine.Chain) {
	for k := range c.Stages {
		if s := &c.Stages[k]; r.IntN(2) == 0 {
			s.Fast = &engine.Algorithm{Forward: s.Forward * time.Duration(r.IntN(5)) / 4,
				Back:    s.Back * time.Duration(r.IntN(5)) / 4,
				FwdTemp: engine.Bytes(r.IntN(3))*s.Out + s.FwdTemp/2,
				BwdTemp: engine.Bytes(r.IntN(3))*s.Out + s.BwdTemp/2}
		}
	}
}

// GiveUnsaved makes about half of the outputs Unsaved. The saved activations lose their bytes, or keep their size.
func GiveUnsaved(r *rand.Rand, c *engine.Chain) {
	for k := range c.Stages[:c.Len()-1] {
		if s := &c.Stages[k]; r.IntN(2) == 0 {
			s.Unsaved = true
			if r.IntN(4) > 0 {
				s.Saved -= s.Out
			}
		}
	}
}

// RandomBudget draws a budget from far too small to more than enough, resident memory included.
func RandomBudget(r *rand.Rand, c *engine.Chain) engine.Bytes {
	most := c.KeepAllPeak() + c.KeepAllPeak()/4 + 1
	return c.Resident.Total()/2 + engine.Bytes(r.Int64N(int64(most)+1))
}

// Dump returns a chain as text with one line per stage, for the messages of failing tests.
func Dump(c *engine.Chain) string {
	out := fmt.Sprintf("a0=%d d0=%d born=%v resident=%d\n", c.Input, c.InputGrad, c.LossGradAllocated,
		c.Resident.Total())
	for k, s := range c.Stages {
		out += fmt.Sprintf("  %d: uF=%d uB=%d a=%d abar=%d d=%d oF=%d oB=%d\n", k+1,
			int64(s.Forward), int64(s.Back), s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp)
		if s.Unsaved {
			out += "     its output is unsaved\n"
		}
		if s.Fast != nil {
			out += fmt.Sprintf("     or %+v\n", *s.Fast)
		}
	}
	return out
}
