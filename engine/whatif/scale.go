package whatif

import (
	"fmt"
	"time"

	"memtide/engine"
)

// Builder returns a network at a batch of 1 or more. Device, transfers and budget of the problem are ignored.
type Builder func(batch int) (*engine.Problem, error)

// Launch is the part of an operation's time that does not depend on the batch: the start of a kernel. Operations
// that take less are wholly fixed.
const Launch = 5 * time.Microsecond

// ScaleChain returns a Builder that scales c (see the package comment). The error says that c does not state its batch.
func ScaleChain(c *engine.Chain) (Builder, error) {
	if c.Batch < 1 {
		return nil, fmt.Errorf("the profile of %q does not say its batch; other batches are scaled from it", c.Name)
	}
	return func(batch int) (*engine.Problem, error) {
		s := scaling{to: batch, from: c.Batch}
		if err := s.check(); err != nil {
			return nil, err
		}
		d := *c
		d.Batch, d.Input, d.InputGrad = batch, s.size(c.Input), s.size(c.InputGrad)
		d.Stages = make([]engine.Stage, len(c.Stages))
		for i := range c.Stages {
			d.Stages[i] = s.stage(c.Stages[i])
		}
		if err := d.Validate(); err != nil {
			return nil, fmt.Errorf("at batch %d: %w", batch, err)
		}
		return engine.NewChainProblem(&d, engine.Device{}, engine.Whole, 0), nil
	}, nil
}

// ScaleGraph returns a Builder that scales a graph of the batch from: its activations and their gradients, but not
// its weights.
func ScaleGraph(g *engine.Graph, from int) (Builder, error) {
	if from < 1 {
		return nil, fmt.Errorf("the profile does not say its batch; other batches are scaled from it")
	}
	return func(batch int) (*engine.Problem, error) {
		s := scaling{to: batch, from: from}
		if err := s.check(); err != nil {
			return nil, err
		}
		h := *g
		h.Values = append([]engine.Value(nil), g.Values...)
		for i := range h.Values {
			if v := &h.Values[i]; v.Kind != engine.KindWeight && v.Kind != engine.KindState {
				v.Size = s.size(v.Size)
			}
		}
		h.Ops = append([]engine.Op(nil), g.Ops...)
		for i := range h.Ops {
			op := &h.Ops[i]
			op.Time, op.Temp = s.time(op.Time), s.size(op.Temp)
			if op.Alt != nil {
				op.Alt = &engine.Alt{Time: s.time(op.Alt.Time), Temp: s.size(op.Alt.Temp)}
			}
		}
		return &engine.Problem{Graph: &h}, nil
	}, nil
}

// scaling is a change of the batch.
type scaling struct{ to, from int }

func (s scaling) check() error {
	if s.to < 1 {
		return fmt.Errorf("the batch is %d; expected 1 or more", s.to)
	}
	return nil
}

func (s scaling) stage(st engine.Stage) engine.Stage {
	st.Forward, st.Back = s.time(st.Forward), s.time(st.Back)
	for _, b := range []*engine.Bytes{&st.Out, &st.Saved, &st.Grad, &st.FwdTemp, &st.BwdTemp} {
		*b = s.size(*b)
	}
	if f := st.Fast; f != nil {
		st.Fast = &engine.Algorithm{Forward: s.time(f.Forward), Back: s.time(f.Back), FwdTemp: s.size(f.FwdTemp),
			BwdTemp: s.size(f.BwdTemp)}
	}
	return st
}

func (s scaling) size(b engine.Bytes) engine.Bytes { return engine.Bytes(s.of(int64(b))) }

func (s scaling) time(d time.Duration) time.Duration {
	fixed := min(d, Launch)
	return time.Duration(min(s.of(int64(d-fixed)), int64(engine.NoLimit-engine.Bytes(fixed)))) + fixed
}

// of returns v*to/from, rounded up. It saturates at the largest number.
func (s scaling) of(v int64) int64 { return engine.MulDivUp(v, int64(s.to), int64(s.from)) }
