package dtr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// toy writes the log of a small network: a convolution with a counter, a ReLU in place, a block of two
// convolutions with a skip connection, and a loss.
type toy struct {
	b       strings.Builder
	noMark  bool // no ANNOTATE BACKWARD
	crossed bool // the input is read again after everything else: no chain
}

const (
	act    = 65536
	weight = 2304
)

func (d *toy) line(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *toy) constant(name string, size int) {
	d.line(`{"INSTRUCTION":"CONSTANT","NAME":%q}`, name)
	d.line(`{"INSTRUCTION":"MEMORY","MEMORY":"%d","NAME":%q}`, size, name)
}

// call writes a function with one result. alias is the number of an argument, or -1 for a result of its own.
func (d *toy) call(name, args, result string, us, size, alias int) {
	list := `"` + strings.ReplaceAll(args, " ", `","`) + `"`
	d.line(`{"ARGS":[%s],"INSTRUCTION":"CALL","NAME":%q,"RESULT":[%q],"TIME":"%d"}`, list, name, result, us*1000)
	d.line(`{"INSTRUCTION":"MEMORY","MEMORY":"%d","NAME":%q}`, size, result)
	d.line(`{"ALIAS":"%d","INSTRUCTION":"ALIAS","NAME":%q}`, alias, result)
}

func (d *toy) release(names string) {
	for _, n := range strings.Fields(names) {
		d.line(`{"INSTRUCTION":"RELEASE","NAME":%q}`, n)
	}
}

func (d *toy) String() string {
	d.constant("before", 7)
	d.line(`{"ANNOTATION":"START","INSTRUCTION":"ANNOTATE"}`)
	d.constant("x", 3*act)
	for _, w := range []string{"w1", "w2", "w3"} {
		d.constant(w, weight)
	}
	d.constant("count", 8)
	d.call("cudnn_convolution", "x w1", "a1", 100, act, -1)
	d.call("add", "count", "count2", 1, 8, -1)
	d.line(`{"DST":"count","INSTRUCTION":"COPY_FROM","SRC":"count2"}`)
	d.release("count2 before")
	d.line(`{"ARGS":["a1"],"INSTRUCTION":"MUTATE","MUTATE":[0],"NAME":"relu_","TIME":"10000"}`)
	d.call("cudnn_convolution", "a1 w2", "a2", 50, act, -1)
	d.call("relu", "a2", "a3", 10, act, -1)
	d.release("a2")
	d.call("cudnn_convolution", "a3 w3", "a4", 50, act, -1)
	last := "a4 a1"
	if d.crossed {
		last = "a4 a1 x"
	}
	d.call("add", last, "a5", 20, act, -1)
	d.call("view", "a5", "a6", 2, act, 0)
	d.call("mse_loss", "a6", "l", 5, 4, -1)
	if !d.noMark {
		d.line(`{"ANNOTATION":"BACKWARD","INSTRUCTION":"ANNOTATE"}`)
	}
	d.call("mse_loss_backward", "l a6", "g5", 5, act, -1)
	d.call("cudnn_convolution_backward", "a3 g5 w3", "g3", 100, act, -1)
	d.call("cudnn_convolution_backward_weight", "a3 g5", "dw3", 10, weight, -1)
	d.call("threshold_backward", "g3 a3", "g2", 15, act, -1)
	d.release("g3 a3 a4")
	d.call("cudnn_convolution_backward", "a1 g2 w2", "g1", 100, act, -1)
	d.call("cudnn_convolution_backward_weight", "a1 g2", "dw2", 10, weight, -1)
	d.line(`{"ARGS":["g1","g5"],"INSTRUCTION":"MUTATE","MUTATE":[0],"NAME":"add_","TIME":"12000"}`)
	d.release("g2 g5")
	d.call("threshold_backward", "g1 a1", "g0", 15, act, -1)
	d.release("g1 a1")
	d.call("cudnn_convolution_backward_weight", "x g0", "dw1", 90, weight, -1)
	d.release("g0 a5 a6 l x")
	return d.b.String()
}

// TestDTRSample checks that the sample is what toy writes.
func TestDTRSample(t *testing.T) {
	golden.File(t, "testdata/residual.dtr.log", (&toy{}).String())
}

// TestDTRChain checks the sizes and times of the toy, which were worked out by hand.
func TestDTRChain(t *testing.T) {
	p, err := profiles.Decode("toy.log", profiles.Bytes((&toy{}).String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	const us = 1000
	want := []engine.Stage{
		// The convolution, the counter, which stays, and the ReLU in place. Its backward makes g0.
		{Name: "convolution", Kind: "conv", Forward: 111 * us, Back: 105 * us, Out: act, Saved: act + 8, Grad: act,
			BwdTemp: act},
		// The block: a3 is saved, and so is a4, which the log releases only in the backward. a2 is released
		// before a4 is made.
		{Name: "convolution", Kind: "conv", Forward: 130 * us, Back: 247 * us, Out: act, Saved: 3 * act, Grad: act,
			BwdTemp: act},
		{Name: "loss", Forward: 7 * us, Back: 5 * us, Saved: 4},
	}
	got := append([]engine.Stage(nil), p.Chain.Stages...)
	for i := range got {
		if i >= len(want) || fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want[i]) {
			t.Errorf("stage %d is\n%+v\nwant\n%+v", i+1, got[i], want[min(i, len(want)-1)])
		}
	}
	if r := p.Chain.Resident; p.Chain.Input != 3*act || r.Weights != 3*weight+8 || r.Grads != 3*weight {
		t.Errorf("input %d, resident %+v; want %d, weights %d, gradients %d", p.Chain.Input, r, 3*act, 3*weight+8,
			3*weight)
	}
	if err := p.Graph.Validate(); err != nil {
		t.Error(err)
	}
}

// TestDTRRelease checks that values stay until the log releases them, and no longer.
func TestDTRRelease(t *testing.T) {
	held := (&toy{}).String()
	// a4 is released as soon as the addition has read it.
	const made = `{"ALIAS":"-1","INSTRUCTION":"ALIAS","NAME":"a5"}` + "\n"
	early := strings.Replace(held, made, made+`{"INSTRUCTION":"RELEASE","NAME":"a4"}`+"\n", 1)
	for _, c := range []struct {
		log  string
		last string // reader of a4
	}{{early, "add"}, {held, "threshold_backward"}} {
		p, err := profiles.Decode("toy.log", profiles.Bytes(c.log), nil)
		if err != nil {
			t.Fatal(err)
		}
		var a4 engine.ValueID
		last := ""
		for i := range p.Graph.Ops {
			op := &p.Graph.Ops[i]
			if op.Name == "add" && len(op.In) == 2 {
				a4 = max(op.In[0], op.In[1]) // the other is a1
			}
			if a4 > 0 && slices.Contains(op.In, a4) {
				last = op.Name
			}
		}
		if last != c.last {
			t.Errorf("a4 is read last by %q, want %q\n%s", last, c.last, formattest.Text(p))
		}
	}
}

// TestDTRShapes checks logs without the annotation, and a block that the loss also reads into.
func TestDTRShapes(t *testing.T) {
	p, err := profiles.Decode("toy.log", profiles.Bytes((&toy{noMark: true}).String()), nil)
	if err != nil || p.Chain == nil || p.Chain.Len() != 3 || p.Chain.BackTime().Microseconds() != 357 {
		t.Errorf("without BACKWARD: %v, %+v; want 3 stages and a backward of 357us", err, p)
	}
	log := (&toy{}).String()
	log = strings.Replace(log, `"ARGS":["a6"]`, `"ARGS":["a6","a3","a1"]`, 1)
	log = strings.Replace(log, `{"ARGS":["a1"],"INSTRUCTION":"MUTATE"`, `{"ARGS":["a1","x"],"INSTRUCTION":"MUTATE"`, 1)
	p, err = profiles.Decode("toy.log", profiles.Bytes(log), nil)
	if err != nil || p.Graph == nil || p.Chain == nil || p.Chain.Len() != 3 {
		t.Errorf("a block that the loss reads into: %v, %+v; want one stage, the rest, and the loss", err, p)
	}
}

// TestDTRRefusals checks that errors in a log are reported with their lines.
func TestDTRRefusals(t *testing.T) {
	good := (&toy{}).String()
	for _, c := range []struct{ name, input, want string }{
		{"an unknown name", strings.Replace(good, `["x","w1"]`, `["x","w9"]`, 1), `Line 14: "w9" is not known here.`},
		{"a negative time", strings.Replace(good, `"100000"`, `"-1"`, 1),
			"Line 14: TIME is -1. Times cannot be negative."},
		{"a size that is none", strings.Replace(good, `"MEMORY":"196608"`, `"MEMORY":"much"`, 1),
			`Line 5: MEMORY is "much". A number of bytes is expected.`},
		{"an unknown instruction", strings.Replace(good, `"RELEASE"`, `"FREE"`, 1), `the instruction is "FREE".`},
		{"a missing result", strings.Replace(good, `{"ALIAS":"-1","INSTRUCTION":"ALIAS","NAME":"a1"}`+"\n", "", 1),
			"CALL follows within the results of cudnn_convolution."},
		{"no backward", good[:strings.Index(good, `{"ANNOTATION":"BACKWARD"`)], "belongs to a backward"},
		{"cut off", good[:strings.Index(good, `"g5"]`)], "Every line is one JSON object { }."},
		{"an argument that is not there", strings.Replace(good, `"MUTATE":[0]`, `"MUTATE":[7]`, 1),
			"MUTATE names argument 7. There are 1 arguments, counted from 0."},
	} {
		_, err := profiles.Decode("x.log", profiles.Bytes(c.input), nil)
		formattest.CheckProblems(t, err)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
