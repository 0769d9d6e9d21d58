package question

import (
	"cmp"
	"context"
	"slices"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// What would help: more memory, a faster link, other strategies. One answer each.
func init() {
	register(&Question{
		Name: "help", Limit: solves,
		Methods: func(s Subject) (out []proto.Method) {
			for _, st := range slices.SortedFunc(slices.Values(s.Usable), engine.ByRank(s.Graph)) {
				if st.Name != s.Method.Strategy {
					out = append(out, proto.Method{Strategy: st.Name})
				}
			}
			return out
		},
		Answer: func(ctx context.Context, w *Work) error {
			changes, err := w.levers()
			if err != nil {
				return err
			}
			for _, c := range whatif.Changes(w.Problem, w.Method, w.Methods) {
				changes = append(changes, change{Change: c})
			}
			w.Total = len(changes)
			for _, c := range changes {
				a := proto.Answer{Name: c.Name, Preset: c.preset}
				if c.build != nil {
					p, err := c.build()
					if err != nil { // this step does not have it
						w.Total--
						continue
					}
					c.Problem = p
				}
				if d := c.Problem.Device; d != w.Problem.Device {
					a.Device = &d
				}
				err := w.measure(ctx, &a, c.Problem, c.Method)
				if !w.give(ctx, a, err) {
					break
				}
			}
			return nil
		},
	})
}

// change is one thing that might help, of a language model another step for the same work.
type change struct {
	whatif.Change
	preset string // that the network is then
	build  func() (*engine.Problem, error)
}

// levers are what can be chosen otherwise about the step of a language model: the options of
// ask.Levers, and two sequences for each one, of half the length.
func (w *Work) levers() (out []change, err error) {
	p, batch, err := preset.Parse(w.Preset)
	if err != nil || p.Model() == nil {
		return nil, nil
	}
	if err := p.Builds(); err != nil {
		return nil, err
	}
	add := func(name string, o preset.Options) {
		v, err := p.Base().With(o)
		if err != nil || v == p && o.Batch == batch {
			return
		}
		out = append(out, change{whatif.Change{Name: name, Method: w.Method}, preset.Ref(v.ID, o.Batch), func() (*engine.Problem, error) {
			q, err := v.Problem(o.Batch)
			if err != nil {
				return nil, err
			}
			q.Device, q.Transfers, q.Budget = w.Problem.Device, w.Problem.Transfers, w.Problem.Budget
			return q, nil
		}})
	}
	for _, l := range ask.Levers {
		o := p.Options()
		o.Batch = batch
		if o.Step, err = preset.StepText(ask.With(preset.StepArgs(o.Step), l.Option, l.Value)); err == nil {
			add(l.Name, o)
		}
	}
	if o := p.Options(); o.Tokens >= 2*shortest && 2*batch <= p.Largest() {
		o.Tokens, o.Batch = o.Tokens/2, 2*batch
		add("twice as many sequences of half the length", o)
	}
	return out, nil
}

// shortest is the length below which sequences are not shortened.
const shortest = 512

// ByGain are the indices of the answers by step time, those without a schedule
// last.
func (a *Answers) ByGain() []int {
	out := make([]int, len(a.List))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int { // a step time of 0 is the largest then
		return cmp.Compare(uint64(a.List[i].StepTime-1), uint64(a.List[j].StepTime-1))
	})
	return out
}

// changeName is what a variant changes; of a strategy the name of the plan.
func changeName(x *proto.Answer) string {
	if st := engine.Lookup(x.Strategy); st != nil && st.Title == x.Name {
		return choice.PlanName(x.Strategy)
	}
	return x.Name
}

// ChangeTitle is that at the beginning of a row.
func ChangeTitle(x *proto.Answer) string {
	return format.Capital(changeName(x))
}
