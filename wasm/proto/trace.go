package proto

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// schedule writes or reads a schedule.
func (c *codec) schedule(s *engine.Schedule) {
	table(c, (*[]engine.Step)(s), 20)
	rows := []engine.Step(*s)
	column(c, rows, w8, func(r *engine.Step) *engine.StepKind { return &r.Kind })
	column(c, rows, w32, func(r *engine.Step) *engine.OpID { return &r.Op })
	column(c, rows, w32, func(r *engine.Step) *engine.ValueID { return &r.Value })
	flags(c, rows, func(r *engine.Step) *bool { return &r.OutputOnly })
	flags(c, rows, func(r *engine.Step) *bool { return &r.Alt })
	column(c, rows, w64, func(r *engine.Step) *time.Duration { return &r.NotBefore })
	flags(c, rows, func(r *engine.Step) *bool { return &r.Reserve })
}

// trace writes or reads a trace: scalars in the order of the type, then the tables spans, gaps,
// memory, host, lives, decisions. It does not check ids against a graph: the data comes from a
// worker of the same build.
func (c *codec) trace(t *sim.Trace) {
	scalar(c, &t.Makespan)
	scalar(c, &t.Peak)
	scalar(c, &t.PeakAt)
	scalar(c, &t.HostPeak)
	scalar(c, &t.ComputeTime)
	scalar(c, &t.RecomputeTime)
	for i := range t.Waiting {
		scalar(c, &t.Waiting[i])
	}
	c.spans(&t.Spans)
	c.gaps(&t.Gaps)
	c.memory(&t.Memory)
	c.points(&t.Host)
	c.lives(&t.Lives)
	table(c, &t.Decisions, 1)
	column(c, t.Decisions, w8, func(r *sim.Decision) *sim.Decision { return r })
}

func (c *codec) points(p *[]sim.Point) {
	table(c, p, 16)
	column(c, *p, w64, func(r *sim.Point) *time.Duration { return &r.At })
	column(c, *p, w64, func(r *sim.Point) *engine.Bytes { return &r.Used })
}

func (c *codec) spans(s *[]sim.Span) {
	table(c, s, 37)
	rows := *s
	column(c, rows, w8, func(r *sim.Span) *sim.Lane { return &r.Lane })
	column(c, rows, w8, func(r *sim.Span) *sim.SpanKind { return &r.Kind })
	flags(c, rows, func(r *sim.Span) *bool { return &r.OutputOnly })
	flags(c, rows, func(r *sim.Span) *bool { return &r.Alt })
	column(c, rows, w32, func(r *sim.Span) *int { return &r.Step })
	column(c, rows, w32, func(r *sim.Span) *engine.OpID { return &r.Op })
	column(c, rows, w32, func(r *sim.Span) *engine.ValueID { return &r.Value })
	column(c, rows, w64, func(r *sim.Span) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Span) *time.Duration { return &r.End })
	column(c, rows, w8, func(r *sim.Span) *sim.Reason { return &r.Why })
	column(c, rows, w32, func(r *sim.Span) *sim.SpanID { return &r.Cause })
}

func (c *codec) gaps(s *[]sim.Gap) {
	table(c, s, 37)
	rows := *s
	column(c, rows, w64, func(r *sim.Gap) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Gap) *time.Duration { return &r.End })
	column(c, rows, w8, func(r *sim.Gap) *sim.Reason { return &r.Reason })
	column(c, rows, w32, func(r *sim.Gap) *int { return &r.Step })
	column(c, rows, w32, func(r *sim.Gap) *engine.ValueID { return &r.Value })
	column(c, rows, w64, func(r *sim.Gap) *engine.Bytes { return &r.Need })
	column(c, rows, w32, func(r *sim.Gap) *sim.SpanID { return &r.Cause })
}

func (c *codec) memory(s *[]sim.Sample) {
	table(c, s, 8+8*int(sim.NumCategories))
	rows := *s
	column(c, rows, w64, func(r *sim.Sample) *time.Duration { return &r.At })
	for k := range int(sim.NumCategories) {
		column(c, rows, w64, func(r *sim.Sample) *engine.Bytes { return &r.Used[k] })
	}
}

func (c *codec) lives(s *[]sim.Life) {
	table(c, s, 46)
	rows := *s
	column(c, rows, w32, func(r *sim.Life) *engine.ValueID { return &r.Value })
	column(c, rows, w32, func(r *sim.Life) *engine.OpID { return &r.Op })
	column(c, rows, w8, func(r *sim.Life) *sim.Category { return &r.Category })
	column(c, rows, w64, func(r *sim.Life) *engine.Bytes { return &r.Bytes })
	column(c, rows, w64, func(r *sim.Life) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Life) *time.Duration { return &r.End })
	column(c, rows, w32, func(r *sim.Life) *int { return &r.StartSeq })
	column(c, rows, w32, func(r *sim.Life) *int { return &r.EndSeq })
	column(c, rows, w32, func(r *sim.Life) *sim.SpanID { return &r.From })
	flags(c, rows, func(r *sim.Life) *bool { return &r.Offloaded })
}
