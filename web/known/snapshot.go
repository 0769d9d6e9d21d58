package known

import (
	"slices"
	"time"

	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/lookup"
)

// Memory is an open file with addresses of buffers, such as a memory snapshot. It is open instead of a network.
type Memory struct {
	File   string
	Data   *proto.Memory
	Lint   []string
	End    time.Duration // of the time axis
	Doctor *Doctor       // nil if the file is not a recording

	placed map[string]*proto.Placed // by Placeable.Method
}

// NewMemory returns the Memory of a file that was read. from is the request that read it,
// which examining a recording repeats.
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

// Moment returns the event of a recording at time at on the time axis. It returns doctor.Decisive for
// the decisive event, for times outside of the recording, and while there is no report.
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

// LevelAt returns the memory in use after an event, or the zero value if that is not known.
func (m *Memory) LevelAt(event int) (last proto.Moment) {
	if m == nil || m.Data.Recorded == nil {
		return last
	}
	if d := m.Doctor; d != nil && d.Report != nil && d.Report.Failure != nil && d.Report.Failure.At == event {
		f := d.Report.Failure // the moments end before it, and segments may have been given back for it
		return proto.Moment{At: m.Data.Buffers.At(event), Used: f.InUse, Reserved: f.Reserved}
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

// Doctor is the report about a recording. It arrives in parts: Next returns the next request,
// Take and Refuse store its answer.
type Doctor struct {
	File    proto.Open     // the request that opened the file
	Report  *doctor.Report // nil until it arrives, or if Failed says why there is none
	Failed  string         // why the last failed request has no answer
	Replays []doctor.Replay
	Advice  *doctor.Advice // nil until all replays have arrived
	Stopped bool           // no more replays are requested

	alive   *doctor.Alive // after the event that was last requested
	refused int           // 1 + the event whose request failed
	flame   Flame
}

// Next returns the next request: the report first, then the blocks in use after event at, then
// one replay after another. ok is false if there is nothing left to request.
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

// Take stores an answer.
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

// Refuse records why a request has no answer. The same part is not requested again.
func (d *Doctor) Refuse(part proto.Part, at int, why string) {
	d.Failed = why
	switch part {
	case proto.PartAlive:
		d.refused = at + 1
	case proto.PartReplay:
		d.Stopped = true
	}
}

// Alive returns the blocks in use after an event, or those last known while they are on
// their way. It returns nil before the report has arrived. d may be nil.
func (d *Doctor) Alive(at int) *doctor.Alive {
	switch {
	case d == nil || d.Report == nil:
		return nil
	case at == doctor.Decisive || d.alive == nil:
		return d.Report.Alive
	}
	return d.alive
}

// Flame returns the flame graph of the blocks in use after an event, or nil if there is none.
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

// Flame is a flame graph of the blocks in use, with its zoom and its keyboard focus.
type Flame struct {
	*draw.Flame

	of   *doctor.Alive
	zoom int // index of the call that is as wide as the picture
	mark int // index of the call with the keyboard focus
}

// flameCalls returns the calls of a flame graph, each after its parent.
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

// UseOf returns the draw.Use of a category.
func UseOf(c doctor.Category) draw.Use {
	if i := slices.Index(doctor.Categories, c); i >= 0 {
		return draw.Use(i)
	}
	return draw.UseUnknown
}

// Zoomed returns the call that is as wide as the picture, or nothing if f is nil.
func (f *Flame) Zoomed() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.zoom}
}

// Marked returns the call with the keyboard focus, or nothing if f is nil.
func (f *Flame) Marked() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.mark}
}

// Zoom makes a call as wide as the picture. If it is so already, its parent becomes as wide.
func (f *Flame) Zoom(call int) {
	if call == f.zoom {
		call = f.Parent(call)
	}
	f.zoom, f.mark = call, call
}

// Move moves the keyboard focus to a call beside, above or below. From the zoomed call it moves
// up by zooming out to the parent, which is not visible before.
func (f *Flame) Move(right, down int) {
	if f.mark == f.zoom && down < 0 {
		f.Zoom(f.zoom)
		return
	}
	f.mark = f.Beside(f.mark, right, down)
}

// Out zooms out to the parent of the zoomed call. It reports false if the graph is not zoomed.
func (f *Flame) Out() bool {
	if f == nil || f.zoom == f.Start() || f.zoom == 0 {
		return false
	}
	f.Zoom(f.zoom)
	return true
}
