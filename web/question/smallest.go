package question

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// grain is how exactly the smallest budget is looked for: to a MiB, and in a small network
// to a thousandth of the budget.
func (w *Work) grain() engine.Bytes {
	return max(min(engine.MiB, w.Problem.Budget/1000), engine.KiB)
}

// The smallest budget in which the method is at most so much slower than keeping
// everything. One answer.
func init() {
	register(&Question{
		Name: "smallest", Order: 4, Title: "How little memory will do?",
		Slowdown: true, Varies: Budget, Limit: 30 * time.Second, Idle: true,
		Short: func(_ Subject, a *Answers) string {
			return "Memory for at most " + percent(a.Slowdown) + " % slower"
		},
		Headline: func(a *Answers, s Subject) (value, about string) {
			switch {
			case len(a.List) == 0:
				return "", ""
			case a.List[0].StepTime <= 0:
				return "none", "this plan is slower in any budget"
			}
			less := s.Budget - a.List[0].Budget
			about = format.Bytes(less) + " less than the budget"
			if less < 0 {
				about = format.Bytes(-less) + " more than the budget"
			}
			return format.BytesUp(a.List[0].Budget), about
		},
		Answer: func(ctx context.Context, w *Work) error {
			w.Total = 1
			limited, cancel := w.limited(ctx)
			defer cancel()
			poll := engine.NewPoll(limited, func(p engine.Progress) { w.Report(p.Done) })
			most := w.KeepAll + w.KeepAll/10_000*time.Duration(w.Slowdown)
			found, err := whatif.SmallestBudget(w.Problem, w.Method, most, w.grain(), poll)
			a := proto.Answer{Strategy: w.Method.Strategy.Name}
			switch {
			case found != nil:
				a.Budget, a.StepTime, a.Peak, a.Partial = found.Budget, found.StepTime, found.Peak, err != nil
				err = nil
			case errors.Is(err, whatif.ErrTooSlow):
				a.Failure = proto.Fail(proto.Infeasible, "%s: %v", w.Method.Strategy.Title, err)
				err = nil
			}
			w.give(ctx, a, err)
			return nil
		},
		Sentence: smallestSentence,
		Early:    true,
		Button: func(a *Answers) string {
			if len(a.List) == 0 || a.List[0].StepTime <= 0 {
				return ""
			}
			return "Set " + format.BytesUp(a.List[0].Budget)
		},
	})
}

func smallestSentence(a *Answers, _ Subject) string {
	if len(a.List) == 0 {
		return ""
	}
	x := a.List[0]
	if x.StepTime <= 0 {
		if x.Failure != nil {
			return x.Failure.Text + "."
		}
		return "No budget was found."
	}
	str := fmt.Sprintf("%s are enough for at most %s %% more: %s per step", format.BytesUp(x.Budget), percent(a.Slowdown), format.Duration(x.StepTime))
	if a.KeepAll > 0 {
		str += ", " + format.Ratio(float64(x.StepTime)/float64(a.KeepAll))
	}
	if x.Partial {
		return str + ". Less may do: the search was stopped."
	}
	return str + "."
}

// percent writes hundredths of a per cent, without the sign.
func percent(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}
