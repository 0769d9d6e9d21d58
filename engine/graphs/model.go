package graphs

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// kindID is the number of a kind of run. Below the number of operations, it is the full run of the operation of
// that number by its first algorithm. Output-only runs and second algorithms follow.
type kindID = int32

// none is the index of nothing.
const none = int32(-1)

// kind is a way to run an operation, or a transfer (see linked).
type kind struct {
	op     int32
	what   engine.InstructionKind
	reads  []int32
	writes []int32 // values that are allocated when it starts
	serves []serve // values that can be read when it ends
	time   time.Duration
	bytes  engine.Bytes // size of writes
	temp   engine.Bytes
	lean   bool // an output-only run
	alt    bool // a run by the second algorithm
}

// serve means that reads of value are served by writes[write] of a kind.
type serve struct{ value, write int32 }

// model is a graph whose values are made by one operation each. Operation len(ops) is the source of the values that
// are on the device at the start. The one after it is the sink, which reads at the end what has to stay.
type model struct {
	g      *engine.Graph
	ops    int
	kinds  []kind
	lean   []kindID   // by operation: its output-only run by the first algorithm, or none
	ways   [][]kindID // by operation: all its kinds, the full run by the first algorithm first
	in     [][]int32  // by operation, with source and sink: the values that it reads, without repetition
	users  [][]int32  // by value: needed operations that read it
	maker  []int32    // by value: the operation that makes it, or none
	size   []engine.Bytes
	needed []bool        // by operation: it has to run
	once   []bool        // by operation: it must not run again
	order  []int32       // needed operations in the order of the graph
	base   time.Duration // time of all needed operations, each once by its fastest kind
	runs   int           // number of kinds that are runs; those of transfers follow
	reads  int           // number of kinds that may read: all but fetches, which are last
	*moves               // nil without transfers
}

func (m *model) source() int32 { return int32(m.ops) }
func (m *model) sink() int32   { return int32(m.ops) + 1 }

// unsupported returns an error that wraps engine.ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{engine.ErrUnsupported}, args...)...)
}

// newModel returns the model of a graph, without the second algorithms of its operations. Its errors wrap
// engine.ErrUnsupported.
func newModel(g *engine.Graph) (*model, error) { return read(g, false) }

// newModelOfWays returns the model of a graph with the second algorithms of its operations.
func newModelOfWays(g *engine.Graph) (*model, error) { return read(g, true) }

func read(g *engine.Graph, ways bool) (*model, error) {
	n := len(g.Ops)
	m := &model{g: g, ops: n, lean: slices.Repeat([]kindID{none}, n+2),
		ways: make([][]kindID, n+2), in: make([][]int32, n+2),
		users: make([][]int32, len(g.Values)),
		maker: make([]int32, len(g.Values)),
		size:  make([]engine.Bytes, len(g.Values)), needed: make([]bool, n+2), once: make([]bool, n+2)}
	for v := range g.Values {
		m.maker[v], m.size[v] = none, g.Values[v].Size
		if g.Values[v].Initial&engine.OnDevice != 0 {
			m.maker[v] = m.source()
		}
	}
	if err := m.findMakers(); err != nil {
		return nil, err
	}
	if err := m.readInputs(); err != nil {
		return nil, err
	}
	if err := m.findNeeded(); err != nil {
		return nil, err
	}
	m.listKinds(ways)
	for _, i := range m.order {
		m.base += m.least(i)
	}
	return m, nil
}

// findMakers sets the operation that makes each value.
func (m *model) findMakers() error {
	g := m.g
	for i := range g.Ops {
		op := &g.Ops[i]
		for k, v := range op.Out {
			if slices.Contains(op.Out[:k], v) || m.maker[v] == int32(i) {
				return unsupported("%s makes %s twice", op.Name, g.Values[v].Name)
			}
			if m.maker[v] != none {
				return unsupported("%s is made by %s, and is there before; methods for graphs take values that are made once", g.Values[v].Name, op.Name)
			}
			m.maker[v] = int32(i)
		}
		for _, v := range op.OutputOnly {
			if w := g.Values[v].PartOf; !slices.Contains(op.Out, v) &&
				(m.maker[v] != none || !slices.Contains(op.Out, w)) {
				return unsupported("%s makes %s in one kind of run only", op.Name, g.Values[v].Name)
			}
			m.maker[v] = int32(i)
		}
	}
	for v := range g.Values {
		w := g.Values[v].PartOf
		if w == engine.NoValue || m.maker[v] == none || m.maker[w] == none {
			continue
		}
		if i := m.maker[v]; i == m.source() || slices.Contains(g.Ops[i].Out, engine.ValueID(v)) || m.maker[w] != i {
			return unsupported("%s is made by itself and as a part of %s", g.Values[v].Name, g.Values[w].Name)
		}
	}
	return nil
}

// readInputs sets the values that operations read. A value that is not made stands for the one that it is within.
func (m *model) readInputs() error {
	for i := range m.g.Ops {
		op := &m.g.Ops[i]
		for _, id := range op.In {
			v := id
			for v != engine.NoValue && m.maker[v] == none {
				v = m.g.Values[v].PartOf
			}
			switch {
			case v == engine.NoValue && m.g.Values[id].Initial&engine.OnHost != 0:
				return unsupported("%s is on the host, from where only methods that offload fetch it",
					m.g.Values[id].Name)
			case v == engine.NoValue:
				return unsupported("%s reads %s, which nothing makes", op.Name, m.g.Values[id].Name)
			case m.maker[v] == int32(i):
				return unsupported("%s reads %s, which it makes: it works in place", op.Name, m.g.Values[id].Name)
			case m.maker[v] != m.source() && m.maker[v] > int32(i):
				return unsupported("%s reads %s, which no operation before it makes", op.Name, m.g.Values[id].Name)
			}
			if !slices.Contains(m.in[i], int32(v)) {
				m.in[i] = append(m.in[i], int32(v))
			}
		}
	}
	return nil
}

// findNeeded sets the operations that have to run: those that Done needs, or all.
func (m *model) findNeeded() error {
	g := m.g
	if g.Done == engine.NoValue {
		for i := range g.Ops {
			m.needed[i] = true
		}
	} else {
		i := m.maker[g.Done]
		if i == none || i == m.source() || !slices.Contains(g.Ops[i].Out, g.Done) {
			return unsupported("the step is complete with %s, which no operation makes", g.Values[g.Done].Name)
		}
		m.needed[i] = true
		for ; i >= 0; i-- {
			for _, v := range m.in[i] {
				if m.needed[i] && m.maker[v] != m.source() {
					m.needed[m.maker[v]] = true
				}
			}
		}
	}
	for i := range g.Ops {
		m.once[i] = g.Ops[i].Pass == engine.Backward || g.Ops[i].Once
		if !m.needed[i] {
			continue
		}
		m.order = append(m.order, int32(i))
		for _, v := range m.in[i] {
			m.users[v] = append(m.users[v], int32(i))
		}
	}
	for v := range g.Values {
		if i := m.maker[v]; g.Values[v].Kind == engine.KindWeight && i != none &&
			(i == m.source() || m.needed[i] && slices.Contains(g.Ops[i].Out, engine.ValueID(v))) {
			m.in[m.sink()] = append(m.in[m.sink()], int32(v))
			m.users[v] = append(m.users[v], m.sink())
		}
	}
	return nil
}

// listKinds lists the full runs of operations, source and sink, then the output-only runs and, with ways, the
// second algorithms.
func (m *model) listKinds(ways bool) {
	g := m.g
	var initial []engine.ValueID
	for v := range g.Values {
		if m.maker[v] == m.source() {
			initial = append(initial, engine.ValueID(v))
		}
	}
	for i := range g.Ops {
		m.add(kind{op: int32(i), time: g.Ops[i].Time, temp: g.Ops[i].Temp}, g.Ops[i].Out)
	}
	m.add(kind{op: m.source()}, initial)
	m.add(kind{op: m.sink()}, nil)
	for i := range g.Ops {
		op := &g.Ops[i]
		full := kind{op: int32(i), time: op.Time, temp: op.Temp}
		// Only a full run makes Done.
		hasLean := op.OutputOnly != nil && (g.Done == engine.NoValue || m.maker[g.Done] != int32(i))
		if hasLean {
			k := full
			k.lean, m.lean[i] = true, kindID(len(m.kinds))
			m.add(k, op.OutputOnly)
		}
		if !ways || op.Alt == nil {
			continue
		}
		full.alt, full.time, full.temp = true, op.Alt.Time, op.Alt.Temp
		m.add(full, op.Out)
		if hasLean {
			full.lean = true
			m.add(full, op.OutputOnly)
		}
	}
	m.runs, m.reads = len(m.kinds), len(m.kinds)
}

// add adds a kind of run that makes the values out.
func (m *model) add(k kind, out []engine.ValueID) {
	k.reads = m.in[k.op]
	for w, id := range out {
		v := int32(id)
		k.writes, k.serves = append(k.writes, v), append(k.serves, serve{v, int32(w)})
		k.bytes += m.size[v]
	}
	// Values within a write that only the other kind of run makes.
	if int(k.op) < m.ops {
		for _, v := range m.g.Ops[k.op].OutputOnly {
			if w := slices.Index(out, m.g.Values[v].PartOf); w >= 0 && !slices.Contains(out, v) {
				k.serves = append(k.serves, serve{int32(v), int32(w)})
			}
		}
	}
	m.ways[k.op] = append(m.ways[k.op], kindID(len(m.kinds)))
	m.kinds = append(m.kinds, k)
}

// write returns the index of the write that serves reads of v, or none.
func (k *kind) write(v int32) int32 {
	for _, s := range k.serves {
		if s.value == v {
			return s.write
		}
	}
	return none
}

// whole returns the model without output-only runs and second algorithms. Its kinds have the same numbers in m.
func (m *model) whole() *model {
	if !m.varied() {
		return m
	}
	g := *m.g
	g.Ops = slices.Clone(g.Ops)
	for i := range g.Ops {
		g.Ops[i].OutputOnly = nil
	}
	w, err := newModel(&g)
	if err != nil {
		panic("graphs: without output-only runs: " + err.Error())
	}
	return w
}

// least returns the time of the fastest kind of an operation.
func (m *model) least(i int32) time.Duration {
	least := m.kinds[i].time
	for _, id := range m.ways[i] {
		least = min(least, m.kinds[id].time)
	}
	return least
}

// slim returns the kind that makes the same values with the smallest workspace.
func (m *model) slim(id kindID) kindID {
	for _, other := range m.ways[m.kinds[id].op] {
		if k := &m.kinds[other]; k.lean == m.kinds[id].lean && k.temp < m.kinds[id].temp {
			id = other
		}
	}
	return id
}

// kindOf returns the kind of a run of a schedule, or none.
func (m *model) kindOf(st engine.Instruction) kindID {
	for _, id := range m.ways[st.Op] {
		if k := &m.kinds[id]; k.lean == st.OutputOnly && k.alt == st.Alt {
			return id
		}
	}
	return none
}

// varied reports whether any operation has several kinds of runs.
func (m *model) varied() bool { return m.runs > m.ops+2 }

// footprint returns a lower bound on the peak of all schedules, and the operation that needs it: what the operation
// reads in the smallest copies, writes and uses in addition. The operation is NoOp if the start of the step needs
// the most.
func (m *model) footprint() (most engine.Bytes, at engine.OpID) {
	most, at = m.g.Fixed+m.kinds[m.source()].bytes, engine.NoOp
	for _, i := range m.order {
		need := m.g.Fixed + m.kinds[i].temp + m.kinds[i].bytes
		for _, id := range m.ways[i] {
			need = min(need, m.g.Fixed+m.kinds[id].temp+m.kinds[id].bytes)
		}
		for _, v := range m.in[i] {
			need += m.size[v] // for a value within another, at best its own copy
		}
		for _, v := range m.in[m.sink()] {
			if m.maker[v] == m.source() && !slices.Contains(m.in[i], v) {
				need += m.size[v]
			}
		}
		if m.varied() {
			need -= m.nested(i)
		}
		if need > most {
			most, at = need, engine.OpID(i)
		}
	}
	return most, at
}

// nested returns the size of the values read by an operation that are within another value that it reads.
func (m *model) nested(i int32) (sum engine.Bytes) {
	for _, v := range m.in[i] {
		if slices.Contains(m.in[i], int32(m.g.Values[v].PartOf)) {
			sum += m.size[v]
		}
	}
	return sum
}
