//go:build !js

package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// result is a schedule with the question that it answers.
type result struct {
	in       *input
	solved   *proto.Solved
	complete bool // not the best so far of a solver that was stopped, or stopped by itself
}

// table returns the result for people.
func (r *result) table() string {
	return r.in.header() + cli.Table(func(w *tabwriter.Writer) {
		s := r.solved
		share := ""
		if s.KeepAll.Peak > 0 {
			share = fmt.Sprintf(", %s of keeping everything", format.Share(float64(s.Budget)/float64(s.KeepAll.Peak)))
		}
		fmt.Fprintf(w, "%s (%s), budget %s%s\n\n", r.in.title(), methodText(r.in.method()), format.Bytes(s.Budget),
			share)
		if s.Trace == nil {
			fmt.Fprintf(w, "\tclaimed\nstep time\t%s\npeak\t%s\n\n%s\n",
				format.Duration(s.Claim.StepTime), format.Bytes(s.Claim.Peak), r.verdict())
			return
		}
		fmt.Fprint(w, "\tclaimed\tmeasured\n")
		fmt.Fprintf(w, "step time\t%s\t%s\n", format.Duration(s.Claim.StepTime), format.Duration(s.Trace.Makespan))
		fmt.Fprintf(w, "peak\t%s\t%s\n\n", format.Bytes(s.Claim.Peak), format.Bytes(s.Trace.Peak))
		r.costs(w)
		fmt.Fprintf(w, "\n%s\n", r.verdict())
	}) + list("Notes", r.solved.Claim.Notes) + r.in.findingsText()
}

// costs are the rows about time and what becomes of the stages.
func (r *result) costs(w *tabwriter.Writer) {
	s, t := r.solved, r.solved.Trace
	if s.KeepAll.StepTime > 0 {
		fmt.Fprintf(w, "slowdown\t%s\tagainst no limit (%s, peak %s)\n",
			change(t.Makespan, s.KeepAll.StepTime), format.Duration(s.KeepAll.StepTime), format.Bytes(s.KeepAll.Peak))
	}
	told := time.Duration(0)
	for _, b := range s.Bounds {
		if b.StepTime > told { // the strategy's own bound only if it is better
			told = b.StepTime
			fmt.Fprintf(w, "above bound\t%s\tlower bound %s: %s\n", change(t.Makespan, b.StepTime),
				format.Duration(b.StepTime), b.Name)
		}
	}
	fmt.Fprintf(w, "compute\t%s\n", format.Duration(t.ComputeTime))
	fmt.Fprintf(w, "recompute\t%s\n", format.Duration(t.RecomputeTime))
	fmt.Fprintf(w, "waiting\t%s\n", format.Duration(t.WaitingTotal()))
	for reason, d := range t.Waiting {
		if d > 0 {
			fmt.Fprintf(w, "  %s\t%s\n", sim.Reason(reason), format.Duration(d))
		}
	}
	if t.HostPeak > 0 {
		fmt.Fprintf(w, "host peak\t%s\n", format.Bytes(t.HostPeak))
	}
	if len(t.Decisions) > 0 {
		fmt.Fprintf(w, "stages\t%s\n", decisionCounts(t.Decisions))
	}
}

// verdict returns the line that says how much of the table is certain: what was checked,
// and apart from it what the strategy says of faster schedules.
func (r *result) verdict() string {
	s := r.solved
	switch {
	case !s.Verdict.Verified:
		return "NOT VERIFIED: " + s.Verdict.Problem
	case !r.complete:
		return "step time and peak checked; the best so far, since the search was stopped"
	case s.Claim.Optimal:
		return "step time and peak checked; the strategy claims that nothing is faster within " + s.Claim.Within
	}
	return "step time and peak checked; not proven optimal"
}

// change returns how much longer d is than a reference.
func change(d, reference time.Duration) string { return format.Percent(format.Longer(d, reference)) }

// decisionNames are the words for decisions, by their bits.
var decisionNames = [...]struct {
	decision sim.Decision
	name     string
}{
	{sim.Keep, "keep"},
	{sim.Recompute, "recompute"},
	{sim.Offload, "offload"},
	{sim.Recompute | sim.Offload, "recompute and offload"},
}

func decisionName(d sim.Decision) string {
	for _, n := range decisionNames {
		if n.decision == d {
			return n.name
		}
	}
	return fmt.Sprintf("decision %d", d)
}

// decisionCounts is "keep 20, recompute 13".
func decisionCounts(all []sim.Decision) string {
	count := map[sim.Decision]int{}
	for _, d := range all {
		count[d]++
	}
	var parts []string
	for _, n := range decisionNames {
		if count[n.decision] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", n.name, count[n.decision]))
		}
	}
	return strings.Join(parts, ", ")
}

// methodText returns a strategy with the parameters that are not at their default.
func methodText(m proto.Method) string {
	text := m.Strategy
	for _, a := range sortedArgs(m.Args) {
		text += " " + a
	}
	return text
}

// header says which network, device and link this is about: a wrong unit in a
// profile shows here.
func (in *input) header() string {
	p, t := in.profile, in.profile.Totals()
	var b strings.Builder
	b.WriteString(p.Name)
	switch {
	case in.network.Preset != "":
		fmt.Fprintf(&b, " (preset %s)", in.network.Preset)
	case p.Batch > 0:
		fmt.Fprintf(&b, " (%s, batch %d)", p.Format, p.Batch)
	default:
		fmt.Fprintf(&b, " (%s)", p.Format)
	}
	b.WriteByte('\n')
	what := fmt.Sprintf("%d stages", t.Stages)
	switch {
	case p.Chain == nil:
		what = fmt.Sprintf("%d operations", t.Ops)
	case p.Chain.Len() > t.Stages:
		what += " and the loss"
	}
	fmt.Fprintf(&b, "%s: forward %s, backward %s, saved %s, weights and other resident memory %s\n",
		what, format.Duration(t.Forward), format.Duration(t.Back), format.Bytes(t.Saved),
		format.Bytes(t.Resident.Total()))
	fmt.Fprintf(&b, "%s\n", in.provenance())
	name := in.device.Name
	name = cmp.Or(name, "device without a name")
	rate := format.Rate(in.device.ToDev)
	if in.device.ToHost != in.device.ToDev {
		rate += " to the device, " + format.Rate(in.device.ToHost) + " to the host"
	}
	fmt.Fprintf(&b, "%s: host link %s, %s duplex, %s transfers\n", name, rate, in.device.Duplex, in.choice.Transfers)
	return b.String()
}

// list returns a heading with one item per line; nothing if there are none.
func list(heading string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "\n" + heading + "\n  " + format.Durations(strings.Join(items, "\n  ")) + "\n"
}
