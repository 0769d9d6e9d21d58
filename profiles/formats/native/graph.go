package native

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// roles holds the words for the kinds of values; the default is an activation.
var roles = [...]string{engine.KindActivation: "activation", engine.KindGradient: "gradient",
	engine.KindWeight: "weight", engine.KindState: "state"}

// roleInput is the role of an activation that is on the device when the step begins; usualPlaces says where the
// others are.
const roleInput = "input"

// refRoom is the memory of a reference to a value while it is decoded, in bytes.
const refRoom = 64

// places lists the words for the place of a value when the step begins.
var places = [...]string{"nowhere", "device", "host", "both"}

// graphReader builds the graph of a native file.
type graphReader struct {
	o       *jsonfile.Object // object that holds the graph
	g       *engine.Graph
	ids     map[string]engine.ValueID
	said    []bool // the file gives the place of the value when the step begins
	written []int  // operation that writes the value; -1 if no operation does
	errs    *parse.Errors
	poll    *engine.Poll
}

func readGraph(o *jsonfile.Object, p *profiles.Profile, poll *engine.Poll) {
	r := &graphReader{o: o, g: &engine.Graph{Done: engine.NoValue,
		Fixed: readResident(o).Total() + o.Size("fixed_bytes")},
		ids: map[string]engine.ValueID{}, errs: o.Errs, poll: poll}
	keys := &jsonfile.Keys{}
	r.readValues(keys)
	r.readOps(keys)
	if o.Value("done") != nil {
		r.g.Done = r.ref(o, "done", o.Value("done"))
	}
	o.Errs.End()
	o.Errs.CheckGraph(r.g)
	r.close()
	if err := r.g.Validate(); err != nil {
		o.Errs.Fail(&profiles.FormatError{Path: "ops", Found: "The graph cannot be used: " + err.Error(),
			Expected: "Operations that read and write the listed values are expected.",
			Remedy:   "Correct the list of operations."})
	}
	p.Graph = r.g
	p.Warnings = append(p.Warnings, keys.Warning("in values and ops")...)
}

// withinRef is a reference from a value to the value that it is within. It is resolved when all values are known.
type withinRef struct {
	index int // index of the value in the list
	id    any
}

func (r *graphReader) readValues(keys *jsonfile.Keys) {
	var within []withinRef
	each(r.o, "values", parse.MaxGraph, r.poll, func(i int, item any) {
		o := r.item("values", i, item, keys)
		id := idText(o.Value("id"))
		if _, taken := r.ids[id]; taken || id == "" {
			o.Wrong("id", o.Value("id"), "Every value has an id of its own, a number or a text.")
			return
		}
		r.ids[id] = engine.ValueID(len(r.g.Values))
		r.readValue(o)
		within = append(within, withinRef{i, o.Value("within")})
		o.NoteOthers()
	})
	for id, w := range within {
		if w.id != nil {
			r.g.Values[id].PartOf = r.ref(r.item("values", w.index, map[string]any{}, keys), "within", w.id)
		}
	}
	for i := range r.g.Values {
		if w := r.g.Values[i].PartOf; w != engine.NoValue && (r.g.Values[w].PartOf != engine.NoValue || int(w) == i) {
			r.item("values", within[i].index, map[string]any{}, keys).Wrong("within", within[i].id,
				"A value may be within one that is not itself within another.")
		}
	}
	r.written = slices.Repeat([]int{-1}, len(r.g.Values))
	r.errs.End()
}

func (r *graphReader) readValue(o *jsonfile.Object) {
	v := engine.Value{Name: o.Text("name"), Size: o.Size("bytes"), Stage: r.stage(o), PartOf: engine.NoValue}
	if _, ok := o.Number("bytes"); !ok {
		r.errs.Add(&profiles.FormatError{Path: o.At("bytes"), Found: "bytes is missing",
			Expected: "Every value has a size in bytes.",
			Remedy:   "Add the size; 0 is allowed."})
	}
	role := o.Text("role")
	kind := slices.Index(roles[:], role)
	if kind < 0 && role != "" && role != roleInput {
		o.Wrong("role", role, "The roles are activation, input, gradient, weight and state.")
	}
	v.Kind = engine.ValueKind(max(kind, 0))
	if role == roleInput || v.Kind == engine.KindWeight || v.Kind == engine.KindState {
		v.Initial = engine.OnDevice
	}
	place := o.Text("at")
	if k := slices.Index(places[:], place); k >= 0 {
		v.Initial = engine.Place(k)
	} else if place != "" {
		o.Wrong("at", place, "When the step begins, a value is at device, host, both or nowhere.")
	}
	r.said = append(r.said, place != "" || role == roleInput)
	r.g.Values = append(r.g.Values, v)
}

func (r *graphReader) readOps(keys *jsonfile.Keys) {
	each(r.o, "ops", parse.MaxGraph, r.poll, func(i int, item any) {
		o := r.item("ops", i, item, keys)
		op := engine.Op{Name: o.Text("name"), Time: o.Time("time_s"),
			Temp: o.Size("temp_bytes"), Stage: r.stage(o)}
		switch pass := o.Text("pass"); pass {
		case "forward", "":
		case "backward":
			op.Pass = engine.Backward
		default:
			o.Wrong("pass", pass, "The passes are forward and backward.")
		}
		r.readLane(o, &op, i)
		op.In, op.Out, op.OutputOnly = r.refs(o, "in"), r.refs(o, "out"), r.refs(o, "lean")
		if op.OutputOnly == nil && o.Value("lean") != nil {
			op.OutputOnly = []engine.ValueID{}
		}
		op.Once = o.Flag("once")
		if o.Value("alt") != nil {
			alt := o.Object("alt")
			op.Alt = &engine.Alt{Time: alt.Time("time_s"),
				Temp: alt.Size("temp_bytes")}
		}
		for _, id := range op.Out {
			first := r.written[id]
			switch {
			case first < 0:
				r.written[id] = i
			case op.Lane == engine.LaneNetwork && r.g.Ops[first].Lane == engine.LaneNetwork: // gathered again
			default:
				o.Wrong("out", r.g.Values[id].Name, fmt.Sprintf("Operation %d writes this value already.", first))
			}
		}
		r.g.Ops = append(r.g.Ops, op)
		o.NoteOthers()
	})
	for i := range r.g.Ops {
		for _, id := range r.g.Ops[i].In {
			if at := r.written[id]; at >= i && r.g.Values[id].Initial == 0 {
				r.errs.Add(&profiles.FormatError{Path: fmt.Sprintf("%s[%d].in", r.o.At("ops"), i),
					Found:    fmt.Sprintf("operation %d reads value %d, which operation %d writes", i, id, at),
					Expected: "Operations stand in an order in which they can run.", Remedy: "Sort the operations."})
			}
		}
	}
}

// readLane reads the lane of operation i, and the operations that it follows.
func (r *graphReader) readLane(o *jsonfile.Object, op *engine.Op, i int) {
	if lane := o.Text("lane"); lane != "" {
		at := slices.Index(engine.LaneNames[:], lane)
		if op.Lane = engine.Lane(max(at, 0)); at < 0 {
			o.Wrong("lane", lane, "The lanes are compute, network and cpu.")
		}
	}
	items := o.List("after")
	r.errs.Fail(r.errs.Budget.Memory(o.At("after"), refRoom*len(items)))
	for _, item := range items {
		n, err := strconv.Atoi(jsonfile.Text(item))
		if err != nil || n < 0 || n >= i {
			o.Wrong("after", item, "The numbers of operations before this one are expected, from 0 on.")
			return
		}
		op.After = append(op.After, engine.OpID(n))
	}
}

// close sets the places that the file does not give, and counts the stages.
func (r *graphReader) close() {
	usual := usualPlaces(r.g)
	for i := range r.g.Values {
		v := &r.g.Values[i]
		if !r.said[i] {
			v.Initial = usual[i]
		}
		r.g.Stages = max(r.g.Stages, v.Stage)
	}
	for i := range r.g.Ops {
		r.g.Stages = max(r.g.Stages, r.g.Ops[i].Stage)
	}
}

// usualPlaces returns the default places of values when the step begins. A value is on the
// device, unless an operation writes it or it is part of another value. A weight that is read
// before it is written is on the device, too: the step updates it.
func usualPlaces(g *engine.Graph) []engine.Place {
	usual := make([]engine.Place, len(g.Values))
	for id := range g.Values {
		if g.Values[id].PartOf == engine.NoValue {
			usual[id] = engine.OnDevice
		}
	}
	read := make([]bool, len(g.Values))
	for i := range g.Ops {
		op := &g.Ops[i]
		for _, id := range op.In {
			read[id] = true
		}
		for _, ids := range [][]engine.ValueID{op.Out, op.OutputOnly} {
			for _, id := range ids {
				if !read[id] || g.Values[id].Kind != engine.KindWeight {
					usual[id] = 0
				}
			}
		}
	}
	return usual
}

func (r *graphReader) item(list string, i int, v any, keys *jsonfile.Keys) *jsonfile.Object {
	return r.o.Item(list, i, v, keys, jsonfile.AnObject)
}

func (r *graphReader) stage(o *jsonfile.Object) int {
	n := o.Count("stage", parse.StageNumber)
	if n > engine.MaxStages {
		o.Wrong("stage", o.Value("stage"),
			fmt.Sprintf("Stages are numbered from 1 to at most %d; 0 is none.", engine.MaxStages))
		return 0
	}
	return int(n)
}

func (r *graphReader) refs(o *jsonfile.Object, key string) (ids []engine.ValueID) {
	items := o.List(key)
	r.errs.Fail(r.errs.Budget.Memory(o.At(key), refRoom*len(items)))
	for i, item := range items {
		if id := r.ref(o, fmt.Sprintf("%s[%d]", key, i), item); id != engine.NoValue {
			ids = append(ids, id)
		}
	}
	return ids
}

// ref returns the value with this id.
func (r *graphReader) ref(o *jsonfile.Object, key string, id any) engine.ValueID {
	v, ok := r.ids[idText(id)]
	if !ok {
		o.Wrong(key, id, "The id of one of the values is expected.")
		return engine.NoValue
	}
	return v
}

// idText returns a text for an id. Ids that are numbers and ids that are texts differ.
func idText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return "#" + v.String()
	case string:
		return strconv.Quote(v)
	}
	return ""
}
