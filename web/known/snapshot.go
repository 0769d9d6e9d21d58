package known

import (
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// Doctor is what is known about a recording. It is asked for step by step: Next says
// what comes next, Take and Refuse take what comes back.
type Doctor struct {
	File    proto.Open     // as it was opened, and is read again if it has to be
	Report  *doctor.Report // nil: it is on its way, or Failed says why there is none
	Failed  string         // the last thing that was asked for has no answer
	Replays []doctor.Replay
	Advice  *doctor.Advice // when all have been replayed
	Stopped bool           // no more replays are asked for

	alive   *doctor.Alive // at the moment that was chosen last
	refused int           // the event that has no answer, and one more
	flame   Flame
}

// Next returns what is asked next: the report first, then what is in use after the event at,
// then replay by replay. ok is false if all is known that can be.
func (d *Doctor) Next(at int) (q proto.Doctor, ok bool) {
	q.File = d.File
	switch {
	case d.Report == nil:
		q.Part = proto.PartReport
		return q, d.Failed == ""
	case at != doctor.Decisive && at+1 != d.refused && (d.alive == nil || d.alive.At != at):
		q.Part, q.At = proto.PartAlive, at
	case !d.Stopped && d.Advice == nil:
		q.Part, q.Setting = proto.PartReplay, len(d.Replays)
	default:
		return q, false
	}
	return q, true
}

// Take takes an answer.
func (d *Doctor) Take(r *proto.Examined) {
	switch {
	case r.Report != nil:
		d.Report = r.Report
		if r.Report.Recorded == 0 { // there is nothing to replay
			d.Advice = &r.Report.Advice
		}
	case r.Alive != nil:
		d.alive = r.Alive
	case r.Replay != nil:
		d.Replays, d.Advice = append(d.Replays, *r.Replay), r.Advice
		d.Stopped = !r.More && r.Advice == nil
	}
}

// Refuse says why there is no answer to what was asked, which is not asked again.
func (d *Doctor) Refuse(part proto.Part, at int, why string) {
	d.Failed = why
	switch part {
	case proto.PartAlive:
		d.refused = at + 1
	case proto.PartReplay:
		d.Stopped = true
	}
}

// Alive returns what is in use after an event, or after the last one that was told; nil
// before anything was.
func (d *Doctor) Alive(at int) *doctor.Alive {
	switch {
	case d == nil || d.Report == nil:
		return nil
	case at == doctor.Decisive || d.alive == nil:
		return d.Report.Alive
	}
	return d.alive
}

// Flame returns the flame graph of what is in use after an event, or nil if there is none.
func (d *Doctor) Flame(at int) *Flame {
	a := d.Alive(at)
	if a == nil || a.Flame == nil {
		return nil
	}
	if d.flame.of != a {
		d.flame = Flame{Flame: draw.NewFlame(flameCalls(a.Flame)), of: a}
		d.flame.zoom = d.flame.Start()
		d.flame.mark = d.flame.zoom
	}
	return &d.flame
}
