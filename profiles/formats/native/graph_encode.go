package native

import (
	"strconv"

	"memtide/engine"
	"memtide/profiles"
)

// graphFile writes the kind graph.
func (e *writer) graphFile(p *profiles.Profile) {
	e.frame(p, "graph")
	e.resident(engine.Resident{Pinned: p.Graph.Fixed})
	e.graph(p.Graph)
}

// graph writes the fields of a graph, but for what is fixed.
func (e *writer) graph(g *engine.Graph) {
	usual := usualPlaces(g)
	e.list(newLine, "values", len(g.Values), newLine+" ", func(i int) { e.value(engine.ValueID(i), &g.Values[i], usual[i]) })
	e.list(newLine, "ops", len(g.Ops), newLine+" ", func(i int) { e.op(&g.Ops[i]) })
	if g.Done != engine.NoValue {
		e.int(newLine, "done", int64(g.Done))
	}
}

func (e *writer) value(id engine.ValueID, v *engine.Value, usual engine.Place) {
	e.open('{')
	e.int("", "id", int64(id))
	e.text("name", v.Name)
	e.int("", "bytes", int64(v.Size))
	role := roles[v.Kind].word
	if v.Kind == engine.KindActivation && v.Initial == engine.OnDevice {
		role, usual = roleInput, engine.OnDevice
	}
	e.text("role", role)
	if v.Initial != usual {
		e.text("at", places[v.Initial])
	}
	if v.PartOf != engine.NoValue {
		e.int("", "within", int64(v.PartOf))
	}
	e.int("", "stage", int64(v.Stage))
	e.close('}')
}

func (e *writer) op(op *engine.Op) {
	e.open('{')
	e.text("name", op.Name)
	e.text("pass", [...]string{"forward", "backward"}[op.Pass])
	e.seconds("time_s", op.Time)
	e.int("", "temp_bytes", int64(op.Temp))
	if op.Lane != engine.LaneCompute {
		e.text("lane", engine.LaneNames[op.Lane])
	}
	refs(e, "after", op.After)
	refs(e, "in", op.In)
	refs(e, "out", op.Out)
	if refs(e, "lean", op.OutputOnly); op.OutputOnly != nil && len(op.OutputOnly) == 0 {
		e.list("", "lean", 0, "", nil) // there is such a run, and it writes nothing
	}
	if op.Once {
		e.yes("once")
	}
	if op.Alt != nil {
		e.key("", "alt")
		e.open('{')
		e.seconds("time_s", op.Alt.Time)
		e.int("", "temp_bytes", int64(op.Alt.Temp))
		e.close('}')
	}
	e.int("", "stage", int64(op.Stage))
	e.close('}')
}

func refs[ID engine.ValueID | engine.OpID](e *writer, key string, ids []ID) {
	if len(ids) > 0 {
		e.list("", key, len(ids), "", func(i int) { e.buf.WriteString(strconv.Itoa(int(ids[i]))) })
	}
}
