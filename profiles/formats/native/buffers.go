package native

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// bufferRoles holds the words for the roles of buffers, by category.
var bufferRoles = [sim.NumCategories]string{"weight", "gradient", "activation", "recomputed", "transfer", "workspace"}

func readBuffers(o *jsonfile.Object, p *profiles.Profile, poll *engine.Poll) {
	m := &profiles.Memory{Capacity: o.Size("capacity"), Before: int(o.Count("before", parse.Events))}
	r, keys := &parse.BufferReader{Errs: o.Errs}, &jsonfile.Keys{}
	found := o.EachIn("buffers", parse.MaxBuffers, poll, func(i int, v any) {
		row := o.Item("buffers", i, v, keys, "An object with lower, upper and size is expected.")
		if row.Fields != nil {
			readRow(r, row)
			row.NoteOthers()
		}
	})
	if !found {
		r.Errs.Fail(&profiles.FormatError{Path: "buffers", Found: "buffers is missing or not a list",
			Expected: "A list of buffers is expected.",
			Remedy:   `Write "buffers": [{"lower": 0, "upper": 3, "size": 4096}, ...].`})
	}
	o.Errs.End()
	r.Requests(m)
	readLayout(o, m, r, poll)
	o.Errs.End()
	p.Memory = m
	p.Warnings = append(p.Warnings, keys.Warning("in buffers")...)
}

func readRow(r *parse.BufferReader, o *jsonfile.Object) {
	b := alloc.Buffer{Name: o.Text("name"), Bytes: o.Size("size"), Start: int(o.Count("lower", parse.Moments)),
		Kind: sim.Activation, High: o.Flag("high")}
	if _, ok := o.Value("id").(string); ok && b.Name == "" {
		b.Name = o.Text("id")
	}
	for _, key := range []string{"lower", "size"} {
		if o.Value(key) == nil {
			r.Errs.Add(&profiles.FormatError{Path: o.At(key), Found: key + " is missing",
				Expected: "Every buffer has lower and size.",
				Remedy:   "Add the number."})
		}
	}
	if role := o.Text("role"); role != "" {
		k := slices.Index(bufferRoles[:], role)
		if k < 0 {
			o.Wrong("role", role, "The roles are weight, gradient, activation, recomputed, transfer and workspace.")
		}
		b.Kind = sim.Category(max(k, 0))
	}
	forever := o.Value("upper") == nil
	if b.End = int(o.Count("upper", parse.Moments)); !forever && b.End <= b.Start && r.Errs.Err() == nil {
		o.Wrong("upper", o.Value("upper"),
			fmt.Sprintf("A buffer lives from lower to before upper, which is above lower (%d).", b.Start))
	}
	addr := alloc.NoAddr
	if o.Value("addr") != nil {
		addr = o.Size("addr")
	}
	took := o.Size("took")
	if o.Value("took") != nil && took < b.Bytes {
		o.Wrong("took", o.Value("took"), fmt.Sprintf("A buffer takes at least its size (%d).", b.Bytes))
	}
	r.Add(b, forever, addr, took)
}

// readLayout reads the addresses of the buffers, if the file has them.
func readLayout(o *jsonfile.Object, m *profiles.Memory, r *parse.BufferReader, poll *engine.Poll) {
	m.Before = min(m.Before, len(m.Requests.Events))
	placed := slices.ContainsFunc(r.Addr, func(a engine.Bytes) bool { return a != alloc.NoAddr })
	if !placed && o.Value("failed") == nil { // the very first request may have failed
		return
	}
	l := &alloc.Layout{Addr: r.Addr, Runs: 1, Bound: m.Requests.AggregatePeak(), Failed: readFailure(o, m.Requests)}
	if slices.ContainsFunc(r.Took, func(n engine.Bytes) bool { return n > 0 }) {
		l.Took = r.Took
	}
	for i, b := range m.Requests.Buffers {
		switch {
		case l.Took == nil:
		case l.Addr[i] == alloc.NoAddr:
			l.Took[i] = 0 // a failed request occupies nothing
		case l.Took[i] == 0:
			l.Took[i] = b.Bytes
		}
		size := b.Bytes
		if l.Took != nil {
			size = l.Took[i]
		}
		if l.Addr[i] != alloc.NoAddr {
			l.Pool = max(l.Pool, l.Addr[i]+size)
		} else if l.Failed == nil || i != l.Failed.Buffer && b.Start < m.Requests.Buffers[l.Failed.Buffer].Start {
			o.Errs.Add(&profiles.FormatError{Path: fmt.Sprintf("buffers[%d].addr", i),
				Found:    "addr is missing, and other buffers have one",
				Expected: "Either all buffers have an address or none; only what failed, and what came after it, may lack one.", Remedy: "Add the address, or remove all."})
		}
	}
	l.Pool = max(l.Pool, o.Size("pool"))
	eachObject(o, "reserved", poll, func(v *jsonfile.Object) {
		l.Reserved = append(l.Reserved, alloc.Level{Event: int(v.Count("event", parse.Events)), Bytes: v.Size("bytes")})
	})
	if l.Reserved == nil {
		l.Reserved = []alloc.Level{{Event: 0, Bytes: l.Pool}}
	}
	eachObject(o, "segments", poll, func(v *jsonfile.Object) {
		m.Segments = append(m.Segments, profiles.Segment{Addr: v.Size("addr"), Size: v.Size("size"),
			From: int(v.Count("from", parse.Events)), To: int(v.Count("to", parse.Events))})
	})
	m.Recorded = l
}

// readFailure reads the failed request; it returns nil if the file has none.
func readFailure(o *jsonfile.Object, q *alloc.Requests) *alloc.Failure {
	if o.Value("failed") == nil {
		return nil
	}
	v := o.Object("failed")
	f := &alloc.Failure{Event: int(v.Count("event", parse.Events)), Bytes: v.Size("bytes"), Largest: v.Size("largest"),
		Free: v.Size("free"), Unreserved: v.Size("unreserved")}
	if f.Event >= len(q.Events) || q.Events[f.Event].Free {
		v.Wrong("event", v.Value("event"),
			fmt.Sprintf("The number of a request is expected; there are %d events, counted from 0.", len(q.Events)))
		return nil
	}
	f.Buffer = q.Events[f.Event].Buffer
	return f
}

// eachObject calls visit with the objects of a list, if the file has it.
func eachObject(o *jsonfile.Object, list string, poll *engine.Poll, visit func(v *jsonfile.Object)) {
	each(o, list, parse.MaxBuffers, poll, func(i int, item any) {
		v := o.Item(list, i, item, &jsonfile.Keys{}, jsonfile.AnObject)
		o.Errs.Fail(o.Errs.Budget.Memory(v.Path, parse.BufferRoom))
		visit(v)
	})
}

// each calls visit with the items of a list of at most most items, if the file has it.
func each(o *jsonfile.Object, list string, most int, poll *engine.Poll, visit func(i int, item any)) {
	if o.EachIn(list, most, poll, visit) {
		return
	}
	if v := o.Value(list); v != nil {
		o.Wrong(list, v, "A list [ ] is expected.")
	}
}

// fileBuffer is a buffer in a file.
type fileBuffer struct {
	ID    int           `json:"id"`
	Name  string        `json:"name,omitempty"`
	Lower int           `json:"lower"`
	Upper *int          `json:"upper,omitempty"`
	Size  engine.Bytes  `json:"size"`
	Addr  *engine.Bytes `json:"addr,omitempty"`
	Took  engine.Bytes  `json:"took,omitempty"`
	Role  string        `json:"role,omitempty"`
	High  bool          `json:"high,omitempty"`
}

// memory writes a file of kind buffers.
func (e *writer) memory(p *profiles.Profile) {
	m := p.Memory
	e.frame(p, "buffers")
	if m.Capacity > 0 {
		e.field(newLine, "capacity", m.Capacity)
	}
	if m.Before > 0 {
		e.field(newLine, "before", m.Before)
	}
	ends := make([]bool, len(m.Requests.Buffers))
	for _, v := range m.Requests.Events {
		ends[v.Buffer] = ends[v.Buffer] || v.Free
	}
	e.list("buffers", len(m.Requests.Buffers), func(i int) any { return bufferOf(m, i, ends[i]) })
	l := m.Recorded
	if l == nil {
		return
	}
	e.field(newLine, "pool", l.Pool)
	e.field(newLine, "reserved", append([]alloc.Level{}, l.Reserved...))
	if len(m.Segments) > 0 {
		e.list("segments", len(m.Segments), func(i int) any { return m.Segments[i] })
	}
	if f := l.Failed; f != nil {
		e.field(newLine, "failed", struct {
			Event      int          `json:"event"`
			Bytes      engine.Bytes `json:"bytes"`
			Largest    engine.Bytes `json:"largest"`
			Free       engine.Bytes `json:"free"`
			Unreserved engine.Bytes `json:"unreserved"`
		}{f.Event, f.Bytes, f.Largest, f.Free, f.Unreserved})
	}
}

func bufferOf(m *profiles.Memory, i int, ends bool) fileBuffer {
	b, l := &m.Requests.Buffers[i], m.Recorded
	out := fileBuffer{ID: i, Name: b.Name, Lower: b.Start, Size: b.Bytes, High: b.High}
	if ends {
		out.Upper = &b.End
	}
	if l != nil && l.Addr[i] != alloc.NoAddr {
		out.Addr = &l.Addr[i]
	}
	if l != nil && l.Took != nil && l.Took[i] > b.Bytes {
		out.Took = l.Took[i]
	}
	if b.Kind != sim.Activation {
		out.Role = bufferRoles[b.Kind]
	}
	return out
}
