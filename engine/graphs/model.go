package graphs

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// kindID is a kind of run. A kind below the number of operations is the full run of
// the operation of that number in its first way; output-only runs and second algorithms follow.
type kindID = int32

const none = int32(-1)

// kind is a way to run an operation, or a transfer (see linked).
type kind struct {
	op     int32
	what   engine.InstructionKind
	reads  []int32
	writes []int32 // values that take their room when it starts
	serves []serve // what can be read when it ends
	time   time.Duration
	bytes  engine.Bytes // of what it writes
	temp   engine.Bytes
	lean   bool // it is an output-only run
	alt    bool // it is the second algorithm
}

// serve says that readers of a value are served by one of the writes of a kind.
type serve struct{ value, write int32 }

// model is a graph whose values are made by one operation each. The operation
// number len(ops) is the source of what is there at the start, and the one after it
// the sink, which holds to the end what has to stay.
type model struct {
	g      *engine.Graph
	ops    int
	kinds  []kind
	lean   []kindID   // of every operation its output-only run in the first way, or none
	ways   [][]kindID // of every operation all its kinds, the full run in the first way first
	in     [][]int32  // of every operation, with source and sink: what it reads, each once
	users  [][]int32  // of every value: operations that have to run and read it
	maker  []int32    // of every value: the operation that makes it, or none
	size   []engine.Bytes
	needed []bool        // operations that have to run
	once   []bool        // operations that never run again
	order  []int32       // needed operations in the order in which they stand
	base   time.Duration // of all needed operations, each once in its fastest way
	runs   int           // how many kinds are runs; those of transfers follow
	reads  int           // how many kinds may read: all but fetches, which come last
	*moves               // nil if nothing moves
}

func (m *model) source() int32 { return int32(m.ops) }
func (m *model) sink() int32   { return int32(m.ops) + 1 }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{engine.ErrUnsupported}, args...)...)
}

// newModel reads a graph, without the second algorithms of its operations. Its errors wrap
// engine.ErrUnsupported.
func newModel(g *engine.Graph) (*model, error) { return read(g, false) }

// newModelOfWays reads a graph with the second algorithms of its operations.
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

// findMakers finds the one operation that makes each value.
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

// readInputs resolves what operations read to values that are made.
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

// findNeeded finds the operations that have to run: what Done needs, or all.
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

// listKinds lists the full runs of operations, of source and sink, then the
// output-only runs and second algorithms. Those of source and sink have their numbers too.
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
		isLean := op.OutputOnly != nil && (g.Done == engine.NoValue || m.maker[g.Done] != int32(i))
		if isLean {
			k := full
			k.lean, m.lean[i] = true, kindID(len(m.kinds))
			m.add(k, op.OutputOnly)
		}
		if !ways || op.Alt == nil {
			continue
		}
		full.alt, full.time, full.temp = true, op.Alt.Time, op.Alt.Temp
		m.add(full, op.Out)
		if isLean {
			full.lean = true
			m.add(full, op.OutputOnly)
		}
	}
	m.runs, m.reads = len(m.kinds), len(m.kinds)
}

// add adds a kind of run that makes some values.
func (m *model) add(k kind, out []engine.ValueID) {
	k.reads = m.in[k.op]
	for w, id := range out {
		v := int32(id)
		k.writes, k.serves = append(k.writes, v), append(k.serves, serve{v, int32(w)})
		k.bytes += m.size[v]
	}
	// What is within a write, and made by the other kind of run alone.
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

// write returns the index of the write of a kind that serves readers of v; none if the
// kind does not.
func (k *kind) write(v int32) int32 {
	for _, s := range k.serves {
		if s.value == v {
			return s.write
		}
	}
	return none
}

// whole returns the model without output-only runs and second algorithms. Its kinds are full runs of this one.
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

// least returns the time of the fastest way to run an operation.
func (m *model) least(i int32) time.Duration {
	least := m.kinds[i].time
	for _, id := range m.ways[i] {
		least = min(least, m.kinds[id].time)
	}
	return least
}

// slim returns the kind that makes the same as another with the smallest workspace.
func (m *model) slim(id kindID) kindID {
	for _, other := range m.ways[m.kinds[id].op] {
		if k := &m.kinds[other]; k.lean == m.kinds[id].lean && k.temp < m.kinds[id].temp {
			id = other
		}
	}
	return id
}

// of returns the kind of a run of a schedule; none if there is no such run.
func (m *model) of(st engine.Instruction) kindID {
	for _, id := range m.ways[st.Op] {
		if k := &m.kinds[id]; k.lean == st.OutputOnly && k.alt == st.Alt {
			return id
		}
	}
	return none
}

// varied reports whether any operation has several kinds of runs.
func (m *model) varied() bool { return m.runs > m.ops+2 }

// footprint returns what the operation with the largest needs cannot do without, and
// that operation: what it reads in the smallest copies, writes and uses besides. No
// schedule has a smaller peak. NoOp stands for what is there at the start.
func (m *model) footprint() (most engine.Bytes, at engine.OpID) {
	most, at = m.g.Fixed+m.kinds[m.source()].bytes, engine.NoOp
	for _, i := range m.order {
		need := m.g.Fixed + m.kinds[i].temp + m.kinds[i].bytes
		for _, id := range m.ways[i] {
			need = min(need, m.g.Fixed+m.kinds[id].temp+m.kinds[id].bytes)
		}
		for _, v := range m.in[i] {
			need += m.size[v] // a value within another has its own copy at best
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

// nested returns what an operation reads that is within something else that it reads.
func (m *model) nested(i int32) (sum engine.Bytes) {
	for _, v := range m.in[i] {
		if slices.Contains(m.in[i], int32(m.g.Values[v].PartOf)) {
			sum += m.size[v]
		}
	}
	return sum
}
