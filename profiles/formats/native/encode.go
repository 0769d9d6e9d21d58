package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// Encode writes a profile as a memtide/1 file that Decode reads back exactly, to the nanosecond
// and the byte. A profile with a chain is written with its graph, a profile with only a graph as
// kind graph, and one about addresses as kind buffers. Equal profiles give equal bytes. Encode
// returns an error for an empty profile, and for a chain without a stage besides the loss.
func Encode(w io.Writer, p *profiles.Profile) error {
	var e writer
	e.buf.WriteByte('{')
	switch {
	case p.Chain != nil && p.Totals().Stages == 0:
		return fmt.Errorf("the chain of %q has no stage besides the loss; a file needs one", p.Name)
	case p.Chain != nil:
		e.chain(p)
	case p.Graph != nil:
		e.frame(p, "graph")
		e.field(newLine, "resident", fileResident{Pinned: p.Graph.Fixed})
		e.graph(p.Graph)
	case p.Memory != nil:
		e.memory(p)
	default:
		return fmt.Errorf("the profile %q has neither a chain nor a graph nor buffers", p.Name)
	}
	e.buf.WriteString("}\n")
	_, err := w.Write(e.buf.Bytes())
	return err
}

// The types of the parts of a file, whose fields docs/formats.md explains.
type (
	fileDevice struct {
		Name   string       `json:"name,omitempty"`
		Memory engine.Bytes `json:"memory_bytes"`
		ToDev  engine.Rate  `json:"h2d_bytes_per_s"`
		ToHost engine.Rate  `json:"d2h_bytes_per_s"`
		Duplex bool         `json:"duplex"`
	}
	fileResident struct {
		Weights   engine.Bytes `json:"weights"`
		Grads     engine.Bytes `json:"grads"`
		Optimizer engine.Bytes `json:"optimizer"`
		Pinned    engine.Bytes `json:"pinned"`
	}
	fileStage struct {
		Name    string       `json:"name"`
		Kind    string       `json:"kind,omitempty"`
		Forward json.Number  `json:"forward_s"`
		Back    json.Number  `json:"backward_s"`
		Out     engine.Bytes `json:"output_bytes"`
		Saved   engine.Bytes `json:"saved_bytes"`
		Unsaved bool         `json:"output_unsaved,omitempty"`
		Grad    engine.Bytes `json:"grad_bytes"`
		FwdTemp engine.Bytes `json:"forward_temp_bytes"`
		BwdTemp engine.Bytes `json:"backward_temp_bytes"`
		Fast    *fileFast    `json:"fast,omitempty"`
	}
	fileFast struct {
		Forward json.Number  `json:"forward_s"`
		Back    json.Number  `json:"backward_s"`
		FwdTemp engine.Bytes `json:"forward_temp_bytes"`
		BwdTemp engine.Bytes `json:"backward_temp_bytes"`
	}
	fileValue struct {
		ID     engine.ValueID  `json:"id"`
		Name   string          `json:"name,omitempty"`
		Bytes  engine.Bytes    `json:"bytes"`
		Role   string          `json:"role,omitempty"`
		At     string          `json:"at,omitempty"`
		Within *engine.ValueID `json:"within,omitempty"`
		Stage  int             `json:"stage"`
	}
	fileOp struct {
		Name  string           `json:"name,omitempty"`
		Pass  string           `json:"pass"`
		Time  json.Number      `json:"time_s"`
		Temp  engine.Bytes     `json:"temp_bytes"`
		Lane  string           `json:"lane,omitempty"`
		After []engine.OpID    `json:"after,omitempty"`
		In    []engine.ValueID `json:"in,omitempty"`
		Out   []engine.ValueID `json:"out,omitempty"`
		Lean  []engine.ValueID `json:"lean,omitzero"` // empty: an operation that keeps only its output writes nothing
		Once  bool             `json:"once,omitempty"`
		Alt   *fileAlt         `json:"alt,omitempty"`
		Stage int              `json:"stage"`
	}
	fileAlt struct {
		Time json.Number  `json:"time_s"`
		Temp engine.Bytes `json:"temp_bytes"`
	}
)

// seconds returns a duration as decimal seconds, exactly.
func seconds(d time.Duration) json.Number {
	text := strconv.FormatInt(int64(d/time.Second), 10)
	if frac := d % time.Second; frac != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%09d", int64(frac)), "0")
	}
	return json.Number(text)
}

// writer writes the fields of an object, and each item of its long lists on a line.
type writer struct{ buf bytes.Buffer }

const newLine = "\n "

// field writes a field, with sep before its key.
func (e *writer) field(sep, key string, v any) {
	e.key(sep, key)
	e.value(v)
}

func (e *writer) key(sep, key string) {
	if b := e.buf.Bytes(); b[len(b)-1] != '{' {
		e.buf.WriteByte(',')
	}
	e.buf.WriteString(sep + `"` + key + `":`)
}

func (e *writer) value(v any) {
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)               // values of these types always encode, and a buffer always takes them
	e.buf.Truncate(e.buf.Len() - 1) // the newline
}

// list writes a field that is a list of n items.
func (e *writer) list(key string, n int, item func(i int) any) {
	e.key(newLine, key)
	e.buf.WriteByte('[')
	for i := range n {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		e.buf.WriteString(newLine + " ")
		e.value(item(i))
	}
	e.buf.WriteByte(']')
}

// frame writes the fields that all kinds have.
func (e *writer) frame(p *profiles.Profile, kind string) {
	e.field("", "format", Version)
	e.field("", "kind", kind)
	e.field(newLine, "name", p.Name)
	if p.Batch != 0 {
		e.field("", "batch", p.Batch)
	}
	if p.DType != "" {
		e.field("", "dtype", p.DType)
	}
	e.field(newLine, "source", p.Source)
	if d := p.Device; d != nil {
		e.field(newLine, "device", fileDevice{d.Name, d.Memory, d.ToDev, d.ToHost, d.Duplex == engine.FullDuplex})
	}
	if len(p.Warnings) > 0 {
		e.field(newLine, "warnings", p.Warnings)
	}
}

func (e *writer) chain(p *profiles.Profile) {
	c := p.Chain
	e.frame(p, "chain")
	e.field(newLine, "input_bytes", c.Input)
	e.field("", "input_grad_bytes", c.InputGrad)
	e.field(newLine, "resident", fileResident(c.Resident))
	if c.LossGradAllocated {
		e.field(newLine, "seed_born", true)
	}
	e.list("stages", p.Totals().Stages, func(i int) any { return stageOf(&c.Stages[i]) })
	if !c.LossGradAllocated {
		e.field(newLine, "loss", stageOf(&c.Stages[c.Len()-1]))
	}
	if p.Graph != nil {
		e.key(newLine, "graph")
		e.buf.WriteByte('{')
		e.field("", "fixed_bytes", p.Graph.Fixed)
		e.graph(p.Graph)
		e.buf.WriteByte('}')
	}
}

func stageOf(s *engine.Stage) fileStage {
	out := fileStage{Name: s.Name, Kind: s.Kind, Forward: seconds(s.Forward), Back: seconds(s.Back), Out: s.Out,
		Saved: s.Saved, Unsaved: s.Unsaved, Grad: s.Grad, FwdTemp: s.FwdTemp, BwdTemp: s.BwdTemp}
	if f := s.Fast; f != nil {
		out.Fast = &fileFast{seconds(f.Forward), seconds(f.Back), f.FwdTemp, f.BwdTemp}
	}
	return out
}

// graph writes the fields of a graph, except fixed_bytes.
func (e *writer) graph(g *engine.Graph) {
	usual := usualPlaces(g)
	e.list("values", len(g.Values), func(i int) any { return valueOf(engine.ValueID(i), &g.Values[i], usual[i]) })
	e.list("ops", len(g.Ops), func(i int) any { return opOf(&g.Ops[i]) })
	if g.Done != engine.NoValue {
		e.field(newLine, "done", g.Done)
	}
}

func valueOf(id engine.ValueID, v *engine.Value, usual engine.Place) fileValue {
	out := fileValue{ID: id, Name: v.Name, Bytes: v.Size, Role: roles[v.Kind], Stage: v.Stage}
	if v.Kind == engine.KindActivation && v.Initial == engine.OnDevice {
		out.Role, usual = roleInput, engine.OnDevice
	}
	if v.Initial != usual {
		out.At = places[v.Initial]
	}
	if v.PartOf != engine.NoValue {
		out.Within = &v.PartOf
	}
	return out
}

func opOf(op *engine.Op) fileOp {
	out := fileOp{Name: op.Name, Pass: [...]string{"forward", "backward"}[op.Pass], Time: seconds(op.Time),
		Temp: op.Temp, After: op.After, In: op.In, Out: op.Out, Lean: op.OutputOnly, Once: op.Once, Stage: op.Stage}
	if op.Lane != engine.LaneCompute {
		out.Lane = engine.LaneNames[op.Lane]
	}
	if op.Alt != nil {
		out.Alt = &fileAlt{seconds(op.Alt.Time), op.Alt.Temp}
	}
	return out
}
