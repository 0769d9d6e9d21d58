package known

import (
	"time"

	"memtide/engine"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/lookup"
)

// Memory is a file about addresses that is open instead of a network.
type Memory struct {
	File   string
	Data   *proto.Memory
	Lint   []string
	End    time.Duration // of the time axis
	Doctor *Doctor       // nil: it is no recording

	placed map[string]*proto.Placed // by method, see Placeable
}

// NewMemory returns a file that was read; from is the request for it, which is made again
// where a recording has to be read again.
func NewMemory(file string, r *proto.Opened, from *proto.Open) *Memory {
	m := &Memory{File: file, Data: r.Memory, Lint: r.Lint}
	if m.Data.Told {
		m.Doctor = &Doctor{File: *from}
	}
	end := m.Data.Buffers.Zero
	for i := range m.Data.Buffers.List {
		end = max(end, m.Data.Buffers.List[i].End)
	}
	m.End = max(m.Data.Buffers.At(end), 1)
	return m
}

// Moment returns the event after which the memory of a recording is told: that at a time,
// or doctor.Decisive, also if nothing is known yet.
func (m *Memory) Moment(at time.Duration) int {
	if m == nil || m.Doctor == nil || m.Doctor.Report == nil || at <= 0 || at > m.End {
		return doctor.Decisive
	}
	report, b := m.Doctor.Report, m.Data.Buffers
	event := min(int(at/b.Tick)+b.Zero, report.Events-1)
	if event == report.Alive.At {
		return doctor.Decisive
	}
	return event
}

// LevelAt returns how memory was used after an event; the zero value if that is not known.
func (m *Memory) LevelAt(event int) (last proto.Moment) {
	if m == nil || m.Data.Recorded == nil {
		return last
	}
	at := m.Data.Buffers.At(event)
	for _, x := range m.Data.Recorded.Moments {
		if x.At > at {
			break
		}
		last = x
	}
	return last
}

// Unused returns what of the reserved memory is not in use after an event.
func (m *Memory) Unused(event int) engine.Bytes {
	l := m.LevelAt(event)
	return max(l.Reserved-l.Used, 0)
}

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

// Flame is the flame graph of what is in use at a moment, with the places in it.
type Flame struct {
	*draw.Flame

	of   *doctor.Alive // what it shows
	zoom int           // the call that is as wide as the picture
	mark int           // the call that the keyboard is at
}

// flameCalls returns the calls of a graph, each after the one around it.
func flameCalls(root *doctor.Flame) (out []draw.FlameCall) {
	var add func(f *doctor.Flame, parent int)
	add = func(f *doctor.Flame, parent int) {
		at := len(out)
		out = append(out, draw.FlameCall{Name: f.Name, Bytes: f.Bytes, Use: UseOf(f.Category), Parent: parent})
		for _, c := range f.Calls {
			add(c, at)
		}
	}
	add(root, 0)
	return out
}

// UseOf returns how pictures show a category.
func UseOf(c doctor.Category) draw.Use {
	for i, x := range doctor.Categories {
		if x == c {
			return draw.Use(i)
		}
	}
	return draw.UseUnknown
}

// Zoomed returns the call that is as wide as the graph, nothing if there is none.
func (f *Flame) Zoomed() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.zoom}
}

// Marked returns the call that the keyboard is at, nothing if there is no graph.
func (f *Flame) Marked() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.mark}
}

// Zoom makes a call as wide as the graph; the one that is so already goes back to
// the one around it.
func (f *Flame) Zoom(call int) {
	if call == f.zoom {
		call = f.Parent(call)
	}
	f.zoom, f.mark = call, call
}

// Move moves the keyboard's place. From the call that is as wide as the graph it goes
// up to the one around it, which is not to be seen.
func (f *Flame) Move(right, down int) {
	if f.mark == f.zoom && down < 0 {
		f.Zoom(f.zoom)
		return
	}
	f.mark = f.Beside(f.mark, right, down)
}

// Out goes back to the call around the one that is as wide as the graph, unless it is
// the one that the graph begins with: then it is false.
func (f *Flame) Out() bool {
	if f == nil || f.zoom == f.Start() || f.zoom == 0 {
		return false
	}
	f.Zoom(f.zoom)
	return true
}
