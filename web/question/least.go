package question

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// The smallest budget in which the network can be trained at all, however slowly: one
// answer for the chosen method, then one for each other that applies, the cheapest first.
func init() {
	register(&Question{
		Name: "least", Order: 3, Title: "What is the least memory that trains it?",
		Varies: Budget | Strategy, Limit: 10 * time.Second, Idle: true,
		Short: func(Subject, *Answers) string { return "Smallest memory that trains it" },
		Headline: func(a *Answers, _ Subject) (value, about string) {
			best := a.least()
			switch {
			case best == nil && len(a.List) > 0:
				return "none", "no plan was found"
			case best == nil:
				return "", ""
			case a.KeepAll > 0:
				about = format.Percent(float64(best.StepTime-a.KeepAll)/float64(a.KeepAll)) + ", " + choice.PlanName(best.Strategy)
			}
			return format.BytesUp(best.Budget), about
		},
		Methods: func(s Subject) (out []proto.Method) {
			for _, st := range slices.SortedFunc(slices.Values(s.Usable), cheapest(s.Graph)) {
				if st.Name != s.Method.Strategy {
					out = append(out, proto.Method{Strategy: st.Name})
				}
			}
			return append([]proto.Method{s.Method}, out...)
		},
		Answer: func(ctx context.Context, w *Work) error {
			w.Total = len(w.Methods)
			for _, m := range w.Methods {
				if !w.least(ctx, m) {
					break
				}
			}
			return nil
		},
		Sentence: leastSentence,
		Table:    leastTable,
	})
}

// cheapest orders strategies by what a schedule costs to find, then by rank.
func cheapest(graph bool) func(a, b *engine.Strategy) int {
	ranked := engine.ByRank(graph)
	return func(a, b *engine.Strategy) int { return cmp.Or(cmp.Compare(a.Cost, b.Cost), ranked(a, b)) }
}

// least answers for one method; false if no more answers are wanted.
func (w *Work) least(ctx context.Context, m whatif.Method) bool {
	limited, cancel := w.limited(ctx)
	defer cancel()
	a := proto.Answer{Strategy: m.Strategy.Name}
	found, err := whatif.SmallestBudget(w.Problem, m, math.MaxInt64, w.grain(), engine.NewPoll(limited, nil))
	if found == nil {
		return w.give(ctx, a, err)
	}
	stopped := err != nil
	budget, err := format.ParseBytes(format.BytesUp(found.Budget)) // what is read and chosen
	if err != nil || budget < found.Budget {
		budget = found.Budget
	}
	err = w.measure(ctx, &a, w.Problem.WithBudget(budget), m)
	a.Partial = a.Partial || stopped
	return w.give(ctx, a, err)
}

// least is the answer with the smallest budget, of equal ones the fastest; nil if none
// has a schedule.
func (a *Answers) least() (best *proto.Answer) {
	for i := range a.List {
		x := &a.List[i]
		if x.StepTime > 0 && (best == nil || x.Budget < best.Budget || x.Budget == best.Budget && x.StepTime < best.StepTime) {
			best = x
		}
	}
	return best
}

func leastSentence(a *Answers, _ Subject) string {
	best := a.least()
	if best == nil {
		return "No plan was found in any budget."
	}
	str := fmt.Sprintf("%s are enough with %s: %s per step.", format.BytesUp(best.Budget), choice.PlanName(best.Strategy), format.Duration(best.StepTime))
	if slices.ContainsFunc(a.List, func(x proto.Answer) bool { return x.Partial }) {
		str += " Less may do: a search was stopped."
	}
	return str
}

func leastTable(a *Answers, _ Subject) *Table {
	t := &Table{Columns: []string{"Strategy", "Smallest budget", "Step time"}}
	for i := range a.List {
		x := &a.List[i]
		st := engine.Lookup(x.Strategy)
		row := Row{Answer: i, Head: choice.PlanName(st.Name), Strategy: st, Cells: make([]Cell, 2)}
		if x.StepTime <= 0 {
			row.failed(0, x.Failure)
		} else {
			row.Cells[0].Text, row.Cells[1].Text = format.BytesUp(x.Budget), format.Duration(x.StepTime)
			row.Use = row.Head + " in " + format.BytesUp(x.Budget)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
