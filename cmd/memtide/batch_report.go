//go:build !js

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/web/format"
)

// table returns the answer for people.
func (g *grown) table() string {
	how := "the network is built at each"
	if g.model == "scaled" {
		how = fmt.Sprintf("scaled from batch %d", g.in.profile.Batch)
	}
	text := g.in.header() + fmt.Sprintf("budget %s, batches up to %d, %s\n\n", format.Bytes(g.budget), g.most, how)
	text += cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "strategy\tlargest batch\tstep time\tsamples/s\tpeak\tremark\n")
		for i := range g.rows {
			fmt.Fprintf(w, "%s\t%s\n", methodText(g.methods[i]), g.rows[i].cells(g.most))
		}
	})
	if len(g.batches) == 0 {
		return text + g.in.findingsText()
	}
	text += cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nsamples/s at batch")
		for _, b := range g.batches {
			fmt.Fprintf(w, "\t%d", b)
		}
		fmt.Fprintln(w)
		for i := range g.rows {
			if g.rows[i].err != nil {
				continue
			}
			fmt.Fprint(w, methodText(g.methods[i]))
			for k := range g.rows[i].points {
				fmt.Fprintf(w, "\t%s", cli.Number(g.rows[i].points[k].Throughput(), 1))
			}
			fmt.Fprintln(w)
		}
	})
	return text + g.in.findingsText()
}

// cells returns the columns of a strategy from the batch on.
func (r *batchRow) cells(most int) string {
	if r.err != nil {
		return "–\t–\t–\t–\tdoes not apply: " + strings.TrimPrefix(r.err.Error(), engine.ErrUnsupported.Error()+": ")
	}
	a := r.largest
	var remarks []string
	switch {
	case a.Batch == 0 && a.Smallest > 0:
		remarks = append(remarks, "one sample needs "+format.BytesUp(a.Smallest))
	case a.Batch == 0:
		remarks = append(remarks, "one sample does not fit")
	case a.Fails == 0:
		remarks = append(remarks, fmt.Sprintf("no more than %d are looked at", most))
	}
	if a.Gaps {
		remarks = append(remarks, "some smaller batches do not train")
	}
	if len(a.Undecided) > 0 {
		remarks = append(remarks, fmt.Sprintf("no answer in time at %d batches", len(a.Undecided)))
	}
	if a.Partial {
		remarks = append(remarks, "best when the time was over")
	}
	if a.Batch == 0 {
		return "none\t–\t–\t–\t" + strings.Join(remarks, "; ")
	}
	if a.StepTime == 0 {
		return fmt.Sprintf("%d\t–\t–\t–\t%s", a.Batch, strings.Join(remarks, "; "))
	}
	return strings.Join([]string{fmt.Sprint(a.Batch), format.Duration(a.StepTime), cli.Number(a.Throughput(), 1),
		format.Bytes(a.Peak), strings.Join(remarks, "; ")}, "\t")
}

// batchReport is what batch -json writes. Its field names are a promise to
// scripts: they are only added to.
type batchReport struct {
	Schema      string           `json:"schema"`
	Question    questionReport   `json:"question"`
	BudgetBytes engine.Bytes     `json:"budget_bytes"`
	Most        int              `json:"most"`  // the largest batch that is looked at
	Model       string           `json:"model"` // built: exactly, at every batch; scaled: from that of the profile
	Complete    bool             `json:"complete"`
	Strategies  []batchRowReport `json:"strategies"`
}

// batchRowReport is one strategy.
type batchRowReport struct {
	Strategy  string             `json:"strategy"`
	Args      engine.Args        `json:"args,omitempty"`
	Largest   *batchPointReport  `json:"largest"` // null: not even one sample, or the strategy does not apply
	Fails     int                `json:"fails,omitempty"`
	Gaps      bool               `json:"gaps"`
	Undecided []int              `json:"undecided"`
	Points    []batchPointReport `json:"points"`
	Problem   string             `json:"problem,omitempty"`
}

// batchPointReport is one batch. Step time and peak are 0 if there is no schedule.
type batchPointReport struct {
	Batch int `json:"batch"`
	costReport
	SamplesPerS   float64      `json:"samples_per_s"`
	SmallestBytes engine.Bytes `json:"smallest_bytes,omitempty"`
	Complete      bool         `json:"complete"`
}

func (g *grown) json() *batchReport {
	out := &batchReport{Schema: "memtide-batch/1", Question: g.in.question(), BudgetBytes: g.budget, Most: g.most,
		Model:    g.model,
		Complete: g.complete, Strategies: []batchRowReport{}}
	for i, r := range g.rows {
		row := batchRowReport{Strategy: g.methods[i].Strategy, Args: g.methods[i].Args, Undecided: []int{},
			Points: []batchPointReport{}}
		if r.err != nil {
			row.Problem = r.err.Error()
		} else {
			row.Fails, row.Gaps, row.Undecided = r.largest.Fails, r.largest.Gaps,
				append(row.Undecided, r.largest.Undecided...)
			if r.largest.Batch > 0 {
				point := pointOf(r.largest.BatchPoint)
				row.Largest = &point
			}
			for _, p := range r.points {
				row.Points = append(row.Points, pointOf(p))
			}
		}
		out.Strategies = append(out.Strategies, row)
	}
	return out
}

func pointOf(p whatif.BatchPoint) batchPointReport {
	return batchPointReport{Batch: p.Batch, costReport: costReport{int64(p.StepTime), p.Peak},
		SamplesPerS:   p.Throughput(),
		SmallestBytes: p.Smallest, Complete: !p.Partial}
}
