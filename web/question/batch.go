package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// The largest batch that every method trains in the budget, and how fast each
// trains that and others: one answer for the largest and one per batch, batches
// inside methods. The budget is in bytes: a share would be of another amount at
// every batch.
func init() {
	register(&Question{
		Name: "batch", Order: 2, Title: "How large a batch?",
		Varies: Batch | Strategy, Limit: solves, Idle: true,
		Short: func(s Subject, _ *Answers) string {
			return "Most " + s.kind() + " at once in " + format.Bytes(s.Budget)
		},
		Headline: batchHeadline,
		Methods:  against(0, recomputing, offloading, both),
		Answer:   answerBatches,
		Sentence: batchSentence,
		Early:    true,
		Table:    batchTable,
		Chart:    batchChart,
	})
}

// Builder says how a network gets other batches, and up to which: a preset, if one
// is named, is built, and a profile is scaled from the batch that it states. graph
// says that its operations are meant, and not its chain.
func Builder(ref string, p *profiles.Profile, graph bool) (build whatif.Builder, most int, err error) {
	if ref != "" {
		known, _, err := preset.Parse(ref)
		if err != nil {
			return nil, 0, err
		}
		return known.Problem, known.Largest(), known.Builds()
	}
	if graph {
		build, err = whatif.ScaleGraph(p.Graph, p.Batch)
	} else {
		build, err = whatif.ScaleChain(p.Chain)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%v; a profile says it in its field batch", err)
	}
	return build, whatif.MaxBatch, nil
}

func answerBatches(ctx context.Context, w *Work) error {
	p := w.Problem
	build, most, err := Builder(w.Preset, w.Profile, p.Chain == nil)
	if err != nil {
		return err
	}
	list := batches(most, w.Profile.Batch)
	w.Total = len(w.Methods) * (1 + len(list))
	for _, m := range w.Methods {
		q := &whatif.BatchQuestion{Build: build, Strategy: m.Strategy, Args: m.Args, Device: p.Device, Transfers: p.Transfers, Budget: p.Budget, Most: most, Limit: w.Limit}
		a, err := largest(ctx, q)
		if !w.give(ctx, a, err) {
			return nil
		}
		if errors.Is(err, engine.ErrUnsupported) {
			continue
		}
		for _, b := range list {
			if a, err := at(ctx, q, b); !w.give(ctx, a, err) {
				return nil
			}
		}
	}
	return nil
}

// batches are those of the chart: doublings up to most, and the present one.
func batches(most, now int) (out []int) {
	for b := 1; b <= min(most, 1024); b *= 2 {
		out = append(out, b)
	}
	if now > 0 && !slices.Contains(out, now) {
		out = append(out, now)
		slices.Sort(out)
	}
	return out
}

// largest is the answer about the largest batch of a method.
func largest(ctx context.Context, q *whatif.BatchQuestion) (proto.Answer, error) {
	a := proto.Answer{Strategy: q.Strategy.Name, Budget: q.Budget, Largest: true}
	found, err := whatif.LargestBatch(ctx, q, nil)
	if found != nil {
		a.Batch, a.StepTime, a.Peak = found.Batch, found.StepTime, found.Peak
		a.Partial = found.Partial || found.Gaps || len(found.Undecided) > 0
		if found.Batch == 0 {
			a.Failure = unfit(q, len(found.Undecided) > 0, found.Smallest, "not even a batch of 1 fits")
		}
	}
	return a, err
}

// at is the answer about one batch of a method.
func at(ctx context.Context, q *whatif.BatchQuestion, batch int) (proto.Answer, error) {
	p, err := whatif.AtBatch(ctx, q, batch)
	a := proto.Answer{Strategy: q.Strategy.Name, Budget: q.Budget, Batch: batch, StepTime: p.StepTime, Peak: p.Peak, Partial: p.Partial}
	if p.StepTime == 0 {
		a.Failure = unfit(q, p.Partial, p.Smallest, fmt.Sprintf("a batch of %d does not fit", batch))
	}
	return a, err
}

// unfit is why there is no schedule: the time was over, or the text.
func unfit(q *whatif.BatchQuestion, stopped bool, smallest engine.Bytes, text string) *proto.Failure {
	if stopped {
		return proto.Fail(proto.Deadline, "%s was stopped before it was done", q.Strategy.Title)
	}
	return &proto.Failure{Kind: proto.Infeasible, Text: text, Budget: q.Budget, Smallest: smallest}
}

func batchSentence(a *Answers, s Subject) string {
	for _, x := range a.List {
		switch {
		case !x.Largest || x.Strategy != s.Method.Strategy:
		case x.StepTime <= 0 && x.Failure != nil:
			return "There is no largest batch for the chosen strategy: " + x.Failure.Text + "."
		case x.StepTime <= 0:
			return "No largest batch was found for the chosen strategy."
		case x.Partial: // as far as that is known
			return fmt.Sprintf("In %s the chosen strategy trains a batch of at least %s.", format.Bytes(x.Budget), format.Count(x.Batch))
		default:
			return fmt.Sprintf("In %s the chosen strategy trains a batch of up to %s.", format.Bytes(x.Budget), format.Count(x.Batch))
		}
	}
	return ""
}

// kind is what a batch counts.
func (s Subject) kind() string {
	if s.Unit == "tokens" {
		return "sequences"
	}
	return "samples"
}

// rate is how much steps of a batch train per second.
func (s Subject) rate(batch int, step time.Duration) string {
	return format.Throughput(batch*max(s.Each, 1), cmp.Or(s.Unit, "samples"), step)
}

// batchHeadline is the largest batch of all methods.
func batchHeadline(a *Answers, s Subject) (value, about string) {
	var best *proto.Answer
	asked := false
	for i := range a.List {
		x := &a.List[i]
		asked = asked || x.Largest
		if x.Largest && x.StepTime > 0 && (best == nil || x.Batch > best.Batch) {
			best = x
		}
	}
	switch {
	case best == nil && asked:
		return "none", "not even one fits"
	case best == nil:
		return "", ""
	}
	value, about = format.Count(best.Batch), s.rate(best.Batch, best.StepTime)
	if best.Partial {
		value = "≥ " + value
	}
	if a.Base > 0 && s.Batch > 0 {
		about += " instead of " + strings.TrimSuffix(s.rate(s.Batch, a.Base), " "+s.Unit+"/s")
	}
	return value, about
}

func batchTable(a *Answers, s Subject) *Table {
	t := &Table{Columns: []string{"Strategy", "Largest batch", "Step time", "Samples/s"}}
	for i := range a.List {
		x := &a.List[i]
		st := engine.Lookup(x.Strategy)
		if !x.Largest || st == nil {
			continue
		}
		row := Row{Answer: i, Head: choice.PlanName(st.Name), Strategy: st, Cells: make([]Cell, 3)}
		if x.StepTime <= 0 {
			row.failed(0, x.Failure)
		} else {
			row.Cells[0].Text = format.Count(x.Batch)
			if x.Partial {
				row.Cells[0].Text = "≥ " + row.Cells[0].Text
			}
			row.Cells[1].Text = stepTime(x)
			row.Cells[2].Text = strings.TrimSuffix(format.Throughput(x.Batch, "samples", x.StepTime), " samples/s")
			if s.Preset {
				row.Use = fmt.Sprintf("%s with a batch of %d", row.Head, x.Batch)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// batchChart is the throughput over batch size, with the largest batch of each
// strategy.
func batchChart(a *Answers, s Subject) *Chart {
	words := func(x float64) string { return "batch " + format.Count(int(x)) }
	c := &Chart{Chosen: s.Method.Strategy, YUnit: "/s", From: 1, To: 2, place: words}
	for i, x := range a.List {
		if x.StepTime <= 0 || x.Batch <= 0 {
			continue
		}
		p := Point{float64(x.Batch), float64(x.Batch) / x.StepTime.Seconds(), i}
		c.To, c.Top = max(c.To, p.X), max(c.Top, p.Y)
		if x.Largest {
			c.line(x.Strategy).Mark = &p
		}
		c.add(x.Strategy, p)
	}
	if s.Batch > 0 {
		c.Present, c.PresentName = float64(s.Batch), words(float64(s.Batch))
	}
	c.frame()
	c.Low = 0
	return c
}
