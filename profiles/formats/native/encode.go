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
	"memtide/profiles/parse"
)

// Encode writes a profile as a memtide/1 file that Decode reads back exactly, to the nanosecond
// and the byte. A profile with a chain is written with its graph, a profile with only a graph as
// kind graph, and one about addresses as kind buffers. Equal profiles give equal bytes. Encode
// returns an error for an empty profile, and for a chain without a stage besides the loss.
func Encode(w io.Writer, p *profiles.Profile) error {
	var e writer
	switch {
	case p.Chain != nil && p.Totals().Stages == 0:
		return fmt.Errorf("the chain of %q has no stage besides the loss; a file needs one", p.Name)
	case p.Chain != nil:
		e.chain(p)
	case p.Graph != nil:
		e.frame(p, "graph")
		e.resident(engine.Resident{Pinned: p.Graph.Fixed})
		e.graph(p.Graph)
	case p.Memory != nil:
		e.memory(p)
	default:
		return fmt.Errorf("the profile %q has neither a chain nor a graph nor buffers", p.Name)
	}
	e.close('}')
	e.buf.WriteByte('\n')
	_, err := w.Write(e.buf.Bytes())
	return err
}

// writer builds JSON with one line for each key or stage. encoding/json would convert times to
// floating point.
type writer struct {
	buf   bytes.Buffer
	first bool // the open object or list has no item yet
}

func (e *writer) open(bracket byte) {
	e.buf.WriteByte(bracket)
	e.first = true
}

func (e *writer) close(bracket byte) {
	e.buf.WriteByte(bracket)
	e.first = false
}

func (e *writer) comma(sep string) {
	if !e.first {
		e.buf.WriteByte(',')
	}
	e.buf.WriteString(sep)
	e.first = false
}

func (e *writer) key(sep, key string) {
	e.comma(sep)
	e.buf.WriteString(`"` + key + `":`)
}

func (e *writer) quote(s string) {
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	// A string always encodes, and a buffer always takes it.
	_ = enc.Encode(s)
	e.buf.Truncate(e.buf.Len() - 1) // the newline
}

// text writes a field unless it is empty.
func (e *writer) text(key, s string) {
	if s != "" {
		e.key("", key)
		e.quote(s)
	}
}

func (e *writer) int(sep, key string, v int64) {
	e.key(sep, key)
	e.buf.WriteString(strconv.FormatInt(v, 10))
}

// seconds writes a duration as decimal seconds, exactly.
func (e *writer) seconds(key string, d time.Duration) {
	e.int("", key, int64(d/time.Second))
	if frac := d % time.Second; frac != 0 {
		e.buf.WriteString("." + strings.TrimRight(fmt.Sprintf("%09d", int64(frac)), "0"))
	}
}

func (e *writer) yes(sep, key string) {
	e.key(sep, key)
	e.buf.WriteString("true")
}

func (e *writer) texts(sep, key string, list []string) {
	if len(list) == 0 {
		return
	}
	e.list(sep, key, len(list), "", func(i int) { e.quote(list[i]) })
}

// list writes a list of n items, with sep before each item, and before before its key.
func (e *writer) list(before, key string, n int, sep string, write func(i int)) {
	e.key(before, key)
	e.open('[')
	for i := range n {
		e.comma(sep)
		write(i)
	}
	e.close(']')
}

// number is an integer field.
type number struct {
	key string
	n   int64
}

// numbers writes an object of integers.
func (e *writer) numbers(fields ...number) {
	e.open('{')
	for _, f := range fields {
		e.int("", f.key, f.n)
	}
	e.close('}')
}

const newLine = "\n "

// frame writes the fields that all kinds have.
func (e *writer) frame(p *profiles.Profile, kind string) {
	e.open('{')
	e.text("format", Version)
	e.text("kind", kind)
	e.key(newLine, "name")
	e.quote(p.Name)
	if p.Batch != 0 {
		e.int("", "batch", int64(p.Batch))
	}
	e.text("dtype", p.DType)
	e.source(&p.Source)
	if d := p.Device; d != nil {
		e.key(newLine, "device")
		e.open('{')
		e.text("name", d.Name)
		e.int("", "memory_bytes", int64(d.Memory))
		e.int("", "h2d_bytes_per_s", int64(d.ToDev))
		e.int("", "d2h_bytes_per_s", int64(d.ToHost))
		e.key("", "duplex")
		e.buf.WriteString(strconv.FormatBool(d.Duplex == engine.FullDuplex))
		e.close('}')
	}
	e.texts(newLine, "warnings", p.Warnings)
}

func (e *writer) source(s *profiles.Source) {
	e.key(newLine, "source")
	e.open('{')
	e.text("tool", s.Tool)
	e.text("times", string(s.Times))
	e.text("sizes", string(s.Sizes))
	e.text("device", s.Device)
	e.texts("", "notes", s.Notes)
	e.text("url", s.URL)
	e.close('}')
}

func (e *writer) resident(r engine.Resident) {
	e.key(newLine, "resident")
	e.numbers(number{"weights", int64(r.Weights)}, number{"grads", int64(r.Grads)},
		number{"optimizer", int64(r.Optimizer)}, number{"pinned", int64(r.Pinned)})
}

func (e *writer) chain(p *profiles.Profile) {
	c := p.Chain
	e.frame(p, "chain")
	e.int(newLine, "input_bytes", int64(c.Input))
	e.int("", "input_grad_bytes", int64(c.InputGrad))
	e.resident(c.Resident)
	if c.LossGradAllocated {
		e.yes(newLine, "seed_born")
	}
	e.list(newLine, "stages", p.Totals().Stages, newLine+" ", func(i int) { e.stage(&c.Stages[i]) })
	if !c.LossGradAllocated {
		e.key(newLine, "loss")
		e.stage(&c.Stages[c.Len()-1])
	}
	if p.Graph != nil {
		e.key(newLine, "graph")
		e.open('{')
		e.int("", "fixed_bytes", int64(p.Graph.Fixed))
		e.graph(p.Graph)
		e.close('}')
	}
}

func (e *writer) stage(s *engine.Stage) {
	e.open('{')
	e.key("", "name")
	e.quote(s.Name)
	e.text("kind", s.Kind)
	e.seconds("forward_s", s.Forward)
	e.seconds("backward_s", s.Back)
	e.int("", "output_bytes", int64(s.Out))
	e.int("", "saved_bytes", int64(s.Saved))
	if s.Unsaved {
		e.yes("", parse.UnsavedColumn)
	}
	e.int("", "grad_bytes", int64(s.Grad))
	e.int("", "forward_temp_bytes", int64(s.FwdTemp))
	e.int("", "backward_temp_bytes", int64(s.BwdTemp))
	if f := s.Fast; f != nil {
		e.key("", "fast")
		e.open('{')
		e.seconds("forward_s", f.Forward)
		e.seconds("backward_s", f.Back)
		e.int("", "forward_temp_bytes", int64(f.FwdTemp))
		e.int("", "backward_temp_bytes", int64(f.BwdTemp))
		e.close('}')
	}
	e.close('}')
}

// graph writes the fields of a graph, except fixed_bytes.
func (e *writer) graph(g *engine.Graph) {
	usual := usualPlaces(g)
	e.list(newLine, "values", len(g.Values), newLine+" ",
		func(i int) { e.value(engine.ValueID(i), &g.Values[i], usual[i]) })
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
		e.list("", "lean", 0, "", nil) // an operation that keeps only its output writes nothing
	}
	if op.Once {
		e.yes("", "once")
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
