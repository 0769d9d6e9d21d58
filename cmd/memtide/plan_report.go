package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/web/format"
)

// planReport is the answer and what would change it.
type planReport struct{ *llm.Answer }

// text returns the report for people after its first line, as far as it is known.
func (r *planReport) text() string {
	text := r.time() + r.peak() + r.ranks()
	if r.Done >= 3 {
		text += r.changes()
	}
	if r.Done >= 2 {
		text += r.ways()
	}
	if r.Done >= 6 {
		text += r.orders() + r.policies() + r.nearest()
	}
	return text
}

// peak returns tables of the parts of the peak, of each phase, and of the reserved memory.
func (r *planReport) peak() string {
	return cli.Table(func(w *tabwriter.Writer) {
		a := r.Estimate
		fmt.Fprintf(w, "\nThe peak of %s allocated is in the %s\n", format.Bytes(a.Allocated), a.Phase)
		for _, p := range a.Parts {
			amounts(w, a.Allocated, p.Class.String(), p.Bytes)
		}
		fmt.Fprint(w, "\nThe most allocated in each phase\n")
		for phase := llm.Forward; phase <= llm.Step; phase++ {
			if n := a.Phases[phase]; n > 0 {
				amounts(w, a.Allocated, phase.String(), n)
			}
		}
		fmt.Fprintf(w, "\nReserved\n  expandable segments\t%s\n  the allocator's default\t%s\n  beside them, assumed for CUDA and collectives\t%s\n",
			format.Bytes(a.Expandable), format.Bytes(a.Reserved), format.Bytes(r.Ask.Context))
	})
}

// ranks returns a table of a pipeline's ranks, or "" without a pipeline.
func (r *planReport) ranks() string {
	ranks := r.Estimate.Ranks
	if ranks == nil {
		return ""
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "\nRanks, %s; they wait %.0f %% of the passes' time\n", pipeline.Title(ranks.Schedule.Name),
			100*ranks.Trace.Idle())
		fmt.Fprint(w, "  rank\tlayers\tin flight\tallocated\treserved\n")
		most := ranks.List[ranks.Full]
		for i, rank := range ranks.List {
			fmt.Fprintf(w, "  %d\t%d\t%d\t%s\t%s\t%s\n", i, len(rank.Layers), rank.InFlight,
				format.Bytes(rank.Allocated), format.Bytes(max(rank.Reserved, rank.Expandable)),
				bar(rank.Allocated, most.Allocated))
		}
	})
}

// orders returns a table of the schedules of a pipeline, each played, or "" without a pipeline.
func (r *planReport) orders() string {
	if len(r.Orders) == 0 {
		return ""
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nSchedules of the pipeline\tstep\tidle\tfullest\tallocated\treserved\t\n")
		for _, o := range r.Orders {
			if o.Estimate == nil {
				fmt.Fprintf(w, "  %s\trefused: %s\n", o.Name, o.Reason)
				continue
			}
			a := o.Estimate
			fmt.Fprintf(w, "  %s\t%s\t%.0f %%\trank %d\t%s\t%s\t%s\n", o.Name, format.Duration(a.Time),
				100*a.Ranks.Trace.Idle(), a.Ranks.Full, format.Bytes(a.Allocated), format.Bytes(a.High), r.said(&o))
		}
	})
}

// said returns whether a schedule fits, how much it lacks, and remarks.
func (r *planReport) said(o *llm.Order) string {
	text := o.Estimate.Word()
	if o.Estimate.Verdict == llm.FitsNot {
		text += fmt.Sprintf(", lacks %s", format.Bytes(-o.Estimate.Margin()))
	}
	if o.Twice() {
		text += ", all states twice"
	}
	if o.Name == r.Estimate.Order() {
		text += ", taken"
	}
	return text
}

// sentence returns the answer in one line.
func (r *planReport) sentence() string {
	a, s := r.Estimate, r.Ask.Setup
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d parameters) on %s, ", s.Model.Name, s.Model.Params(), counted(r.Ask.GPUs, r.Ask.Card.Name))
	if text := s.Pictured(); text != "" {
		fmt.Fprintf(&b, "%d x %s, ", s.Batch, text)
	}
	fmt.Fprintf(&b, "%d x %d tokens: ", s.Batch, s.Seq)
	reserved := format.Bytes(a.High)
	if low := format.Bytes(a.Low); low != reserved {
		reserved = low + " to " + reserved
	}
	reserved += fmt.Sprintf(" of %s (%s less %s for CUDA)", format.Bytes(a.Capacity), format.Bytes(r.Ask.Card.Memory),
		format.Bytes(r.Ask.Context))
	switch {
	case a.Verdict == llm.FitsNot && a.States > a.Capacity:
		fmt.Fprintf(&b, "does not fit. The states alone, weights, gradients and optimizer, need %s on a card that has %s.", format.Bytes(a.States), format.Bytes(a.Capacity))
	case a.Verdict == llm.FitsNot:
		fmt.Fprintf(&b, "does not fit. PyTorch would reserve %s.", reserved)
	case a.Verdict == llm.Uncertain:
		fmt.Fprintf(&b, "%s. PyTorch reserves %s, nearer than the model errs.", a.Word(), reserved)
	default:
		fmt.Fprintf(&b, "fits. PyTorch reserves %s, %s (%.0f %%) stay free.", reserved, format.Bytes(a.Margin()),
			100*float64(a.Margin())/float64(a.Capacity))
	}
	if a.Host > 0 {
		fmt.Fprintf(&b, " Up to %s wait in host memory", format.Bytes(a.Host))
		if s.Swap > 0 {
			fmt.Fprintf(&b, ", %d blocks swapped", s.Swap)
		}
		b.WriteString(".")
	}
	for _, note := range r.Ask.Card.Says(&s) {
		b.WriteString(" " + note)
	}
	if !s.Varied && s.Written && s.Loss.Whole() && s.Height == 0 {
		return b.String() + "\n" + errs + ofOneLength
	}
	return b.String() + "\n" + errs
}

// errs says how far off the range of the sentence may be, see llm.Score.
const errs = "That is what replays reserve, of expandable segments and of the allocator's default. Of the published runs that it is tested with nine of ten lie within 5 % of such a range, within 15 % if some of their settings are guessed; of 358 that were looked up after the answer, nearly half lie within 5 %, seven of ten within 15 %.\n"

// ofOneLength is added for programs that hold all logits at once, whose batches often differ in length.
const ofOneLength = "That is for batches of one length. If each is padded to its own longest sequence, the allocator's default reserves more; -lengths varied tells how much.\n"

// time returns a line on how long a step takes, and how much more would fit.
func (r *planReport) time() string {
	var b strings.Builder
	s := r.Ask.Setup
	longest := " Sequences of up to %d tokens fit."
	if text := s.Within(r.Longest); text != "" {
		longest = " Up to %d tokens fit, " + text + "."
	}
	more, fewer := "about", ""
	if low, _ := r.TimeRange(); low > r.Estimate.Time+r.Estimate.Time/50 { // such steps take longer than the estimate
		more, fewer = "more than", "fewer than "
	}
	unit, count := r.Trained()
	fmt.Fprintf(&b, "A step takes %s %s (an estimate%s), %s%s on each card.", more, format.Duration(r.Estimate.Time),
		r.between(), fewer, format.Throughput(int(count), unit, r.Estimate.Time*time.Duration(r.Ask.GPUs)))
	if r.Longest > 0 {
		fmt.Fprintf(&b, longest, r.Longest)
	}
	if r.Batch > 0 {
		fmt.Fprintf(&b, " The most that fits at once: %s.", profiles.Count(int(r.Batch), ask.Sample(r.Ask.Args)))
	}
	if r.Fewest > 0 {
		fmt.Fprintf(&b, " The fewest cards on which it fits: %d.", r.Fewest)
	}
	if m := s.Model; m.Positions > 0 && s.Seq > m.Positions {
		fmt.Fprintf(&b, " The model has learned %d positions: sequences of %d tokens need more.", m.Positions, s.Seq)
	}
	if s.Model.MoE != nil && s.Imbalance == 0 {
		b.WriteString(" How busy the experts are is not known: the range holds what was measured, up to 21 % above the figure for equal shares.")
	}
	for _, note := range append(s.Model.Notes, s.Said()...) {
		b.WriteString("\n" + note)
	}
	return b.String() + "\n"
}

// between returns the range of published steps around the estimate.
func (r *planReport) between() string {
	low, high := r.TimeRange()
	if high == 0 {
		return "; how far off is not known for want of published runs"
	}
	return fmt.Sprintf("; nine of ten published runs of its kind would take %s to %s", format.Duration(low),
		format.Duration(high))
}

// counted returns a number of cards in words.
func counted(n int64, card string) string {
	if n == 1 {
		return "one " + card
	}
	return fmt.Sprintf("%d %s", n, card)
}

// changes returns a table of the effect of each single change.
func (r *planReport) changes() string {
	if len(r.Changes) == 0 {
		if r.Estimate.Verdict == llm.Fits {
			return "\nNo single change that was tried makes it faster.\n"
		}
		return "\nNo single change that was tried frees memory.\n"
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nEach change by itself, best first\treserved\tfreed\tstep\t\n")
		of := r.Estimate.High
		for _, c := range r.Changes {
			of = max(of, c.Estimate.High)
		}
		for _, c := range r.Changes {
			e := c.Estimate
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", c.Names[0], format.Bytes(e.High),
				format.Bytes(r.Estimate.High-e.High), longer(e.Time-r.Estimate.Time), e.Word(), bar(e.High, of))
		}
	})
}

// ways returns the changes that make it fit.
func (r *planReport) ways() string {
	if r.Estimate.Verdict == llm.Fits {
		return ""
	}
	if len(r.Fixes) == 0 {
		return "\nNo combination of up to four of these changes makes it fit.\n"
	}
	var b strings.Builder
	b.WriteString("\nIt fits with\n")
	for _, c := range r.Fixes {
		fmt.Fprintf(&b, "  %s: %s reserved on %s, %s a step\n", strings.Join(c.Names, " + "),
			format.Bytes(c.Estimate.High), counted(c.GPUs, r.Ask.Card.Name), format.Duration(c.Estimate.Time))
	}
	return b.String()
}

// policies returns a table of the policies of frameworks, each played.
func (r *planReport) policies() string {
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nPolicies of frameworks\tallocated\treserved\tstep\t\n")
		for _, c := range r.Policies {
			words := c.Words
			if order := c.Estimate.Order(); order != "" {
				words = order + ", " + words
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", c.Names[0], format.Bytes(c.Estimate.Allocated),
				format.Bytes(c.Estimate.High), format.Duration(c.Estimate.Time), c.Estimate.Word(), words)
		}
	})
}

// nearest describes the published run that is most similar to the question, and how well the
// model predicts it. It returns "" if no run of this kind has been published.
func (r *planReport) nearest() string {
	n := r.Nearest
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("\nThe nearest published run, %s, %s\n  published %s reserved", n.Model, n.Where,
		format.Bytes(n.Bytes))
	if n.Rate > 0 {
		text += fmt.Sprintf(", %.0f tokens/s on each card", n.Rate)
	}
	text += fmt.Sprintf("\n  played    %s to %s, %+.1f %%\n  %s\n", format.Bytes(n.Estimate.Low),
		format.Bytes(n.Estimate.High), n.Percent, n.URL)
	if len(n.Differs) > 0 {
		text += "  differs from the question in " + strings.Join(n.Differs, ", ") + "\n"
	}
	return text
}

// longer returns a difference of times with its sign.
func longer(d time.Duration) string {
	if d < 0 {
		return format.Duration(d)
	}
	return "+" + format.Duration(d)
}

// barCells is the largest width of a bar in a table.
const barCells = 24

// bar returns a share as a bar of blocks, of at least one block if n is above 0.
func bar(n, of engine.Bytes) string {
	if n <= 0 || of <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, int(barCells*float64(n)/float64(of)+0.5)))
}

// modelsHelp lists the models that need no config.json, and the families that are read from one.
func modelsHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Language models, with their parameters\n\n")
	for _, m := range slices.Concat(ask.Models, ask.Others) {
		fmt.Fprintf(w, "  %s\t%d\n", m.ID, family.Lookup(m.ID).Params())
	}
	fmt.Fprint(w, "\nTransformers of diffusion models\n\n")
	for _, m := range ask.Diffusers {
		fmt.Fprintf(w, "  %s\t%d\n", m.ID, family.Lookup(m.ID).Params())
	}
	fmt.Fprint(w, "\nFamilies that are read from a config.json, by model_type or, of diffusers, _class_name\n\n")
	for names := range slices.Chunk(family.Names(), 6) {
		fmt.Fprintf(w, "  %s\n", strings.Join(names, ", "))
	}
}
