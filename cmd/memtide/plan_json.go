package main

import (
	"memtide/engine"
	"memtide/profiles/llm"
)

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
	// range of what is reserved; wider than the two before for experts whose load is not known
	Low      engine.Bytes `json:"reserved_low_bytes"`
	High     engine.Bytes `json:"reserved_high_bytes"`
	Host     engine.Bytes `json:"host_bytes"`
	StepTime int64        `json:"step_time_ns"`
	// range with the next field: nine of ten published runs of its kind are within it
	StepLow   int64        `json:"step_time_low_ns"`
	StepHigh  int64        `json:"step_time_high_ns"` // 0 if too few runs are published
	Phase     string       `json:"phase"`
	Parts     []planPart   `json:"parts"`
	Phases    []planPart   `json:"phases"`
	Ranks     []planRank   `json:"ranks,omitempty"`
	Schedules []planOrder  `json:"schedules,omitempty"`
	Longest   int64        `json:"longest_sequence_tokens"`
	Batch     int64        `json:"largest_batch"`
	Fewest    int64        `json:"fewest_gpus"`
	Changes   []planChange `json:"changes"`
	Fixes     []planChange `json:"fixes"`
	Policies  []planPolicy `json:"policies"`
	Nearest   planNearest  `json:"nearest_published"`
	Saved     *planSaved   `json:"saved,omitempty"`
	Notes     []string     `json:"notes"`
}

// planSaved is what autograd keeps of one micro batch. Blocks has pairs of a number of
// consecutive blocks and the bytes that each keeps; Outside is the bytes outside of blocks.
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

// planOrder is the result of a schedule of the pipeline, or why the layout does not allow it.
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
	Margin    engine.Bytes `json:"free_bytes,omitempty"` // negative if memory is missing
	Twice     bool         `json:"states_twice,omitempty"`
}

// ordersJSON returns the schedules of the pipeline for programs.
func (r *planReport) ordersJSON() (out []planOrder) {
	for _, o := range r.Orders {
		p := planOrder{Name: o.Name, Refused: o.Reason}
		if a := o.Estimate; a != nil {
			p = planOrder{Name: o.Name, Taken: o.Name == r.Estimate.Order(), Verdict: a.Verdict,
				StepTime: a.Time.Nanoseconds(), Idle: a.Ranks.Trace.Idle(),
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
	Schedule  string       `json:"schedule,omitempty"` // in a pipeline
	Method    string       `json:"strategy,omitempty"`
	Allocated engine.Bytes `json:"allocated_bytes"`
	Args      engine.Args  `json:"flags"`
}

// json returns the report for programs.
func (r *planReport) json() planJSON {
	a := r.Estimate
	out := planJSON{Schema: "memtide-step/1", Model: r.Ask.Setup.Model.Name, Params: r.Ask.Setup.Model.Params(),
		Device: r.Ask.Card.Name, GPUs: r.Ask.GPUs, Seq: r.Ask.Setup.Seq, Verdict: a.Verdict, Capacity: a.Capacity,
		Context: r.Ask.Context, States: a.States, Allocated: a.Allocated, Reserved: a.Reserved,
		Expandable: a.Expandable, Low: a.Low, High: a.High, Host: a.Host,
		StepTime: a.Time.Nanoseconds(), Phase: a.Phase.String(),
		Longest: r.Longest, Batch: r.Batch, Fewest: r.Fewest}
	for _, p := range a.Parts {
		out.Parts = append(out.Parts, planPart{p.Class.String(), p.Bytes})
	}
	for phase := llm.Forward; phase <= llm.Step; phase++ {
		out.Phases = append(out.Phases, planPart{phase.String(), a.Phases[phase]})
	}
	if a.Ranks != nil {
		for _, rank := range a.Ranks.List {
			out.Ranks = append(out.Ranks,
				planRank{rank.Layers, rank.InFlight, rank.Allocated, rank.Reserved, rank.Expandable,
					rank.Busy.Nanoseconds()})
		}
	}
	out.Schedules = r.ordersJSON()
	low, high := r.TimeRange()
	out.StepLow, out.StepHigh = low.Nanoseconds(), high.Nanoseconds()
	out.Notes = append([]string{}, append(r.Ask.Setup.Model.Notes, r.Ask.Setup.Said()...)...)
	if kept, err := r.Ask.Setup.Kept(); err == nil { // no rank of a pipeline has the whole model
		out.Saved = &planSaved{kept.Blocks, kept.Outside}
	}
	out.Changes, out.Fixes, out.Policies = changesJSON(r.Changes), changesJSON(r.Fixes), []planPolicy{}
	for i, c := range changesJSON(r.Policies) {
		p := r.Policies[i]
		out.Policies = append(out.Policies,
			planPolicy{c, p.Words, p.Estimate.Order(), p.Method, p.Estimate.Allocated, p.Args})
	}
	if n := r.Nearest; n != nil {
		out.Nearest = planNearest{n.Model, n.Published.Args, n.Where, n.URL, n.Bytes, n.Estimate.Low, n.Estimate.High,
			n.Percent, n.Differs}
	}
	return out
}

func changesJSON(list []llm.Change) []planChange {
	out := []planChange{}
	for _, c := range list {
		e := c.Estimate
		out = append(out, planChange{c.Names, c.GPUs, e.Verdict, e.High, e.Time.Nanoseconds()})
	}
	return out
}
