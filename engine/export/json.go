package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Schema is the value of the field "schema" in every file.
const Schema = "memtide-schedule/1"

// The types of the file; docs/run-a-schedule.md says what the fields mean.
type (
	fileHead struct {
		Schema     string       `json:"schema"`
		Name       string       `json:"name"`
		Strategy   string       `json:"strategy,omitempty"`
		Args       engine.Args  `json:"args,omitempty"`
		Transfers  string       `json:"transfers"`
		Device     fileDevice   `json:"device"`
		Budget     engine.Bytes `json:"budget_bytes"`
		StepTimeNS int64        `json:"step_time_ns"`
		Peak       engine.Bytes `json:"peak_bytes"`
		HostPeak   engine.Bytes `json:"host_peak_bytes"`
		Chain      *fileChain   `json:"chain,omitempty"`
		Graph      *fileGraph   `json:"graph,omitempty"`
	}
	fileDevice struct {
		Name   string       `json:"name,omitempty"`
		Memory engine.Bytes `json:"memory_bytes,omitempty"`
		ToHost engine.Rate  `json:"to_host_bytes_per_s"`
		ToDev  engine.Rate  `json:"to_device_bytes_per_s"`
		Duplex string       `json:"duplex"`
	}
	fileChain struct {
		Name              string          `json:"name,omitempty"` // empty if it is the name of the network
		Batch             int             `json:"batch,omitempty"`
		Input             engine.Bytes    `json:"input_bytes"`
		InputGrad         engine.Bytes    `json:"input_grad_bytes"`
		LossGradAllocated bool            `json:"seed_born,omitempty"`
		Resident          engine.Resident `json:"resident"`
	}
	fileStage struct {
		Name    string            `json:"name"`
		Kind    string            `json:"kind,omitempty"`
		Forward time.Duration     `json:"forward_ns"`
		Back    time.Duration     `json:"backward_ns"`
		Out     engine.Bytes      `json:"output_bytes"`
		Saved   engine.Bytes      `json:"saved_bytes"`
		Unsaved bool              `json:"output_unsaved,omitempty"`
		Grad    engine.Bytes      `json:"grad_bytes"`
		FwdTemp engine.Bytes      `json:"forward_temp_bytes"`
		BwdTemp engine.Bytes      `json:"backward_temp_bytes"`
		Fast    *engine.Algorithm `json:"fast,omitempty"`
	}
	fileGraph struct {
		Fixed  engine.Bytes `json:"fixed_bytes"`
		Stages int          `json:"stages,omitempty"`
		Done   string       `json:"done,omitempty"`
	}
	fileValue struct {
		Name    string       `json:"name"`
		Kind    string       `json:"kind"`
		Bytes   engine.Bytes `json:"bytes"`
		Stage   int          `json:"stage,omitempty"`
		Initial []string     `json:"initial,omitempty"`
		Within  string       `json:"within,omitempty"`
	}
	fileOp struct {
		Name  string        `json:"name"`
		Pass  string        `json:"pass"`
		Stage int           `json:"stage,omitempty"`
		Time  time.Duration `json:"time_ns"`
		Temp  engine.Bytes  `json:"temp_bytes"`
		Lane  string        `json:"lane,omitempty"` // empty: the device computes
		After []string      `json:"after,omitempty"`
		In    []string      `json:"in,omitempty"`
		Out   []string      `json:"out,omitempty"`
		Lean  []string      `json:"lean"` // null: it cannot keep only its output; empty: such a run writes nothing
		Alt   *engine.Alt   `json:"alt,omitempty"`
	}
	fileStep struct {
		Do        string        `json:"do"`
		Op        string        `json:"op,omitempty"`
		Lean      bool          `json:"lean,omitempty"`
		Alt       bool          `json:"alt,omitempty"`
		Value     string        `json:"value,omitempty"`
		NotBefore time.Duration `json:"not_before_ns,omitempty"`
		Reserve   bool          `json:"reserve,omitempty"`
	}
)

// The words in files for kinds of instructions, kinds of values, and passes.
var (
	doing      = []string{"run", "free", "offload", "fetch", "wait"}
	valueKinds = []string{"activation", "gradient", "weight", "state"}
	passes     = []string{"forward", "backward"}
)

// JSON returns the content of the file. Equal schedules give equal bytes. The error says that the schedule cannot
// be played.
func (p *File) JSON() ([]byte, error) {
	tr, err := sim.Play(p.Problem, p.Schedule)
	if err != nil {
		return nil, fmt.Errorf("the schedule cannot be exported because it cannot be played: %w", err)
	}
	d := &p.Problem.Device
	head := fileHead{Schema: Schema, Name: p.Name, Strategy: p.Strategy, Args: p.Args,
		Transfers: p.Problem.Transfers.String(),
		Device: fileDevice{Name: d.Name, Memory: d.Memory, ToHost: d.ToHost, ToDev: d.ToDev,
			Duplex: d.Duplex.String()},
		Budget: p.Problem.Budget, StepTimeNS: int64(tr.Makespan), Peak: tr.Peak, HostPeak: tr.HostPeak}
	chain, g := p.Problem.Chain, p.Problem.Graph
	if chain != nil {
		c := chain.Chain
		head.Chain = &fileChain{Batch: c.Batch, Input: c.Input, InputGrad: c.InputGrad,
			LossGradAllocated: c.LossGradAllocated, Resident: c.Resident}
		if c.Name != p.Name {
			head.Chain.Name = c.Name
		}
	} else {
		head.Graph = &fileGraph{Fixed: g.Fixed, Stages: g.Stages, Done: p.valueName(g.Done)}
	}
	var w writer
	w.value(head)
	w.buf.Truncate(w.buf.Len() - 1) // the lists come before the end of the object
	if chain != nil {
		list(&w, "stages", chain.Chain.Stages, stageOf)
	} else {
		list(&w, "values", g.Values, p.valueOf)
		list(&w, "ops", g.Ops, p.operationOf)
	}
	list(&w, "steps", p.Schedule, p.stepOf)
	w.buf.WriteString("\n}\n")
	return w.buf.Bytes(), w.err
}

// writer writes each field of the outer object on a line, and each item of its long lists.
type writer struct {
	buf bytes.Buffer
	err error
}

func (w *writer) value(v any) {
	text, err := json.Marshal(v)
	w.err = cmp.Or(w.err, err)
	w.buf.Write(text)
}

func list[T, F any](w *writer, name string, items []T, of func(*T) F) {
	w.buf.WriteString(",\n\"" + name + "\":[")
	for i := range items {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		w.buf.WriteString("\n ")
		w.value(of(&items[i]))
	}
	w.buf.WriteByte(']')
}

func stageOf(s *engine.Stage) fileStage {
	return fileStage{Name: s.Name, Kind: s.Kind, Forward: s.Forward, Back: s.Back, Out: s.Out, Saved: s.Saved,
		Unsaved: s.Unsaved, Grad: s.Grad, FwdTemp: s.FwdTemp, BwdTemp: s.BwdTemp, Fast: s.Fast}
}

func (p *File) valueOf(v *engine.Value) fileValue {
	f := fileValue{Name: v.Name, Kind: valueKinds[v.Kind], Bytes: v.Size, Stage: v.Stage,
		Within: p.valueName(v.PartOf)}
	if v.Initial&engine.OnDevice != 0 {
		f.Initial = append(f.Initial, "device")
	}
	if v.Initial&engine.OnHost != 0 {
		f.Initial = append(f.Initial, "host")
	}
	return f
}

func (p *File) operationOf(op *engine.Op) fileOp {
	names := func(ids []engine.ValueID) []string {
		if ids == nil {
			return nil
		}
		list := []string{}
		for _, v := range ids {
			list = append(list, p.valueName(v))
		}
		return list
	}
	f := fileOp{Name: op.Name, Pass: passes[op.Pass], Stage: op.Stage, Time: op.Time, Temp: op.Temp,
		In: names(op.In), Out: names(op.Out), Lean: names(op.OutputOnly), Alt: op.Alt}
	if op.Lane != engine.LaneCompute {
		f.Lane = engine.LaneNames[op.Lane]
	}
	for _, before := range op.After {
		f.After = append(f.After, p.opName(before))
	}
	return f
}

func (p *File) stepOf(s *engine.Instruction) fileStep {
	f := fileStep{Do: doing[s.Kind], Lean: s.OutputOnly, Alt: s.Alt, NotBefore: s.NotBefore, Reserve: s.Reserve}
	if s.Kind == engine.DoRun {
		f.Op = p.opName(s.Op)
	} else {
		f.Value = p.valueName(s.Value)
	}
	return f
}

// File is a schedule with the problem and the strategy that it is for.
type File struct {
	Name     string // of the network, for people
	Strategy string // name of the strategy that found it; may be empty
	Args     engine.Args
	Problem  *engine.Problem
	Schedule engine.Schedule
}

// opName returns the name of an operation in files (see the package comment).
func (p *File) opName(op engine.OpID) string {
	if p.Problem.Chain != nil {
		return p.Problem.Graph.Ops[op].Name
	}
	return fmt.Sprintf("o%d", op)
}

// valueName returns the name of a value in files, or the empty string for NoValue.
func (p *File) valueName(v engine.ValueID) string {
	switch {
	case v == engine.NoValue:
		return ""
	case p.Problem.Chain != nil:
		return p.Problem.Graph.Values[v].Name
	}
	return fmt.Sprintf("v%d", v)
}
