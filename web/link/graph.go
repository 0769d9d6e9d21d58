package link

import (
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// The body of a graph, layout graphVersion, holds values and operations in columns like those of stages, and the inputs
// and outputs of operations as a run of references. A reference is the distance from the value that was made last or,
// for a distant value, from the distant value before. Repeated blocks of a network are then repeated bytes, in both the
// forward and the backward, which deflate stores once.

// near is the largest distance, exclusive, of a reference from the value that was made last.
const near = 48

// The numbers of columns of values and of operations.
const (
	valueColumns = 5
	opColumns    = 9
)

// valueNumbers returns the columns of value i: everything but its name.
func valueNumbers(v *engine.Value, i int) [valueColumns]int64 {
	part := int64(0) // the distance to PartOf; 0 for none
	if v.PartOf != engine.NoValue {
		part = int64(v.PartOf) - int64(i)
	}
	return [...]int64{int64(v.Kind), int64(v.Size), int64(v.Stage), int64(v.Initial), part}
}

// opNumbers returns the columns of an operation: everything but its name and its references.
func opNumbers(o *engine.Op) [opColumns]int64 {
	alt, only := int64(0), int64(0) // only is 1 for a list that is empty but not nil
	once := int64(o.Lane)<<1 | int64(len(o.After))<<3
	if o.Once {
		once |= 1
	}
	if o.Alt != nil {
		alt = 1
	}
	if o.OutputOnly != nil {
		only = int64(len(o.OutputOnly)) + 1
	}
	return [...]int64{int64(o.Pass), int64(o.Stage), int64(o.Time), int64(o.Temp), once, alt, int64(len(o.In)),
		int64(len(o.Out)), only}
}

// encodeGraph returns the body of a graph profile.
func encodeGraph(p *profiles.Profile) []byte {
	g := p.Graph
	w := &writer{pack: newPacker()}
	w.about(p)
	for _, n := range [...]uint64{uint64(p.Batch), uint64(g.Fixed), uint64(g.Done + 1), uint64(g.Stages),
		uint64(len(g.Values)), uint64(len(g.Ops))} {
		w.uint(n)
	}
	values, ops := make([]string, len(g.Values)), make([]string, len(g.Ops))
	var ofValues [valueColumns][]int64
	for i := range g.Values {
		values[i] = g.Values[i].Name
		for col, n := range valueNumbers(&g.Values[i], i) {
			ofValues[col] = append(ofValues[col], n)
		}
	}
	var ofOps [opColumns][]int64
	var alts [2][]int64
	for i := range g.Ops {
		o := &g.Ops[i]
		ops[i] = o.Name
		for col, n := range opNumbers(o) {
			ofOps[col] = append(ofOps[col], n)
		}
		if o.Alt != nil {
			alts[0], alts[1] = append(alts[0], int64(o.Alt.Time)), append(alts[1], int64(o.Alt.Temp))
		}
	}
	w.names(values, true)
	w.names(ops, true)
	for _, table := range [...][][]int64{ofValues[:], ofOps[:], alts[:]} {
		for _, column := range table {
			if len(column) > 0 {
				w.column(nil, column)
			}
		}
	}
	var r references
	for i := range g.Ops {
		for _, list := range [...][]engine.ValueID{g.Ops[i].Out, g.Ops[i].OutputOnly, g.Ops[i].In} {
			for _, v := range list {
				w.uint(r.code(v))
			}
		}
		r.made(g.Ops[i].Out)
		for _, a := range g.Ops[i].After {
			w.uint(uint64(i) - uint64(a))
		}
	}
	return w.b
}

// references is the state of a run of references: the value after the one that was made last,
// and the last distant value.
type references struct{ next, far int64 }

// code encodes a reference to v and updates the state.
func (r *references) code(v engine.ValueID) uint64 {
	if back := r.next - int64(v); back >= 0 && back < near {
		return uint64(back) << 1
	}
	step := int64(v) - r.far
	r.far = int64(v)
	return uint64(step<<1^step>>63)<<1 | 1
}

// value decodes a reference and updates the state as code does.
func (r *references) value(code uint64) int64 {
	n := int64(code >> 1)
	if code&1 == 0 {
		return r.next - n
	}
	r.far += n>>1 ^ -(n & 1)
	return r.far
}

// made updates the state after an operation that made the values out.
func (r *references) made(out []engine.ValueID) {
	if len(out) > 0 {
		r.next = int64(out[len(out)-1]) + 1
	}
}

func decodeGraph(b []byte, budget *profiles.Budget) (*profiles.Profile, error) {
	r := &bodyReader{b: b, budget: budget}
	p := r.about()
	g := &engine.Graph{}
	p.Graph, p.Batch = g, int(r.uint())
	g.Fixed, g.Done = engine.Bytes(r.uint()), engine.ValueID(r.small(1<<31-1))-1
	g.Stages = r.small(parse.MaxGraph)
	values, ops := r.small(parse.MaxGraph), r.small(parse.MaxGraph)
	if e := budget.Memory("the operations", values*128+ops*320); e != nil {
		r.refuse(e)
	}
	names, opNames := r.names("the name of value", values, true), r.names("the name of operation", ops, true)
	g.Values, g.Ops = r.values(names), r.ops(opNames)
	var run references
	for i := range g.Ops {
		o := &g.Ops[i]
		for _, list := range [...][]engine.ValueID{o.Out, o.OutputOnly, o.In} {
			for j := range list {
				list[j] = engine.ValueID(r.within(run.value(r.uint()), len(g.Values)-1))
			}
		}
		run.made(o.Out)
		for j := range o.After {
			o.After[j] = engine.OpID(i - r.small(i))
		}
	}
	return r.ended(p, g.Validate)
}

// within returns n if it is from 0 to most. Otherwise it marks the body as bad and returns 0.
func (r *bodyReader) within(n int64, most int) int {
	if n < 0 || n > int64(most) {
		r.fail()
		return 0
	}
	return int(n)
}

// columns reads count columns of n numbers each.
func (r *bodyReader) columns(count, n int) [][]int64 {
	table := make([][]int64, count)
	for col := range table {
		if n > 0 {
			table[col] = r.column(nil, n)
		}
	}
	return table
}

// values reads the values with the given names.
func (r *bodyReader) values(names []string) []engine.Value {
	out, table := make([]engine.Value, len(names)), r.columns(valueColumns, len(names))
	for i := range out {
		v := &out[i]
		*v = engine.Value{Name: names[i], Kind: engine.ValueKind(r.within(table[0][i], int(engine.KindState))),
			Size:    engine.Bytes(table[1][i]),
			Stage:   r.within(table[2][i], parse.MaxGraph),
			Initial: engine.Place(r.within(table[3][i], int(engine.OnDevice|engine.OnHost))),
			PartOf:  engine.NoValue}
		if part := table[4][i]; part != 0 {
			v.PartOf = engine.ValueID(r.within(int64(i)+part, len(out)-1))
		}
	}
	return out
}

// ops reads the operations with the given names. Their lists of references have their lengths,
// but not yet their elements.
func (r *bodyReader) ops(names []string) []engine.Op {
	out, table := make([]engine.Op, len(names)), r.columns(opColumns, len(names))
	left, alts := len(r.b), 0 // left is the most references that can follow, at a byte each
	list := func(n int64) []engine.ValueID {
		size := r.within(n, left)
		if left -= size; size == 0 || r.bad {
			return nil
		}
		return make([]engine.ValueID, size)
	}
	for i := range out {
		o := &out[i]
		*o = engine.Op{Name: names[i], Pass: engine.Pass(r.within(table[0][i], int(engine.Backward))),
			Stage: r.within(table[1][i], parse.MaxGraph),
			Time:  time.Duration(table[2][i]), Temp: engine.Bytes(table[3][i]), Once: table[4][i]&1 == 1,
			Lane: engine.Lane(r.within(table[4][i]>>1&3, int(engine.LaneCPU)))}
		if after := r.within(table[4][i]>>3, left); after > 0 && !r.bad {
			left -= after
			o.After = make([]engine.OpID, after)
		}
		if r.within(table[5][i], 1) == 1 {
			o.Alt = new(engine.Alt)
			alts++
		}
		o.In, o.Out = list(table[6][i]), list(table[7][i])
		if only := table[8][i]; only != 0 {
			if o.OutputOnly = list(only - 1); o.OutputOnly == nil {
				o.OutputOnly = []engine.ValueID{}
			}
		}
	}
	numbers := r.columns(2, alts)
	for i := range out {
		if o := &out[i]; o.Alt != nil {
			alts--
			at := len(numbers[0]) - alts - 1
			o.Alt.Time, o.Alt.Temp = time.Duration(numbers[0][at]), engine.Bytes(numbers[1][at])
		}
	}
	return out
}
