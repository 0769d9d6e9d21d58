package profiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"memtide/engine"
)

// maxGraph is the largest number of values and of operations that is read.
const maxGraph = 100_000

// roles are the words for the kinds of values. Inputs are on the device when the
// step begins; where the others are, graphReader.place says.
var roles = []valueRole{
	{"activation", engine.KindActivation}, // the default
	{"gradient", engine.KindGradient},
	{"weight", engine.KindWeight},
	{roleInput, engine.KindActivation},
}

type valueRole struct {
	word string
	kind engine.ValueKind
}

const roleInput = "input"

// refRoom is what a reference to a value takes while it is decoded.
const refRoom = 64

// places are the words for where a value is when the step begins.
var places = [...]string{"nowhere", "device", "host", "both"}

// graphReader builds the graph of a native file.
type graphReader struct {
	o       *jsonObject // that holds the graph
	g       *engine.Graph
	ids     map[string]engine.ValueID
	said    []bool // the file says where the value is when the step begins
	written []int  // the operation that writes the value; -1 if there is none
	errs    *errorList
	poll    *engine.Poll
}

func (o *jsonObject) readGraph(p *Profile, poll *engine.Poll) error {
	r := &graphReader{o: o, g: &engine.Graph{Done: engine.NoValue, Fixed: o.readResident().Total() + o.size("fixed_bytes")},
		ids: map[string]engine.ValueID{}, errs: o.errs, poll: poll}
	keys := &knownKeys{}
	if err := r.readValues(keys); err != nil {
		return err
	}
	if err := r.readOps(keys); err != nil {
		return err
	}
	if o.value("done") != nil {
		r.g.Done = r.ref(o, "done", o.value("done"))
	}
	if err := o.errs.err(); err != nil {
		return err
	}
	if e := graphOverflow(r.g); e != nil {
		return o.errs.fail(e)
	}
	r.close()
	if err := r.g.Validate(); err != nil {
		return o.errs.fail(&FormatError{Path: "ops", Found: "The graph cannot be used: " + err.Error(),
			Expected: "Operations that read and write the listed values are expected.", Remedy: "Correct the list of operations."})
	}
	p.Graph = r.g
	p.Warnings = append(p.Warnings, keys.warning("in values and ops")...)
	return nil
}

// each reads a list of objects; none if it is missing.
func (r *graphReader) each(list string, visit func(i int, v any) error) error {
	found, err := r.o.eachIn(list, maxGraph, r.poll, visit)
	if v := r.o.value(list); !found && v != nil {
		r.o.wrong(list, v, "A list [ ] is expected.")
	}
	return err
}

// withinRef is the value that one is within, until all are known.
type withinRef struct {
	index int // in the list
	id    any
}

func (r *graphReader) readValues(keys *knownKeys) error {
	var within []withinRef
	err := r.each("values", func(i int, item any) error {
		o := r.item("values", i, item, keys)
		id := idText(o.value("id"))
		if _, taken := r.ids[id]; taken || id == "" {
			o.wrong("id", o.value("id"), "Every value has an id of its own, a number or a text.")
			return nil
		}
		r.ids[id] = engine.ValueID(len(r.g.Values))
		r.readValue(o)
		within = append(within, withinRef{i, o.value("within")})
		o.noteOthers()
		return nil
	})
	if err != nil {
		return err
	}
	for id, w := range within {
		if w.id != nil {
			r.g.Values[id].PartOf = r.ref(r.item("values", w.index, map[string]any{}, keys), "within", w.id)
		}
	}
	for i := range r.g.Values {
		if w := r.g.Values[i].PartOf; w != engine.NoValue && (r.g.Values[w].PartOf != engine.NoValue || int(w) == i) {
			r.item("values", within[i].index, map[string]any{}, keys).wrong("within", within[i].id, "A value is within one that is not within another.")
		}
	}
	r.written = slices.Repeat([]int{-1}, len(r.g.Values))
	return r.errs.err()
}

func (r *graphReader) readValue(o *jsonObject) {
	v := engine.Value{Name: o.text("name"), Size: o.size("bytes"), Stage: r.stage(o), PartOf: engine.NoValue}
	if _, ok := o.number("bytes"); !ok {
		r.errs.add(&FormatError{Path: o.at("bytes"), Found: "bytes is missing", Expected: "Every value has a size in bytes.",
			Remedy: "Add the size; 0 is allowed."})
	}
	role := o.text("role")
	at := slices.IndexFunc(roles, func(x valueRole) bool { return x.word == role })
	if at < 0 && role != "" {
		o.wrong("role", role, "The roles are activation, input, gradient and weight.")
	}
	v.Kind = roles[max(at, 0)].kind
	if role == roleInput || v.Kind == engine.KindWeight {
		v.Initial = engine.OnDevice
	}
	place := o.text("at")
	if k := slices.Index(places[:], place); k >= 0 {
		v.Initial = engine.Place(k)
	} else if place != "" {
		o.wrong("at", place, "When the step begins, a value is at device, host, both or nowhere.")
	}
	r.said = append(r.said, place != "" || role == roleInput)
	r.g.Values = append(r.g.Values, v)
}

func (r *graphReader) readOps(keys *knownKeys) error {
	err := r.each("ops", func(i int, item any) error {
		o := r.item("ops", i, item, keys)
		op := engine.Op{Name: o.text("name"), Time: nanoseconds(o.count("time_s", seconds)), Temp: o.size("temp_bytes"), Stage: r.stage(o)}
		switch pass := o.text("pass"); pass {
		case "forward", "":
		case "backward":
			op.Pass = engine.Backward
		default:
			o.wrong("pass", pass, "The passes are forward and backward.")
		}
		op.In, op.Out, op.OutputOnly = r.refs(o, "in"), r.refs(o, "out"), r.refs(o, "lean")
		if o.value("alt") != nil {
			alt := o.object("alt")
			op.Alt = &engine.Alt{Time: nanoseconds(alt.count("time_s", seconds)), Temp: alt.size("temp_bytes")}
		}
		for _, id := range op.Out {
			if first := r.written[id]; first >= 0 {
				o.wrong("out", r.g.Values[id].Name, fmt.Sprintf("Operation %d writes this value already.", first))
			}
			r.written[id] = i
		}
		r.g.Ops = append(r.g.Ops, op)
		o.noteOthers()
		return nil
	})
	r.checkOrder()
	return err
}

// checkOrder refuses operations that read what only a later one writes.
func (r *graphReader) checkOrder() {
	for i := range r.g.Ops {
		for _, id := range r.g.Ops[i].In {
			if at := r.written[id]; at >= i && r.g.Values[id].Initial == 0 {
				r.errs.add(&FormatError{Path: fmt.Sprintf("%s[%d].in", r.o.at("ops"), i),
					Found:    fmt.Sprintf("operation %d reads value %d, which operation %d writes", i, id, at),
					Expected: "Operations stand in an order in which they can run.", Remedy: "Sort the operations."})
			}
		}
	}
}

// graphOverflow refuses what is beyond the range of numbers that every method
// understands.
func graphOverflow(g *engine.Graph) *FormatError {
	if err := g.Validate(); errors.Is(err, engine.ErrRange) {
		return outOfRange(err)
	}
	return nil
}

// close gives values a place that the file gives none, and counts the stages.
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

// usualPlaces is where values are when the step begins, if nothing else is said:
// on the device, unless an operation makes them or they are part of another
// value. Weights that are made are there too if they are read before: they are
// updated.
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

func (r *graphReader) item(list string, i int, v any, keys *knownKeys) *jsonObject {
	o := &jsonObject{path: fmt.Sprintf("%s[%d]", r.o.at(list), i), errs: r.errs, known: keys}
	fields, ok := v.(map[string]any)
	if !ok {
		r.errs.add(&FormatError{Path: o.path, Found: o.path + " is " + jsonText(v), Expected: "An object { } is expected.",
			Remedy: "Correct the list of " + list + "."})
	}
	o.fields = fields
	return o
}

func (r *graphReader) stage(o *jsonObject) int {
	n := o.count("stage", stageNumber)
	if n > engine.MaxStages {
		o.wrong("stage", o.value("stage"), fmt.Sprintf("Stages are numbered from 1 to at most %d; 0 is none.", engine.MaxStages))
		return 0
	}
	return int(n)
}

func (r *graphReader) refs(o *jsonObject, key string) (ids []engine.ValueID) {
	items := o.list(key)
	if e := r.errs.budget.Memory(o.at(key), refRoom*len(items)); e != nil {
		r.errs.stop(e)
		return nil
	}
	for i, item := range items {
		if id := r.ref(o, fmt.Sprintf("%s[%d]", key, i), item); id != engine.NoValue {
			ids = append(ids, id)
		}
	}
	return ids
}

// ref finds the value that an id names.
func (r *graphReader) ref(o *jsonObject, key string, id any) engine.ValueID {
	v, ok := r.ids[idText(id)]
	if !ok {
		o.wrong(key, id, "The id of one of the values is expected.")
		return engine.NoValue
	}
	return v
}

// idText makes ids that are numbers and ids that are texts comparable.
func idText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return "#" + v.String()
	case string:
		return strconv.Quote(v)
	}
	return ""
}
