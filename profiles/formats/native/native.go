// Package native reads and writes memtide's own format. Every program links it: links,
// workers and saved files hold profiles in it.
package native

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// Version is the value of "format" in native files.
const Version = "memtide/1"

func init() { profiles.Register(format) }

var format = &profiles.Format{
	Name:       "memtide",
	Title:      "memtide/1 JSON",
	Doc:        `The native format: one JSON object with "format": "memtide/1".`,
	Extensions: []string{".json", ".json.gz"},
	Match:      Claims,
	Decode:     decode,
}

// Claims reports whether head is of this format, and not of the kind that package operators
// reads. It decides most other files without parsing JSON, which takes milliseconds in a
// browser: they do not contain the name, not even with escapes.
func Claims(head []byte) bool {
	return (bytes.Contains(head, []byte("memtide")) || bytes.Contains(head, []byte(`\u`))) &&
		strings.HasPrefix(FormatOf(head), "memtide/") &&
		!(bytes.Contains(head, []byte("operators")) && FormatOf(head) == Version && KindOf(head) == "operators")
}

// Complete returns p as if it had just been read from a file of this format, with its warnings.
// It returns an error if the format refuses p.
func Complete(p *profiles.Profile) (*profiles.Profile, error) {
	read := *p
	if p.Chain != nil {
		chain := *p.Chain
		chain.Name, read.Chain = p.Name, &chain // a file has one name for both
	}
	return format.Complete(&read)
}

// FormatOf returns the value of "format" in the outermost object of head, or "" if there is no
// such value. head may be cut off anywhere.
func FormatOf(head []byte) string { return outer(head, "format") }

// KindOf is FormatOf for "kind".
func KindOf(head []byte) string { return outer(head, "kind") }

// outer returns the text of a key in the outermost object, or "".
func outer(head []byte, key string) string {
	for k, text := range jsonfile.Outer(head) {
		if k == key {
			return text
		}
	}
	return ""
}

func decode(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	errs := parse.NewErrors(len(data))
	top := jsonfile.Open(data, errs)
	if v := top.Text("format"); v != Version {
		errs.Fail(&profiles.FormatError{Path: "format", Found: "format is " + strconv.Quote(profiles.Clip(v)),
			Expected: "This version reads " + strconv.Quote(Version) + ".",
			Remedy:   "Use a newer memtide, or save the profile again as " + Version + "."})
	}
	p := &profiles.Profile{Name: name}
	ReadFrame(top, p)
	switch kind := top.Text("kind"); kind {
	case "chain", "":
		readChain(top, p, poll)
	case "graph":
		readGraph(top, p, poll)
	case "buffers":
		readBuffers(top, p, poll)
	default:
		errs.Fail(&profiles.FormatError{Path: "kind", Found: "kind is " + strconv.Quote(profiles.Clip(kind)),
			Expected: "The kinds that are read are chain, graph and buffers.",
			Remedy:   "Save the network as one of these."})
	}
	top.NoteOthers()
	p.Warnings = append(p.Warnings, top.Known.Warning("in the outer object")...)
	return p
}

// ReadFrame reads the fields that all kinds have.
func ReadFrame(o *jsonfile.Object, p *profiles.Profile) {
	if o.Value("name") != nil {
		p.Name = o.Text("name")
	}
	p.Batch = int(o.Count("batch", parse.Samples))
	p.DType = o.Text("dtype")
	p.Warnings = o.Texts("warnings")

	src := o.Object("source")
	p.Source = profiles.Source{Tool: src.Text("tool"), Device: src.Text("device"), Notes: src.Texts("notes"),
		URL: src.LongText("url")}
	p.Source.Times, p.Source.Sizes = origin(src, "times", p), origin(src, "sizes", p)
	if src.Flag("measured") {
		p.Source.Times = cmp.Or(p.Source.Times, profiles.Measured)
		p.Source.Sizes = cmp.Or(p.Source.Sizes, profiles.Measured)
	}
	src.NoteOthers()
	p.Warnings = append(p.Warnings, src.Known.Warning("in source")...)

	if o.Value("device") != nil {
		dev := o.Object("device")
		p.Device = &engine.Device{Name: dev.Text("name"), Memory: dev.Size("memory_bytes"),
			ToDev: dev.Rate("h2d_bytes_per_s"), ToHost: dev.Rate("d2h_bytes_per_s")}
		if dev.Flag("duplex") {
			p.Device.Duplex = engine.FullDuplex
		}
		dev.NoteOthers()
		p.Warnings = append(p.Warnings, dev.Known.Warning("in device")...)
	}
}

func origin(o *jsonfile.Object, key string, p *profiles.Profile) profiles.Origin {
	v := profiles.Origin(o.Text(key))
	if !slices.Contains([]profiles.Origin{profiles.Measured, profiles.Exact, profiles.Analytic, profiles.Estimated,
		profiles.Unknown}, v) {
		p.Warn("%s is %q, not one of measured, exact, analytic, estimated: skipped.", o.At(key), profiles.Clip(string(v)))
		return profiles.Unknown
	}
	return v
}

func readResident(o *jsonfile.Object) engine.Resident {
	r := o.Object("resident")
	return engine.Resident{Weights: r.Size("weights"), Grads: r.Size("grads"),
		Optimizer: r.Size("optimizer"), Pinned: r.Size("pinned")}
}

// readChain reads a file of kind chain.
func readChain(o *jsonfile.Object, p *profiles.Profile, poll *engine.Poll) {
	c := &engine.Chain{Name: p.Name, Batch: p.Batch, Input: o.Size("input_bytes"),
		InputGrad: o.Size("input_grad_bytes"), Resident: readResident(o), LossGradAllocated: o.Flag("seed_born")}
	keys := &jsonfile.Keys{}
	stages := &parse.StageReader{Errs: o.Errs}
	readStages(o, c, stages, keys, poll)
	if len(c.Stages) == 0 {
		o.Errs.Fail(parse.EmptyChain().At("stages"))
	}
	given := len(c.Stages)
	if loss := o.Object("loss"); !c.LossGradAllocated {
		loss.Known = keys
		at := parse.StagePlace{Path: "loss", Number: given + 1}
		s := engine.Stage{Name: parse.LossName, Kind: loss.Text("kind")}
		if loss.Value("name") != nil {
			s.Name = loss.Text("name")
		}
		s.Unsaved = loss.Flag(parse.UnsavedColumn)
		s = stages.Read(at, s, true, loss.Number, maps.Keys(loss.Fields))
		s.Fast = readFast(stages, at, loss)
		c.Stages = append(c.Stages, s)
		loss.NoteOthers()
	}
	stages.Finish(c, !c.LossGradAllocated)
	if graph := o.Raw("graph"); graph != nil {
		readGraph(graph, p, poll)
	} else if v := o.Value("graph"); v != nil {
		o.Wrong("graph", v, jsonfile.AnObject)
		o.Errs.End()
	}
	p.Chain = c
	p.Warnings = append(p.Warnings, stages.Warnings(given)...)
	p.Warnings = append(p.Warnings, keys.Warning("in stages")...)
}

func readStages(o *jsonfile.Object, c *engine.Chain, stages *parse.StageReader, keys *jsonfile.Keys,
	poll *engine.Poll) {
	found := o.EachIn("stages", parse.MaxStageRows+1, poll, func(i int, v any) {
		if i == parse.MaxStageRows {
			o.Errs.Fail(parse.TooManyStages().At("stages"))
		}
		at := parse.StagePlace{Path: fmt.Sprintf("stages[%d]", i), Number: i + 1}
		fields, ok := v.(map[string]any)
		if !ok {
			o.Wrong(at.Path, v, "An object with forward_s, backward_s and output_bytes is expected.")
		}
		one := &jsonfile.Object{Path: at.Path, Fields: fields, Errs: o.Errs, Known: keys}
		s := engine.Stage{Name: profiles.StageName("", at.Number), Kind: one.Text("kind")}
		if one.Value("name") != nil {
			s.Name = one.Text("name")
		}
		if ok {
			s.Unsaved = one.Flag(parse.UnsavedColumn)
			s = stages.Read(at, s, false, one.Number, maps.Keys(fields))
			s.Fast = readFast(stages, at, one)
			one.NoteOthers()
		}
		c.Stages = append(c.Stages, s)
	})
	if !found {
		o.Errs.Fail(&profiles.FormatError{Path: "stages", Found: "stages is missing or not a list",
			Expected: "A list of stages is expected.",
			Remedy:   `Write "stages": [{"name": ..., "forward_s": ...}, ...].`})
	}
}

// readFast reads the second algorithm of a stage; it returns nil if the stage has none. Unknown
// keys are noted with those of the stages.
func readFast(r *parse.StageReader, at parse.StagePlace, stage *jsonfile.Object) *engine.Algorithm {
	if stage.Value("fast") == nil {
		return nil
	}
	o := stage.Object("fast")
	o.Path = at.Path + ".fast"
	o.Known = stage.Known
	for _, key := range []string{"forward_s", "backward_s"} {
		if _, ok := o.Number(key); !ok && o.Fields != nil {
			r.Errs.Add(&profiles.FormatError{Path: o.At(key), Found: key + " is missing",
				Expected: "A second algorithm has forward_s and backward_s.",
				Remedy:   "Add the number, in seconds, or leave out fast."})
		}
	}
	f := &engine.Algorithm{Forward: o.Time("forward_s"),
		Back:    o.Time("backward_s"),
		FwdTemp: o.Size("forward_temp_bytes"), BwdTemp: o.Size("backward_temp_bytes")}
	o.NoteOthers()
	return f
}
