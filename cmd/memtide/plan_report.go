//go:build !js

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
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/web/format"
)

// planReport is the answer with what would change it.
type planReport struct{ *llm.Plan }

// text returns the report for people behind its first line, as far as it is known.
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

// peak are tables of what lies at the peak, in each phase, and of what is reserved.
func (r *planReport) peak() string {
	return cli.Table(func(w *tabwriter.Writer) {
		a := r.Answer
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

// ranks returns a table of a pipeline's ranks, or the empty string without one.
func (r *planReport) ranks() string {
	ranks := r.Answer.Ranks
	if ranks == nil {
		return ""
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "\nRanks, %s; they wait %.0f %% of the passes' time\n", pipeline.Title(ranks.Schedule.Name), 100*ranks.Trace.Idle())
		fmt.Fprint(w, "  rank\tlayers\tin flight\tallocated\treserved\n")
		most := ranks.List[ranks.Full]
		for i, rank := range ranks.List {
			fmt.Fprintf(w, "  %d\t%d\t%d\t%s\t%s\t%s\n", i, len(rank.Layers), rank.InFlight, format.Bytes(rank.Allocated), format.Bytes(max(rank.Reserved, rank.Expandable)), bar(rank.Allocated, most.Allocated))
		}
	})
}

// orders returns a table of the schedules of a pipeline, each played, or the empty string without one.
func (r *planReport) orders() string {
	if len(r.Orders) == 0 {
		return ""
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nSchedules of the pipeline\tstep\tidle\tfullest\tallocated\treserved\t\n")
		for _, o := range r.Orders {
			if o.Answer == nil {
				fmt.Fprintf(w, "  %s\trefused: %s\n", o.Name, o.Reason)
				continue
			}
			a := o.Answer
			fmt.Fprintf(w, "  %s\t%s\t%.0f %%\trank %d\t%s\t%s\t%s\n", o.Name, format.Duration(a.Time), 100*a.Ranks.Trace.Idle(), a.Ranks.Full, format.Bytes(a.Allocated), format.Bytes(a.High), r.said(&o))
		}
	})
}

// said reports whether a schedule fits, what it lacks if not, and what else there is to say of it.
func (r *planReport) said(o *llm.Order) string {
	text := string(o.Answer.Verdict)
	if o.Answer.Verdict == llm.FitsNot {
		text += fmt.Sprintf(", lacks %s", format.Bytes(-o.Answer.Margin()))
	}
	if o.Twice() {
		text += ", all states twice"
	}
	if o.Name == r.Answer.Ranks.Schedule.Name {
		text += ", taken"
	}
	return text
}

// sentence returns the answer in a line.
func (r *planReport) sentence() string {
	a, s := r.Answer, r.Ask.Setup
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
	switch {
	case a.Verdict == llm.FitsNot && a.States > a.Capacity:
		fmt.Fprintf(&b, "does not fit. The states alone, weights, gradients and optimizer, need %s on a card that has %s.", format.Bytes(a.States), format.Bytes(a.Capacity))
	case a.Verdict == llm.FitsNot:
		fmt.Fprintf(&b, "does not fit. PyTorch would reserve %s of %s.", reserved, format.Bytes(a.Capacity))
	case a.Verdict == llm.Uncertain:
		fmt.Fprintf(&b, "uncertain. PyTorch reserves %s of %s, nearer than the model errs.", reserved, format.Bytes(a.Capacity))
	default:
		fmt.Fprintf(&b, "fits. PyTorch reserves %s of %s, at least %s (%.0f %%) is free.", reserved, format.Bytes(a.Capacity), format.Bytes(a.Margin()), 100*float64(a.Margin())/float64(a.Capacity))
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
	return b.String() + "\n"
}

// time returns a line of how long a step takes, and of how much more would fit.
func (r *planReport) time() string {
	var b strings.Builder
	s := r.Ask.Setup
	longest := " Sequences of up to %d tokens fit."
	if text := s.Within(r.Longest); text != "" {
		longest = " Up to %d tokens fit, " + text + "."
	}
	fmt.Fprintf(&b, "A step takes about %s (an estimate%s), %.0f tokens/s on each card.", format.Duration(r.Answer.Time), r.between(), r.Rate())
	for _, m := range []struct {
		words string
		n     int64
	}{{longest, r.Longest}, {" Up to %d sequences at once fit.", r.Batch}, {" The fewest cards on which it fits: %d.", r.Fewest}} {
		if m.n > 0 {
			fmt.Fprintf(&b, m.words, m.n)
		}
	}
	if m := s.Model; m.Positions > 0 && s.Seq > m.Positions {
		fmt.Fprintf(&b, " The model has learned %d positions: sequences of %d tokens need more.", m.Positions, s.Seq)
	}
	if s.Model.MoE != nil {
		b.WriteString(" How busy the experts are is not known: the range holds what was measured, up to 21 % above the figure for equal shares.")
	}
	for _, note := range append(s.Model.Notes, s.Said()...) {
		b.WriteString("\n" + note)
	}
	return b.String() + "\n"
}

// between says how far published steps are from what the model says.
func (r *planReport) between() string {
	low, high := r.TimeRange()
	if high == 0 {
		return "; how far off is not known for want of published runs"
	}
	return fmt.Sprintf("; nine of ten published runs of its kind would take %s to %s", format.Duration(low), format.Duration(high))
}

// counted returns a number of cards in words.
func counted(n int64, card string) string {
	if n == 1 {
		return "one " + card
	}
	return fmt.Sprintf("%d %s", n, card)
}

// changes returns a table of what each knob does by itself.
func (r *planReport) changes() string {
	if len(r.Changes) == 0 {
		if r.Answer.Verdict == llm.Fits {
			return "\nNo single change that was tried makes it faster.\n"
		}
		return "\nNo single change that was tried frees memory.\n"
	}
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nEach change by itself, best first\treserved\tfreed\tstep\t\n")
		of := r.Answer.High
		for _, c := range r.Changes {
			of = max(of, c.Answer.High)
		}
		for _, c := range r.Changes {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", c.Names[0], format.Bytes(c.Answer.High), signed(r.Answer.High-c.Answer.High), longer(c.Answer.Time-r.Answer.Time), c.Answer.Verdict, bar(c.Answer.High, of))
		}
	})
}

// ways returns the changes that make it fit.
func (r *planReport) ways() string {
	if r.Answer.Verdict == llm.Fits {
		return ""
	}
	if len(r.Fixes) == 0 {
		return "\nNo combination of up to four of these changes makes it fit.\n"
	}
	var b strings.Builder
	b.WriteString("\nIt fits with\n")
	for _, c := range r.Fixes {
		fmt.Fprintf(&b, "  %s: %s reserved on %s, %s a step\n", strings.Join(c.Names, " + "), format.Bytes(c.Answer.High), counted(c.GPUs, r.Ask.Card.Name), format.Duration(c.Answer.Time))
	}
	return b.String()
}

// policies returns a table of what frameworks offer, each played.
func (r *planReport) policies() string {
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nPolicies of frameworks\tallocated\treserved\tstep\t\n")
		for _, c := range r.Policies {
			words := c.Words
			if ranks := c.Answer.Ranks; ranks != nil {
				words = ranks.Schedule.Name + ", " + words
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", c.Names[0], format.Bytes(c.Answer.Allocated), format.Bytes(c.Answer.High), format.Duration(c.Answer.Time), c.Answer.Verdict, words)
		}
	})
}

// nearest describes the published run that is most like the question, and how well the model predicts it. It
// returns the empty string if no run of this kind has been published.
func (r *planReport) nearest() string {
	n := r.Nearest
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("\nThe nearest published run, %s, %s\n  published %s reserved", n.Model, n.Where, format.Bytes(n.Bytes))
	if n.Rate > 0 {
		text += fmt.Sprintf(", %.0f tokens/s on each card", n.Rate)
	}
	text += fmt.Sprintf("\n  played    %s to %s, %+.1f %%\n  %s\n", format.Bytes(n.Answer.Low), format.Bytes(n.Answer.High), n.Percent, n.URL)
	if len(n.Differs) > 0 {
		text += "  differs from the question in " + strings.Join(n.Differs, ", ") + "\n"
	}
	return text
}

// signed returns a difference of bytes with its sign.
func signed(n engine.Bytes) string {
	if n < 0 {
		return "-" + format.Bytes(-n)
	}
	return format.Bytes(n)
}

// longer returns a difference of times with its sign.
func longer(d time.Duration) string {
	if d < 0 {
		return "-" + format.Duration(-d)
	}
	return "+" + format.Duration(d)
}

// barCells is how wide a bar of a table is at most.
const barCells = 24

// bar returns a share in blocks; whatever is above 0 has at least one.
func bar(n, of engine.Bytes) string {
	if n <= 0 || of <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, int(barCells*float64(n)/float64(of)+0.5)))
}

// planJSON is the answer for programs; fields end in their units.
type planJSON struct {
	Schema     string       `json:"schema"`
	Model      string       `json:"model"`
	Params     int64        `json:"parameters"`
	Device     string       `json:"device"`
	GPUs       int64        `json:"gpus"`
	Seq        int64        `json:"sequence_tokens"`
	Verdict    llm.Verdict  `json:"verdict"`
	Capacity   engine.Bytes `json:"capacity_bytes"`
	Context    engine.Bytes `json:"context_bytes"`
	States     engine.Bytes `json:"states_bytes"`
	Allocated  engine.Bytes `json:"allocated_bytes"`
	Reserved   engine.Bytes `json:"reserved_bytes"`
	Expandable engine.Bytes `json:"reserved_expandable_bytes"`
	Host       engine.Bytes `json:"host_bytes"`
	StepTime   int64        `json:"step_time_ns"`
	StepLow    int64        `json:"step_time_low_ns"`  // with the next: where nine of ten published runs of its kind lie
	StepHigh   int64        `json:"step_time_high_ns"` // 0: too few are known
	Phase      string       `json:"phase"`
	Parts      []planPart   `json:"parts"`
	Phases     []planPart   `json:"phases"`
	Ranks      []planRank   `json:"ranks,omitempty"`
	Schedules  []planOrder  `json:"schedules,omitempty"`
	Longest    int64        `json:"longest_sequence_tokens"`
	Batch      int64        `json:"largest_batch"`
	Fewest     int64        `json:"fewest_gpus"`
	Changes    []planChange `json:"changes"`
	Fixes      []planChange `json:"fixes"`
	Policies   []planPolicy `json:"policies"`
	Curves     []planCurve  `json:"curves"`
	Nearest    planNearest  `json:"nearest_published"`
	Saved      *planSaved   `json:"saved,omitempty"`
	Notes      []string     `json:"notes"`
}

// planSaved is what autograd keeps of one micro batch: how many blocks in a row keep how many
// bytes, and what is kept outside of them.
type planSaved struct {
	Blocks  [][2]int64   `json:"blocks"`
	Outside engine.Bytes `json:"outside"`
}

type planRank struct {
	Layers     []int64      `json:"layers"`
	InFlight   int64        `json:"in_flight"`
	Allocated  engine.Bytes `json:"allocated_bytes"`
	Reserved   engine.Bytes `json:"reserved_bytes"`
	Expandable engine.Bytes `json:"reserved_expandable_bytes"`
	Busy       int64        `json:"busy_ns"`
}

// planOrder is a schedule of the pipeline: what it comes to, or why the layout does not admit it.
type planOrder struct {
	Name      string       `json:"name"`
	Taken     bool         `json:"taken,omitempty"`
	Refused   string       `json:"refused,omitempty"`
	Verdict   llm.Verdict  `json:"verdict,omitempty"`
	StepTime  int64        `json:"step_time_ns,omitempty"`
	Idle      float64      `json:"idle,omitempty"`
	Full      int          `json:"fullest_rank"`
	Allocated engine.Bytes `json:"allocated_bytes,omitempty"`
	Reserved  engine.Bytes `json:"reserved_bytes,omitempty"`
	Margin    engine.Bytes `json:"free_bytes,omitempty"` // negative: lacking
	Twice     bool         `json:"states_twice,omitempty"`
}

// ordersJSON returns the schedules of the pipeline for programs.
func (r *planReport) ordersJSON() (out []planOrder) {
	for _, o := range r.Orders {
		p := planOrder{Name: o.Name, Refused: o.Reason}
		if a := o.Answer; a != nil {
			p = planOrder{Name: o.Name, Taken: o.Name == r.Answer.Ranks.Schedule.Name, Verdict: a.Verdict, StepTime: a.Time.Nanoseconds(), Idle: a.Ranks.Trace.Idle(),
				Full: a.Ranks.Full, Allocated: a.Allocated, Reserved: a.High, Margin: a.Margin(), Twice: o.Twice()}
		}
		out = append(out, p)
	}
	return out
}

type planPart struct {
	Name  string       `json:"name"`
	Bytes engine.Bytes `json:"bytes"`
}

type planChange struct {
	Names    []string     `json:"names"`
	GPUs     int64        `json:"gpus"`
	Verdict  llm.Verdict  `json:"verdict"`
	Reserved engine.Bytes `json:"reserved_bytes"`
	StepTime int64        `json:"step_time_ns"`
}

type planNearest struct {
	Model   string       `json:"model"`
	Args    engine.Args  `json:"flags"`
	Where   string       `json:"where"`
	URL     string       `json:"url"`
	Bytes   engine.Bytes `json:"reserved_bytes"`
	Low     engine.Bytes `json:"low_bytes"`
	High    engine.Bytes `json:"high_bytes"`
	Percent float64      `json:"error_percent"`
	Differs []string     `json:"differs"`
}

type planPolicy struct {
	planChange
	Words     string       `json:"frameworks"`
	Schedule  string       `json:"schedule,omitempty"` // of a pipeline
	Method    string       `json:"strategy,omitempty"`
	Allocated engine.Bytes `json:"allocated_bytes"`
	Args      engine.Args  `json:"flags"`
}

type planCurve struct {
	Method string     `json:"strategy"`
	Spots  []planSpot `json:"spots"`
}

type planSpot struct {
	Reserved engine.Bytes `json:"reserved_bytes"`
	StepTime int64        `json:"step_time_ns"`
}

// json returns the report for programs.
func (r *planReport) json() planJSON {
	a := r.Answer
	out := planJSON{Schema: "memtide-step/1", Model: r.Ask.Setup.Model.Name, Params: r.Ask.Setup.Model.Params(),
		Device: r.Ask.Card.Name, GPUs: r.Ask.GPUs, Seq: r.Ask.Setup.Seq,
		Verdict: a.Verdict, Capacity: a.Capacity, Context: r.Ask.Context, States: a.States, Allocated: a.Allocated, Reserved: a.Reserved,
		Expandable: a.Expandable, Host: a.Host, StepTime: a.Time.Nanoseconds(), Phase: a.Phase.String(),
		Longest: r.Longest, Batch: r.Batch, Fewest: r.Fewest}
	for _, p := range a.Parts {
		out.Parts = append(out.Parts, planPart{p.Class.String(), p.Bytes})
	}
	for phase := llm.Forward; phase <= llm.Step; phase++ {
		out.Phases = append(out.Phases, planPart{phase.String(), a.Phases[phase]})
	}
	if a.Ranks != nil {
		for _, rank := range a.Ranks.List {
			out.Ranks = append(out.Ranks, planRank{rank.Layers, rank.InFlight, rank.Allocated, rank.Reserved, rank.Expandable, rank.Busy.Nanoseconds()})
		}
	}
	out.Schedules = r.ordersJSON()
	low, high := r.TimeRange()
	out.StepLow, out.StepHigh = low.Nanoseconds(), high.Nanoseconds()
	out.Notes = append([]string{}, append(r.Ask.Setup.Model.Notes, r.Ask.Setup.Said()...)...)
	if kept, err := r.Ask.Setup.Kept(); err == nil { // a pipeline's ranks have not the whole model
		out.Saved = &planSaved{kept.Blocks, kept.Outside}
	}
	out.Changes, out.Fixes, out.Policies = changesJSON(r.Changes), changesJSON(r.Fixes), []planPolicy{}
	for i, c := range changesJSON(r.Policies) {
		p := r.Policies[i]
		schedule := ""
		if ranks := p.Answer.Ranks; ranks != nil {
			schedule = ranks.Schedule.Name
		}
		out.Policies = append(out.Policies, planPolicy{c, p.Words, schedule, p.Method, p.Answer.Allocated, p.Args})
	}
	out.Curves = []planCurve{}
	for _, c := range r.Curves {
		spots := []planSpot{}
		for _, s := range c.Spots {
			spots = append(spots, planSpot{s.Reserved, s.Time.Nanoseconds()})
		}
		out.Curves = append(out.Curves, planCurve{c.Method, spots})
	}
	if n := r.Nearest; n != nil {
		out.Nearest = planNearest{n.Model, n.Published.Args, n.Where, n.URL, n.Bytes, n.Answer.Low, n.Answer.High, n.Percent, n.Differs}
	}
	return out
}

func changesJSON(list []llm.Change) []planChange {
	out := []planChange{}
	for _, c := range list {
		out = append(out, planChange{c.Names, c.GPUs, c.Answer.Verdict, c.Answer.High, c.Answer.Time.Nanoseconds()})
	}
	return out
}

// modelsHelp lists the models that need no config.json, and the families of those that do.
func modelsHelp() string {
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "Language models, with their parameters\n\n")
		for _, name := range llm.Names() {
			fmt.Fprintf(w, "  %s\t%d\n", name, llm.Lookup(name).Params())
		}
		fmt.Fprint(w, "\nTransformers of diffusion models\n\n")
		for _, m := range ask.Diffusers {
			fmt.Fprintf(w, "  %s\t%d\n", m.ID, family.Diffuser(m.ID).Params())
		}
		fmt.Fprint(w, "\nFamilies that are read from a config.json, by model_type or, of diffusers, _class_name\n\n")
		for names := range slices.Chunk(family.Names(), 6) {
			fmt.Fprintf(w, "  %s\n", strings.Join(names, ", "))
		}
	})
}
