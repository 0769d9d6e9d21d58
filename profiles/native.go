package profiles

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
)

// NativeVersion is the value of "format" in native files.
const NativeVersion = "memtide/1"

func init() {
	register(&Format{
		Name:  "memtide",
		Title: "memtide/1 JSON",
		Doc: `The native format: one JSON object with "format": "memtide/1".

Times are seconds and sizes are bytes, always. A file of kind chain:

	{"format":"memtide/1", "kind":"chain", "name":"...", "batch":32, "dtype":"f32",
	 "source":{"tool":"...", "times":"measured", "sizes":"exact", "device":"...", "notes":["..."], "url":"..."},
	 "device":{"name":"...", "memory_bytes":0, "h2d_bytes_per_s":0, "d2h_bytes_per_s":0, "duplex":false},
	 "input_bytes":0, "input_grad_bytes":0,
	 "resident":{"weights":0, "grads":0, "optimizer":0, "pinned":0},
	 "stages":[{"name":"...", "kind":"conv", "forward_s":0, "backward_s":0, "output_bytes":0, "saved_bytes":0,
	            "output_unsaved":false, "grad_bytes":0, "forward_temp_bytes":0, "backward_temp_bytes":0,
	            "fast":{"forward_s":0, "backward_s":0, "forward_temp_bytes":0, "backward_temp_bytes":0}}],
	 "loss":{...}, "warnings":["..."]}

Only the stages and their forward_s, backward_s and output_bytes are required.
saved_bytes contains the output, not the stage's input; it defaults to the
output, with a warning. "output_unsaved": true says that no backward reads the
output, neither the stage's own nor the next one's: saved_bytes then does not contain
it and defaults to 0, and it goes once the next forward has read it. The last stage
has none. grad_bytes defaults to the output, everything else to 0.
fast is a second algorithm of a stage, with the same output and saved set: the
performance-optimal convolution beside the memory-optimal one. Its times are
required, and its temporaries default to 0.
"measured": true in the source stands for times and sizes that are measured. The
loss becomes the last stage of the chain. With "seed_born": true there is no
loss: the last backward allocates the gradient of the last output.

A file of kind graph has values and operations instead of stages:

	 "values":[{"id":0, "name":"...", "bytes":0, "role":"activation", "at":"device", "within":1, "stage":1}],
	 "ops":[{"name":"...", "pass":"forward", "time_s":0, "temp_bytes":0, "in":[0], "out":[1], "lean":[0],
	         "alt":{"time_s":0, "temp_bytes":0}, "stage":1}], "done":1

The roles are input, activation, gradient and weight; weights are also their
gradients and the state of the optimizer. Operations stand in an order in which
they can run; what they read before any of them writes it is on the device when
the step begins, unless "at" says host, both or nowhere. The step is complete
when "done" is made; without it, when every operation has run. A file of kind
chain may hold the operators, too, in an object "graph".

A file of kind buffers has rows that live from lower to before upper, on a clock
of whole numbers; without upper they live to the end:

	 "capacity":0, "buffers":[{"id":0, "name":"...", "lower":0, "upper":3, "size":4096, "addr":0, "took":4096, "role":"activation"}]

Where they lie, addr and what they take up there, is optional. So are, of
recordings, "before" (events that bring back what was there), "pool", "reserved"
[{"event", "bytes"}], "segments" [{"addr", "size", "from", "to"}] and "failed"
{"event", "bytes", "largest", "free", "unreserved"}; events are the requests and
releases in order.`,
		Extensions: []string{".json", ".json.gz"},
		Match:      isNative,
		Decode:     decodeNative,
		Encode:     encodeNative,
	})
}

// isNative reports whether a head says that it is of this format. Most others are
// told apart without reading them as JSON, which takes milliseconds in a browser:
// they do not name it, not even with escapes.
func isNative(head []byte) bool {
	return (bytes.Contains(head, []byte("memtide")) || bytes.Contains(head, []byte(`\u`))) && strings.HasPrefix(nativeFormat(head), "memtide/")
}

// nativeFormat is the value of "format" in the outermost object of a head that
// may end anywhere; empty if there is none.
func nativeFormat(head []byte) string {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	depth, isKey := 1, true
	for depth > 0 {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		switch d, _ := t.(json.Delim); {
		case d == '{' || d == '[':
			depth++
		case d == '}' || d == ']':
			depth--
			isKey = true
		case depth > 1:
		case isKey && t == "format":
			value, _ := dec.Token()
			text, _ := value.(string)
			return text
		default:
			isKey = !isKey
		}
	}
	return ""
}

func decodeNative(name string, data []byte, poll *engine.Poll) (*Profile, error) {
	errs := newErrors("memtide", len(data))
	top, stages, err := openNative(data, errs)
	if err != nil {
		return nil, err
	}
	if v := top.text("format"); v != NativeVersion {
		return nil, errs.fail(&FormatError{Path: "format", Found: "format is " + strconv.Quote(clip(v)),
			Expected: "This version reads " + strconv.Quote(NativeVersion) + ".",
			Remedy:   "Use a newer memtide, or save the profile again as " + NativeVersion + "."})
	}
	p := &Profile{Name: name}
	top.readFrame(p)
	switch kind := top.text("kind"); kind {
	case "chain", "":
		err = top.readChain(p, stages, poll)
	case "graph":
		err = top.readGraph(p, poll)
	case "buffers":
		err = top.readBuffers(p, poll)
	default:
		err = errs.fail(&FormatError{Path: "kind", Found: "kind is " + strconv.Quote(clip(kind)),
			Expected: "The kinds that are read are chain, graph and buffers.", Remedy: "Save the network as one of these."})
	}
	if err != nil {
		return nil, err
	}
	top.noteOthers()
	p.Warnings = append(p.Warnings, top.known.warning("in the outer object")...)
	return p, nil
}

// maxNative is far above what the longest chain and the most buffers need; it keeps the outer pass,
// which cannot be stopped, short.
const maxNative = 192 << 20

// openNative splits the outer object into its fields. They stay raw until they
// are asked for: the stages are decoded one at a time, so that a long file can
// be stopped. Those of a canonical profile are decoded already.
func openNative(data []byte, errs *errorList) (*jsonObject, []engine.Stage, error) {
	if len(data) > maxNative {
		return nil, nil, errs.fail(&FormatError{Found: fmt.Sprintf("The profile is larger than %d MiB", maxNative>>20),
			Expected: fmt.Sprintf("At most %d MiB are read.", maxNative>>20), Remedy: "Keep only the stages."})
	}
	if e := scanJSON(data); e != nil {
		return nil, nil, errs.fail(e)
	}
	top := &jsonObject{errs: errs, known: &knownKeys{}}
	if stages, rest, canonical := canonicalStages(data); canonical && json.Valid(rest) {
		fields, e := splitJSON(rest)
		if list, _ := fields["stages"].(json.RawMessage); e == nil && string(list) == "[]" {
			top.fields = fields
			return top, stages, nil
		}
	}
	// Whether it is valid is cheaper to know than why it is not.
	if !json.Valid(data) || bytes.TrimLeft(data, " \t\r\n")[0] != '{' {
		return nil, nil, errs.fail(jsonSyntax(data, json.Unmarshal(data, &struct{}{})))
	}
	var e *FormatError
	if top.fields, e = splitJSON(data); e != nil {
		return nil, nil, errs.fail(e)
	}
	return top, nil, nil
}

// readFrame reads what does not depend on the kind.
func (o *jsonObject) readFrame(p *Profile) {
	if o.value("name") != nil {
		p.Name = o.text("name")
	}
	p.Batch = int(o.count("batch", samples))
	p.DType = o.text("dtype")
	p.Warnings = o.texts("warnings")

	src := o.object("source")
	p.Source = Source{Tool: src.text("tool"), Device: src.text("device"), Notes: src.texts("notes"), URL: src.longText("url")}
	p.Source.Times, p.Source.Sizes = src.origin("times", p), src.origin("sizes", p)
	if src.flag("measured") {
		p.Source.Times = cmp.Or(p.Source.Times, Measured)
		p.Source.Sizes = cmp.Or(p.Source.Sizes, Measured)
	}
	src.noteOthers()
	p.Warnings = append(p.Warnings, src.known.warning("in source")...)

	if o.value("device") != nil {
		dev := o.object("device")
		p.Device = &engine.Device{Name: dev.text("name"), Memory: dev.size("memory_bytes"),
			ToDev: dev.rate("h2d_bytes_per_s"), ToHost: dev.rate("d2h_bytes_per_s")}
		if dev.flag("duplex") {
			p.Device.Duplex = engine.FullDuplex
		}
		dev.noteOthers()
		p.Warnings = append(p.Warnings, dev.known.warning("in device")...)
	}
}

func (o *jsonObject) origin(key string, p *Profile) Origin {
	v := Origin(o.text(key))
	if !slices.Contains([]Origin{Measured, Exact, Analytic, Estimated, Unknown}, v) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s is %q, which is none of measured, exact, analytic, estimated: skipped.",
			o.at(key), clip(string(v))))
		return Unknown
	}
	return v
}

func (o *jsonObject) readResident() engine.Resident {
	r := o.object("resident")
	return engine.Resident{Weights: r.size("weights"), Grads: r.size("grads"),
		Optimizer: r.size("optimizer"), Pinned: r.size("pinned")}
}

// readChain reads the stages, unless they are known, the loss and what stands
// around them.
func (o *jsonObject) readChain(p *Profile, known []engine.Stage, poll *engine.Poll) error {
	c := &engine.Chain{Name: p.Name, Batch: p.Batch, Input: o.size("input_bytes"), InputGrad: o.size("input_grad_bytes"),
		Resident: o.readResident(), LossGradAllocated: o.flag("seed_born")}
	keys := &knownKeys{}
	o.knows("stages")
	stages := &stageReader{errs: o.errs}
	if c.Stages = known; known == nil {
		if err := o.readStages(c, stages, keys, poll); err != nil {
			return err
		}
	}
	if len(c.Stages) == 0 {
		e := emptyChain()
		e.Path = "stages"
		o.errs.add(e)
		return o.errs.err()
	}
	given := len(c.Stages)
	if loss := o.object("loss"); !c.LossGradAllocated {
		loss.known = keys
		at := stagePlace{path: "loss", number: given + 1}
		s := engine.Stage{Name: lossName, Kind: loss.text("kind")}
		if loss.value("name") != nil {
			s.Name = loss.text("name")
		}
		s.Unsaved = loss.flag(unsavedColumn)
		s = stages.read(at, s, true, loss.number)
		s.Fast = stages.readFast(at, loss)
		c.Stages = append(c.Stages, s)
		loss.noteOthers()
	}
	if err := stages.finish(c, !c.LossGradAllocated); err != nil {
		return err
	}
	if graph := o.raw("graph"); graph != nil {
		if err := graph.readGraph(p, poll); err != nil {
			return err
		}
	} else if v := o.value("graph"); v != nil {
		o.wrong("graph", v, "An object { } is expected.")
		return o.errs.err()
	}
	p.Chain = c
	p.Warnings = append(p.Warnings, stages.warnings(given)...)
	p.Warnings = append(p.Warnings, keys.warning("in stages")...)
	return nil
}

func (o *jsonObject) readStages(c *engine.Chain, stages *stageReader, keys *knownKeys, poll *engine.Poll) error {
	found, err := o.eachIn("stages", maxStageRows+1, poll, func(i int, v any) error {
		if i == maxStageRows {
			e := tooManyStages()
			e.Path = "stages"
			return o.errs.fail(e)
		}
		at := stagePlace{path: fmt.Sprintf("stages[%d]", i), number: i + 1}
		fields, ok := v.(map[string]any)
		if !ok {
			o.wrong(at.path, v, "An object with forward_s, backward_s and output_bytes is expected.")
		}
		one := &jsonObject{path: at.path, fields: fields, errs: o.errs, known: keys}
		s := engine.Stage{Name: stageName("", at.number), Kind: one.text("kind")}
		if one.value("name") != nil {
			s.Name = one.text("name")
		}
		if ok {
			s.Unsaved = one.flag(unsavedColumn)
			s = stages.read(at, s, false, one.number)
			s.Fast = stages.readFast(at, one)
			one.noteOthers()
		}
		c.Stages = append(c.Stages, s)
		return nil
	})
	if err == nil && !found {
		return o.errs.fail(&FormatError{Path: "stages", Found: "stages is missing or no list",
			Expected: "A list of stages is expected.", Remedy: `Write "stages": [{"name": ..., "forward_s": ...}, ...].`})
	}
	return err
}
