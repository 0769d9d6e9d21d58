package profiles

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
)

// bufferRoles are the words for what a buffer is, by category.
var bufferRoles = [sim.NumCategories]string{"weight", "gradient", "activation", "recomputed", "transfer", "workspace"}

func readBuffers(o *jsonObject, p *Profile, poll *engine.Poll) error {
	m := &Memory{Capacity: o.size("capacity"), Before: int(o.count("before", events))}
	r, keys := &bufferReader{errs: o.errs}, &knownKeys{}
	if err := readRows(r, o, keys, poll); err != nil {
		return err
	}
	if err := r.requests(m); err != nil {
		return err
	}
	if err := readLayout(o, m, r, poll); err != nil {
		return err
	}
	if err := o.errs.err(); err != nil {
		return err
	}
	p.Memory = m
	p.Warnings = append(p.Warnings, keys.warning("in buffers")...)
	return nil
}

func readRows(r *bufferReader, o *jsonObject, keys *knownKeys, poll *engine.Poll) error {
	found, err := o.eachIn("buffers", maxBuffers, poll, func(i int, v any) error {
		row := &jsonObject{path: fmt.Sprintf("buffers[%d]", i), errs: r.errs, known: keys}
		fields, ok := v.(map[string]any)
		if !ok {
			r.errs.add(&FormatError{Path: row.path, Found: row.path + " is " + jsonText(v), Expected: "An object with lower, upper and size is expected.",
				Remedy: "Correct the list of buffers."})
			return nil
		}
		row.fields = fields
		readRow(r, row)
		row.noteOthers()
		return nil
	})
	if err != nil {
		return err
	}
	if !found {
		return r.errs.fail(&FormatError{Path: "buffers", Found: "buffers is missing or no list",
			Expected: "A list of buffers is expected.", Remedy: `Write "buffers": [{"lower": 0, "upper": 3, "size": 4096}, ...].`})
	}
	return r.errs.err()
}

func readRow(r *bufferReader, o *jsonObject) {
	b := alloc.Buffer{Name: o.text("name"), Bytes: o.size("size"), Start: int(o.count("lower", moments)), Kind: sim.Activation, High: o.flag("high")}
	if _, ok := o.value("id").(string); ok && b.Name == "" {
		b.Name = o.text("id")
	}
	for _, key := range []string{"lower", "size"} {
		if o.value(key) == nil {
			r.errs.add(&FormatError{Path: o.at(key), Found: key + " is missing", Expected: "Every buffer has lower and size.",
				Remedy: "Add the number."})
		}
	}
	if role := o.text("role"); role != "" {
		k := slices.Index(bufferRoles[:], role)
		if k < 0 {
			o.wrong("role", role, "The roles are weight, gradient, activation, recomputed, transfer and workspace.")
		}
		b.Kind = sim.Category(max(k, 0))
	}
	forever := o.value("upper") == nil
	if b.End = int(o.count("upper", moments)); !forever && b.End <= b.Start && r.errs.err() == nil {
		o.wrong("upper", o.value("upper"), fmt.Sprintf("A buffer lives from lower to before upper, which is above lower (%d).", b.Start))
	}
	addr := alloc.NoAddr
	if o.value("addr") != nil {
		addr = o.size("addr")
	}
	took := o.size("took")
	if o.value("took") != nil && took < b.Bytes {
		o.wrong("took", o.value("took"), fmt.Sprintf("A buffer takes at least its size (%d).", b.Bytes))
	}
	r.add(b, forever, addr, took)
}

// readLayout reads where the buffers lie, if the file says so.
func readLayout(o *jsonObject, m *Memory, r *bufferReader, poll *engine.Poll) error {
	m.Before = min(m.Before, len(m.Requests.Events))
	if !slices.ContainsFunc(r.addr, func(a engine.Bytes) bool { return a != alloc.NoAddr }) {
		return nil
	}
	l := &alloc.Layout{Addr: r.addr, Runs: 1, Bound: m.Requests.AggregatePeak(), Failed: readFailure(o, m.Requests)}
	if slices.ContainsFunc(r.took, func(n engine.Bytes) bool { return n > 0 }) {
		l.Took = r.took
	}
	for i, b := range m.Requests.Buffers {
		if l.Took != nil && l.Took[i] == 0 && l.Addr[i] != alloc.NoAddr {
			l.Took[i] = b.Bytes
		}
		size := b.Bytes
		if l.Took != nil {
			size = l.Took[i]
		}
		if l.Addr[i] != alloc.NoAddr {
			l.Pool = max(l.Pool, l.Addr[i]+size)
		} else if l.Failed == nil || i != l.Failed.Buffer && b.Start < m.Requests.Buffers[l.Failed.Buffer].Start {
			o.errs.add(&FormatError{Path: fmt.Sprintf("buffers[%d].addr", i), Found: "addr is missing, and other buffers have one",
				Expected: "Either all buffers have an address or none; only what failed, and what came after it, may lack one.", Remedy: "Add the address, or remove all."})
		}
	}
	l.Pool = max(l.Pool, o.size("pool"))
	err := eachObject(o, "reserved", poll, func(v *jsonObject) {
		l.Reserved = append(l.Reserved, alloc.Level{Event: int(v.count("event", events)), Bytes: v.size("bytes")})
	})
	if err != nil {
		return err
	}
	if l.Reserved == nil {
		l.Reserved = []alloc.Level{{Event: 0, Bytes: l.Pool}}
	}
	err = eachObject(o, "segments", poll, func(v *jsonObject) {
		m.Segments = append(m.Segments, Segment{Addr: v.size("addr"), Size: v.size("size"), From: int(v.count("from", events)), To: int(v.count("to", events))})
	})
	m.Recorded = l
	return err
}

// readFailure reads the request that found no room; nil if there is none.
func readFailure(o *jsonObject, q *alloc.Requests) *alloc.Failure {
	if o.value("failed") == nil {
		return nil
	}
	v := o.object("failed")
	f := &alloc.Failure{Event: int(v.count("event", events)), Bytes: v.size("bytes"), Largest: v.size("largest"),
		Free: v.size("free"), Unreserved: v.size("unreserved")}
	if f.Event >= len(q.Events) || q.Events[f.Event].Free {
		v.wrong("event", v.value("event"), fmt.Sprintf("The number of a request is expected; there are %d events, counted from 0.", len(q.Events)))
		return nil
	}
	f.Buffer = q.Events[f.Event].Buffer
	return f
}

// eachObject reads a list of objects, if there is one.
func eachObject(o *jsonObject, list string, poll *engine.Poll, visit func(v *jsonObject)) error {
	found, err := o.eachIn(list, maxBuffers, poll, func(i int, item any) error {
		v := &jsonObject{path: fmt.Sprintf("%s[%d]", o.at(list), i), errs: o.errs, known: &knownKeys{}}
		fields, ok := item.(map[string]any)
		if !ok {
			o.errs.add(&FormatError{Path: v.path, Found: v.path + " is " + jsonText(item), Expected: "An object { } is expected.",
				Remedy: "Correct the list of " + list + "."})
		}
		if e := o.errs.budget.Memory(v.path, bufferRoom); e != nil {
			o.errs.stop(e)
			return nil
		}
		v.fields = fields
		visit(v)
		return nil
	})
	if v := o.value(list); !found && v != nil {
		o.wrong(list, v, "A list [ ] is expected.")
	}
	return err
}

// memory writes the kind buffers.
func (e *nativeWriter) memory(p *Profile) {
	m := p.Memory
	e.frame(p, "buffers")
	if m.Capacity > 0 {
		e.int(newLine, "capacity", int64(m.Capacity))
	}
	if m.Before > 0 {
		e.int(newLine, "before", int64(m.Before))
	}
	e.key(newLine, "buffers")
	e.open('[')
	ends := make([]bool, len(m.Requests.Buffers))
	for _, v := range m.Requests.Events {
		ends[v.Buffer] = ends[v.Buffer] || v.Free
	}
	for i := range m.Requests.Buffers {
		e.buffer(m, i, ends[i])
	}
	e.close(']')
	if m.Recorded != nil {
		e.layout(m)
	}
	e.close('}')
	e.buf.WriteByte('\n')
}

func (e *nativeWriter) buffer(m *Memory, i int, ends bool) {
	b, l := &m.Requests.Buffers[i], m.Recorded
	e.comma(newLine + " ")
	e.open('{')
	e.int("", "id", int64(i))
	e.text("", "name", b.Name)
	e.int("", "lower", int64(b.Start))
	if ends {
		e.int("", "upper", int64(b.End))
	}
	e.int("", "size", int64(b.Bytes))
	if l != nil && l.Addr[i] != alloc.NoAddr {
		e.int("", "addr", int64(l.Addr[i]))
	}
	if l != nil && l.Took != nil && l.Took[i] > b.Bytes {
		e.int("", "took", int64(l.Took[i]))
	}
	if b.Kind != sim.Activation {
		e.text("", "role", bufferRoles[b.Kind])
	}
	if b.High {
		e.yes("high")
	}
	e.close('}')
}

// layout writes what Recorded says besides addresses.
func (e *nativeWriter) layout(m *Memory) {
	l := m.Recorded
	e.int(newLine, "pool", int64(l.Pool))
	e.key(newLine, "reserved")
	e.open('[')
	for _, v := range l.Reserved {
		e.comma("")
		e.open('{')
		e.int("", "event", int64(v.Event))
		e.int("", "bytes", int64(v.Bytes))
		e.close('}')
	}
	e.close(']')
	if len(m.Segments) > 0 {
		e.key(newLine, "segments")
		e.open('[')
		for _, s := range m.Segments {
			e.comma(newLine + " ")
			e.open('{')
			e.int("", "addr", int64(s.Addr))
			e.int("", "size", int64(s.Size))
			e.int("", "from", int64(s.From))
			e.int("", "to", int64(s.To))
			e.close('}')
		}
		e.close(']')
	}
	if f := l.Failed; f != nil {
		e.key(newLine, "failed")
		e.open('{')
		e.int("", "event", int64(f.Event))
		e.int("", "bytes", int64(f.Bytes))
		e.int("", "largest", int64(f.Largest))
		e.int("", "free", int64(f.Free))
		e.int("", "unreserved", int64(f.Unreserved))
		e.close('}')
	}
}
