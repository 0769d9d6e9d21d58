// Package minimalloc reads instances of MiniMalloc: buffers that have to be placed.
package minimalloc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/formats/csv"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "minimalloc",
		Title:      "MiniMalloc CSV (id, lower, upper, size)",
		Doc:        "Buffers that have to be placed in a pool: one row each, with a life and a size.",
		Extensions: []string{".csv"},
		Match:      func(head []byte) bool { return miniColumns(head) != nil },
		Decode:     decode,
	})
}

// miniColumns returns the names in the first line, in lower case, or nil if the file is not a MiniMalloc instance.
func miniColumns(head []byte) []string {
	head = bytes.TrimLeft(head, " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if len(line) > 1000 {
		return nil
	}
	columns := strings.Split(strings.ToLower(string(line)), ",")
	for i, c := range columns {
		columns[i] = strings.Trim(strings.TrimSpace(c), `"`)
		if strings.Trim(columns[i], "abcdefghijklmnopqrstuvwxyz_") != "" {
			return nil
		}
	}
	for _, c := range []string{"lower", "upper", "size"} {
		if !slices.Contains(columns, c) {
			return nil
		}
	}
	if csv.Claims(head) { // a table of layers
		return nil
	}
	return columns
}

func decode(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	errs := parse.NewErrors(len(data))
	p := &profiles.Profile{Name: name, Source: profiles.Source{Tool: "MiniMalloc CSV",
		Notes: []string{"The clock of the lives has no unit."}}}
	m := &profiles.Memory{}
	if i := strings.LastIndexByte(name, '.'); i > 0 { // such as A.1048576: a name and a capacity
		if n, e := parse.ByteCount.Read("capacity", name[i+1:]); e == nil && parse.AllDigits(name[i+1:]) {
			p.Name, m.Capacity = name[:i], engine.Bytes(n)
		}
	}
	columns := miniColumns(data)
	p.Warnings = csv.Columns(columns, []string{"id", "lower", "upper", "size", "offset"}, 1, errs)
	r := &parse.BufferReader{Errs: errs}
	readTable(r, columns, data, poll)
	r.Requests(m)
	if slices.Contains(columns, "offset") {
		m.Recorded = &alloc.Layout{Addr: r.Addr, Runs: 1, Bound: m.Requests.AggregatePeak()}
		for i, b := range r.Buffers {
			m.Recorded.Pool = max(m.Recorded.Pool, r.Addr[i]+b.Bytes)
		}
		m.Recorded.Reserved = []alloc.Level{{Event: 0, Bytes: m.Recorded.Pool}}
	}
	p.Memory = m
	return p
}

func readTable(r *parse.BufferReader, columns []string, data []byte, poll *engine.Poll) {
	ids := map[string]int{}
	header := true
	csv.Rows(data, ',', 0, 1, r.Errs, poll, func(line int, row []string) {
		switch {
		case header:
			header = false
			return
		case len(r.Buffers) == parse.MaxBuffers:
			r.Errs.FailAt(line, parse.TooManyBuffers())
		case len(row) != len(columns):
			r.Errs.AddAt(line, &profiles.FormatError{
				Found: fmt.Sprintf("there are %s, the header has %d",
					profiles.Count(len(row), "cell"), len(columns)),
				Expected: "Every line has as many cells as the header.",
				Remedy:   "Fill in the missing cells, or remove the extra ones."})
			return
		}
		ok := true
		number := func(column string, q parse.Quantity) int64 {
			v, e := q.Read(column, row[slices.Index(columns, column)])
			if e != nil {
				ok = false
				r.Errs.AddAt(line, e)
			}
			return v
		}
		b := alloc.Buffer{Kind: sim.Activation, Start: int(number("lower", parse.Moments)),
			End: int(number("upper", parse.Moments)), Bytes: engine.Bytes(number("size", parse.ByteCount))}
		if ok && b.End <= b.Start {
			r.Errs.AddAt(line, &profiles.FormatError{Found: fmt.Sprintf("upper is %d", b.End),
				Expected: fmt.Sprintf("A buffer lives from lower to before upper, which is above lower (%d).", b.Start),
				Remedy:   "Correct the line."})
		}
		if i := slices.Index(columns, "id"); i >= 0 {
			b.Name = r.Errs.ReadName(line, strings.TrimSpace(row[i]))
			if at, twice := ids[b.Name]; twice {
				r.Errs.AddAt(line, &profiles.FormatError{Found: fmt.Sprintf("the id %q appears again, after line %d",
					profiles.Clip(b.Name), at),
					Expected: "Every buffer has an id of its own.", Remedy: "Correct one of the lines."})
			}
			ids[b.Name] = line
		}
		addr := alloc.NoAddr
		if slices.Contains(columns, "offset") {
			addr = engine.Bytes(number("offset", parse.ByteCount))
		}
		r.Add(b, false, addr, 0)
	})
	r.Errs.End()
}
