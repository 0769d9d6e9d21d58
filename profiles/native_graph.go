package profiles

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"memtide/engine"
)

// maxGraph is the largest number of values and of operations that is read.
const maxGraph = 100_000

// roles are the words for the kinds of values. Weights and inputs are on the
// device when the step begins.
var roles = []valueRole{
	{"activation", engine.KindActivation, 0}, // the default
	{"input", engine.KindActivation, engine.OnDevice},
	{"gradient", engine.KindGradient, 0},
	{"weight", engine.KindWeight, engine.OnDevice},
}

type valueRole struct {
	word    string
	kind    engine.ValueKind
	initial engine.Place
}

// graphReader builds the graph of a native file.
type graphReader struct {
	g        *engine.Graph
	ids      map[string]engine.ValueID
	produced []bool // by an operation that was read
	errs     *errorList
	poll     *engine.Poll
}

func (o *jsonObject) readGraph(p *Profile, poll *engine.Poll) error {
	values, ops := o.list("values"), o.list("ops")
	r := &graphReader{g: &engine.Graph{Done: engine.NoValue, Fixed: o.readResident().Total()},
		ids: map[string]engine.ValueID{}, errs: o.errs, poll: poll}
	if len(values) > maxGraph || len(ops) > maxGraph {
		return o.errs.fail(&FormatError{Found: fmt.Sprintf("There are %d values and %d operations", len(values), len(ops)),
			Expected: fmt.Sprintf("At most %d of each are read.", maxGraph), Remedy: "Join small operations."})
	}
	keys := &knownKeys{}
	if err := r.readValues(values, keys); err != nil {
		return err
	}
	if err := r.readOps(ops, keys); err != nil {
		return err
	}
	if err := o.errs.err(); err != nil {
		return err
	}
	if e := r.overflow(); e != nil {
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

func (r *graphReader) readValues(list []any, keys *knownKeys) error {
	for i, item := range list {
		if err := r.poll.Err(); err != nil {
			return err
		}
		o := r.item("values", i, item, keys)
		id := idText(o.value("id"))
		if _, taken := r.ids[id]; taken || id == "" {
			o.wrong("id", o.value("id"), "Every value has an id of its own, a number or a text.")
			continue
		}
		r.ids[id] = engine.ValueID(i)
		v := engine.Value{Name: o.text("name"), Size: o.size("bytes"), Stage: r.stage(o), Within: engine.NoValue}
		if _, ok := o.number("bytes"); !ok {
			r.errs.add(&FormatError{Path: o.at("bytes"), Found: "bytes is missing", Expected: "Every value has a size in bytes.",
				Remedy: "Add the size; 0 is allowed."})
		}
		role := o.text("role")
		at := slices.IndexFunc(roles, func(x valueRole) bool { return x.word == role })
		if at < 0 && role != "" {
			o.wrong("role", role, "The roles are activation, input, gradient and weight.")
		}
		v.Kind, v.Initial = roles[max(at, 0)].kind, roles[max(at, 0)].initial
		r.g.Values = append(r.g.Values, v)
		o.noteOthers()
	}
	r.produced = make([]bool, len(r.g.Values))
	return r.errs.err()
}

func (r *graphReader) readOps(list []any, keys *knownKeys) error {
	written := map[engine.ValueID]int{}
	for i, item := range list {
		if err := r.poll.Err(); err != nil {
			return err
		}
		o := r.item("ops", i, item, keys)
		op := engine.Op{Name: o.text("name"), Time: nanoseconds(o.count("time_s", seconds)), Temp: o.size("temp_bytes"), Stage: r.stage(o)}
		switch pass := o.text("pass"); pass {
		case "forward", "":
		case "backward":
			op.Pass = engine.Backward
		default:
			o.wrong("pass", pass, "The passes are forward and backward.")
		}
		op.In, op.Out, op.Lean = r.refs(o, "in"), r.refs(o, "out"), r.refs(o, "lean")
		for _, id := range op.Out {
			if first, twice := written[id]; twice {
				o.wrong("out", r.g.Values[id].Name, fmt.Sprintf("Operation %d writes this value already.", first))
			}
			written[id] = i
		}
		r.g.Ops = append(r.g.Ops, op)
		o.noteOthers()
	}
	r.checkOrder(written)
	return nil
}

// checkOrder refuses operations that read what only a later one writes.
func (r *graphReader) checkOrder(written map[engine.ValueID]int) {
	for i := range r.g.Ops {
		for _, id := range r.g.Ops[i].In {
			if at, ok := written[id]; ok && at >= i && r.g.Values[id].Initial == 0 {
				r.errs.add(&FormatError{Path: fmt.Sprintf("ops[%d].in", i),
					Found:    fmt.Sprintf("operation %d reads value %d, which operation %d writes", i, id, at),
					Expected: "Operations stand in an order in which they can run.", Remedy: "Sort the operations."})
			}
		}
	}
	for id := range written {
		r.produced[id] = true
	}
}

// overflow refuses sums that 64 bits might not hold.
func (r *graphReader) overflow() *FormatError {
	size, sum := float64(r.g.Fixed), 0.0
	for i := range r.g.Values {
		size += float64(r.g.Values[i].Size)
	}
	for i := range r.g.Ops {
		size += float64(r.g.Ops[i].Temp)
		sum += float64(r.g.Ops[i].Time)
	}
	switch {
	case sum > maxSum:
		return timesOverflow(sum)
	case size > maxSum:
		return &FormatError{Path: "values", Found: fmt.Sprintf("The sizes add up to %.3g bytes", size),
			Expected: "The sizes of one training step are expected.", Remedy: "Check the units: sizes are in bytes."}
	}
	return nil
}

// close gives what no operation writes a place, and counts the stages.
func (r *graphReader) close() {
	for i := range r.g.Values {
		v := &r.g.Values[i]
		if !r.produced[i] {
			v.Initial |= engine.OnDevice
		}
		r.g.Stages = max(r.g.Stages, v.Stage)
	}
	for i := range r.g.Ops {
		r.g.Stages = max(r.g.Stages, r.g.Ops[i].Stage)
	}
}

func (r *graphReader) item(list string, i int, v any, keys *knownKeys) *jsonObject {
	o := &jsonObject{path: fmt.Sprintf("%s[%d]", list, i), errs: r.errs, known: keys}
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
	if n > math.MaxInt32 {
		o.wrong("stage", o.value("stage"), "Stages are numbered from 1; 0 is none.")
		return 0
	}
	return int(n)
}

func (r *graphReader) refs(o *jsonObject, key string) (ids []engine.ValueID) {
	for i, item := range o.list(key) {
		id, ok := r.ids[idText(item)]
		if !ok {
			o.wrong(fmt.Sprintf("%s[%d]", key, i), item, "The id of one of the values is expected.")
			continue
		}
		ids = append(ids, id)
	}
	return ids
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
