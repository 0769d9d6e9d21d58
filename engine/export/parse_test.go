package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"memtide/engine"
)

// file holds a file with all its lists, for reading it back.
type file struct {
	fileHead
	Stages []fileStage `json:"stages"`
	Values []fileValue `json:"values"`
	Ops    []fileOp    `json:"ops"`
	Steps  []fileStep  `json:"steps"`
}

// ParseJSON reads the output of File.JSON. It validates the problem and the names in the steps, and does not play the
// schedule.
func ParseJSON(data []byte) (*File, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("the schedule is not JSON of the schema %s: %v; export it again", Schema, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the schedule's closing brace; export it again")
	}
	if f.Schema != Schema {
		return nil, fmt.Errorf("the schema is %q; this version reads %q: export the schedule again", f.Schema, Schema)
	}
	r := &reader{f: &f}
	p := &File{Name: f.Name, Strategy: f.Strategy, Args: f.Args, Problem: r.problem()}
	if r.err == nil {
		r.names(p.Problem)
		for i := range f.Steps {
			p.Schedule = append(p.Schedule, r.step(i))
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

// reader converts a file to a File. err is the first error.
type reader struct {
	f      *file
	ops    map[string]engine.OpID
	values map[string]engine.ValueID
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// word returns the index of a word among the allowed words.
func (r *reader) word(where, word string, words []string) int {
	i := slices.Index(words, word)
	if i < 0 {
		r.fail("%s is %q; expected one of %q", where, word, words)
		return 0
	}
	return i
}

func (r *reader) problem() *engine.Problem {
	f := r.f
	d := &f.Device
	device := engine.Device{Name: d.Name, Memory: d.Memory, ToHost: d.ToHost, ToDev: d.ToDev,
		Duplex: engine.Duplex(r.word("device.duplex", d.Duplex, []string{"half", "full"}))}
	transfers := engine.Transfers(r.word("transfers", f.Transfers, []string{"whole", "streamed"}))
	var p *engine.Problem
	switch {
	case (f.Chain == nil) == (f.Graph == nil):
		r.fail("the schedule has to be of a chain or of a graph, and of one of them only")
		return nil
	case f.Chain != nil:
		c := r.chain()
		if err := c.Validate(); err != nil {
			r.fail("the chain is not valid: %v", err)
			return nil
		}
		p = engine.NewChainProblem(c, device, transfers, f.Budget)
	default:
		p = &engine.Problem{Graph: r.graph(), Device: device, Transfers: transfers, Budget: f.Budget}
	}
	if r.err == nil {
		r.err = p.Validate()
	}
	return p
}

func (r *reader) chain() *engine.Chain {
	f := r.f.Chain
	c := &engine.Chain{Name: r.f.Name, Batch: f.Batch, Input: f.Input, InputGrad: f.InputGrad,
		LossGradAllocated: f.LossGradAllocated,
		Resident:          engine.Resident(f.Resident)}
	if f.Name != "" {
		c.Name = f.Name
	}
	for _, s := range r.f.Stages {
		c.Stages = append(c.Stages, engine.Stage{Name: s.Name, Kind: s.Kind, Forward: s.Forward, Back: s.Back,
			Out: s.Out, Saved: s.Saved,
			Unsaved: s.Unsaved, Grad: s.Grad, FwdTemp: s.FwdTemp, BwdTemp: s.BwdTemp,
			Fast: (*engine.Algorithm)(s.Fast)})
	}
	return c
}

// index returns the number n of a name such as v12 or o3.
func (r *reader) index(where, letter, name string, n int) int {
	if len(name) > 1 && name[:1] == letter {
		if i, err := strconv.Atoi(name[1:]); err == nil && i >= 0 && i < n && strconv.Itoa(i) == name[1:] {
			return i
		}
	}
	r.fail("%s names %q; expected %s0 to %s%d", where, name, letter, letter, n-1)
	return 0
}

func (r *reader) value(where, name string) engine.ValueID {
	if name == "" {
		return engine.NoValue
	}
	return engine.ValueID(r.index(where, "v", name, len(r.f.Values)))
}

func (r *reader) list(where string, names []string) []engine.ValueID {
	if names == nil {
		return nil
	}
	ids := []engine.ValueID{}
	for _, name := range names {
		ids = append(ids, engine.ValueID(r.index(where, "v", name, len(r.f.Values))))
	}
	return ids
}

func (r *reader) graph() *engine.Graph {
	f := r.f
	g := &engine.Graph{Fixed: f.Graph.Fixed, Stages: f.Graph.Stages, Done: r.value("graph.done", f.Graph.Done)}
	for i, v := range f.Values {
		where := fmt.Sprintf("values[%d]", i)
		value := engine.Value{Name: v.Name, Kind: engine.ValueKind(r.word(where+".kind", v.Kind, valueKinds)),
			Size:  v.Bytes,
			Stage: v.Stage, PartOf: r.value(where+".within", v.Within)}
		for _, place := range v.Initial {
			value.Initial |= engine.Place(1 << r.word(where+".initial", place, []string{"device", "host"}))
		}
		g.Values = append(g.Values, value)
	}
	for i, o := range f.Ops {
		where := fmt.Sprintf("ops[%d]", i)
		lane := engine.LaneCompute
		if o.Lane != "" {
			lane = engine.Lane(r.word(where+".lane", o.Lane, engine.LaneNames[:]))
		}
		var after []engine.OpID
		for _, name := range o.After {
			after = append(after, engine.OpID(r.index(where, "o", name, i)))
		}
		g.Ops = append(g.Ops, engine.Op{Lane: lane, After: after, Name: o.Name,
			Pass:  engine.Pass(r.word(where+".pass", o.Pass, passes)),
			Stage: o.Stage,
			Time:  o.Time, Temp: o.Temp, Alt: (*engine.Alt)(o.Alt),
			In: r.list(where, o.In), Out: r.list(where, o.Out), OutputOnly: r.list(where, o.Lean)})
	}
	return g
}

// names maps the names in the steps to operations and values.
func (r *reader) names(p *engine.Problem) {
	r.ops, r.values = map[string]engine.OpID{}, map[string]engine.ValueID{}
	f := &File{Problem: p}
	for i := range p.Graph.Ops {
		r.ops[f.opName(engine.OpID(i))] = engine.OpID(i)
	}
	for i := range p.Graph.Values {
		r.values[f.valueName(engine.ValueID(i))] = engine.ValueID(i)
	}
}

func (r *reader) step(i int) engine.Instruction {
	f := &r.f.Steps[i]
	where := fmt.Sprintf("steps[%d]", i)
	s := engine.Instruction{Kind: engine.InstructionKind(r.word(where+".do", f.Do, doing)), Op: engine.NoOp, Value: engine.NoValue,
		OutputOnly: f.Lean, Alt: f.Alt, NotBefore: f.NotBefore, Reserve: f.Reserve}
	var ok bool
	if s.Kind == engine.DoRun {
		if s.Op, ok = r.ops[f.Op]; !ok {
			r.fail("%s runs %q, and there is no such operation", where, f.Op)
		}
	} else if s.Value, ok = r.values[f.Value]; !ok {
		r.fail("%s names the value %q, and there is none", where, f.Value)
	}
	return s
}
