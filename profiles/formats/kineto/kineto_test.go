package kineto

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/jsonfile"
)

// toySamples maps the samples in testdata to the functions that generate them.
var toySamples = map[string]func() string{
	"testdata/modules.trace.json": func() string {
		return (&toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}).String()
	},
	"testdata/stacks.trace.json": func() string {
		return (&toyTrace{old: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 2}).String()
	},
}

// TestKinetoSamples checks that the samples are what toyTrace generates.
func TestKinetoSamples(t *testing.T) {
	for file, build := range toySamples {
		golden.File(t, file, build())
	}
}

// decodeToy decodes a trace and returns the profile with a text of it.
func decodeToy(t *testing.T, y toyTrace) (*profiles.Profile, string) {
	t.Helper()
	p, err := profiles.Decode("toy.json", profiles.Bytes(y.String()), nil)
	if err != nil {
		t.Fatalf("%+v: %v", y, err)
	}
	return p, told(p)
}

func toyStages(p *profiles.Profile) string {
	var names []string
	for i := range p.Chain.Stages {
		names = append(names, p.Chain.Stages[i].Name)
	}
	return strings.Join(names, " | ")
}

// TestKinetoSources checks that stages come from what the trace has, with the same cuts.
func TestKinetoSources(t *testing.T) {
	full := toyTrace{memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}
	for _, c := range []struct {
		name  string
		alter func(y *toyTrace)
		want  string
	}{
		{"modules", func(y *toyTrace) { y.modules = true }, "Conv2d_0 | Block_0 | Block_1 | Linear_0 | loss"},
		{"call stacks", func(y *toyTrace) { y.old = true }, "conv | block 1 | block 2 | linear | loss"},
		{"named ranges", func(y *toyTrace) { y.ranges = true },
			"Conv2d_0 | Sequential_0/Block_0 | Sequential_0/Block_1 | Linear_0 | loss"},
		{"operators", func(y *toyTrace) {}, "conv2d 1 | conv2d 2 | add 1 | conv2d 3 | add 2 | linear | loss"},
		{"AMD", func(y *toyTrace) { y.modules, y.noJoin, y.amd = true, true, true },
			"Conv2d_0 | Block_0 | Block_1 | Linear_0 | loss"},
		{"correlations", func(y *toyTrace) { y.modules, y.noJoin = true, true },
			"Conv2d_0 | Block_0 | Block_1 | Linear_0 | loss"},
	} {
		y := full
		c.alter(&y)
		p, text := decodeToy(t, y)
		if got := toyStages(p); got != c.want {
			t.Errorf("%s: stages %s, want %s", c.name, got, c.want)
		}
		// 100 + 2·(40+10+20) + 30 + 5 us of kernels. The backward takes twice that, and 1 us for each of the four
		// weight gradients.
		if f, b := p.Chain.ForwardTime().Microseconds(), p.Chain.BackTime().Microseconds(); f != 275 || b != 554 {
			t.Errorf("%s: forward %d us, backward %d us; want 275 and 554\n%s", c.name, f, b, text)
		}
		if w := p.Chain.Resident.Weights; w != 4*(3*4*4*3*3+4*4) {
			t.Errorf("%s: weights %d bytes, want %d", c.name, w, 4*(3*4*4*3*3+4*4))
		}
		if p.Batch != 8 || p.DType != "f32" || p.Chain.Input != toyBytes {
			t.Errorf("%s: batch %d, dtype %q, input %d; want 8, f32, %d", c.name, p.Batch, p.DType, p.Chain.Input,
				toyBytes)
		}
	}
}

// TestPhasesAreNotStages checks that ranges around the forward and the backward do not change the stages.
func TestPhasesAreNotStages(t *testing.T) {
	full := toyTrace{memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}
	for _, alter := range []func(y *toyTrace){func(y *toyTrace) {}, func(y *toyTrace) { y.ranges = true },
		func(y *toyTrace) { y.modules = true }} {
		plain := full
		alter(&plain)
		phased := plain
		phased.phases = true
		want, _ := decodeToy(t, plain)
		got, text := decodeToy(t, phased)
		if toyStages(got) != toyStages(want) || got.Totals() != want.Totals() {
			t.Errorf("with phases: stages %s, %+v; want %s, %+v\n%s", toyStages(got), got.Totals(), toyStages(want),
				want.Totals(), text)
		}
		if said := strings.Contains(text, `Named ranges such as "## forward ##" are phases`); said == plain.modules {
			t.Errorf("ranges that are no stages are told: %v, want %v\n%s", said, !plain.modules, text)
		}
	}
}

// TestIsPhase checks that isPhase distinguishes names of phases from those of layers.
func TestIsPhase(t *testing.T) {
	for name, want := range map[string]bool{"## forward ##": true, "zero_grad": true, "train_step 17": true,
		"[bwd]": true, "encoder": false, "forward: block 3": false,
		"17": false, "": false, "loss": false, "backward_mlp": false} {
		if got := isPhase(name); got != want {
			t.Errorf("isPhase(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestAsides checks that work that belongs to no layer is left out of the backward and reported in the notes.
func TestAsides(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(y *toyTrace)
		want  string
	}{
		{"collectives", func(y *toyTrace) { y.gathers = true }, "Collectives take 2ms in this step"}, // 4 of 500 us
		{"recomputation", func(y *toyTrace) { y.again = true }, "runs forwards again for 110µs"},
		// The recomputation takes twice 40, 3 and 10 us. These 106 us are rounded to 10 us.
		{"both", func(y *toyTrace) { y.gathers, y.again = true, true }, "runs forwards again for 110µs"},
	} {
		for _, onCPU := range []bool{false, true} {
			y := toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1, noGPU: onCPU}
			want, _ := decodeToy(t, y)
			c.alter(&y)
			got, text := decodeToy(t, y)
			f, b, w := got.Chain.ForwardTime(), got.Chain.BackTime(), want.Chain.BackTime()
			// On the CPU, the backward operators around a repeated forward take 1 us more each.
			if f != want.Chain.ForwardTime() || b < w || b > w+2*time.Microsecond || b != w && !onCPU {
				t.Errorf("%s, on the CPU %v: forward %v, backward %v; want %v and %v\n%s", c.name, onCPU, f, b,
					want.Chain.ForwardTime(), w, text)
			}
			if !onCPU && !strings.Contains(text, c.want) {
				t.Errorf("%s: want %q in\n%s", c.name, c.want, text)
			}
		}
	}
}

// TestClocks checks that the time in which several works overlap counts once as busy.
func TestClocks(t *testing.T) {
	s := &ktStep{works: []work{{begin: 30, ran: 5}, {begin: 0, ran: 10}, {begin: 5, ran: 10}}}
	if wall, busy := s.clocks(); wall != 35 || busy != 20 {
		t.Errorf("0 to 10, 5 to 15 and 30 to 35: %d pass, %d busy; want 35 and 20", wall, busy)
	}
}

// TestStepsWithinMarks checks that the parts of a batch within a marked step are recognised.
func TestStepsWithinMarks(t *testing.T) {
	want, _ := decodeToy(t, toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1})
	got, text := decodeToy(t, toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 2,
		parts: 3})
	if b := got.Chain.BackTime(); b != want.Chain.BackTime() || got.Chain.Len() != want.Chain.Len() ||
		!strings.Contains(text, "Of 6 pairs in 2 steps") {
		t.Errorf("three parts: backward %v, %d stages; want %v, %d, and to hear of 6 pairs\n%s", b, got.Chain.Len(),
			want.Chain.BackTime(), want.Chain.Len(), text)
	}
}

// TestPeakCompared checks that there is a warning if the stages do not explain the recorded peak.
func TestPeakCompared(t *testing.T) {
	for _, c := range []struct {
		others int64
		warns  bool
	}{{0, false}, {100_000, true}} {
		y := toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1, others: c.others}
		p, text := decodeToy(t, y)
		if got := strings.Contains(strings.Join(p.Warnings, "\n"),
			"sizes of stages do not tell all of it"); got != c.warns {
			t.Errorf("%d bytes that no stage takes: warned of the peak: %v, want %v\n%s", c.others, got, c.warns, text)
		}
	}
}

// TestKinetoSizes checks the sizes that are derived from memory events.
func TestKinetoSizes(t *testing.T) {
	p, text := decodeToy(t, toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1})
	block := p.Chain.Stages[1]
	// The convolution and the sum each keep one activation. The convolution's workspace is freed before the sum's
	// result is made.
	if block.Out != toyBytes || block.Saved != 2*toyBytes || block.FwdTemp != 0 || block.BwdTemp <= 0 {
		t.Errorf("a block has a %d, abar %d, oF %d, oB %d; want %d, %d, 0, more than 0\n%s",
			block.Out, block.Saved, block.FwdTemp, block.BwdTemp, toyBytes, 2*toyBytes, text)
	}
	if conv := p.Chain.Stages[0]; conv.FwdTemp != 1024 {
		t.Errorf("the workspace of the first convolution is %d bytes, want 1024", conv.FwdTemp)
	}
	// 10,000,000 bytes are in use before the step: the input, the weights, their gradients, and the rest.
	if r := p.Chain.Resident; r.Total()+p.Chain.Input != 10_000_000 {
		t.Errorf("resident %+v and the input are %d bytes, want 10000000", r, r.Total()+p.Chain.Input)
	}
}

// TestKinetoSteps checks that steps are recognised by whichever marks the trace has.
func TestKinetoSteps(t *testing.T) {
	for _, c := range []struct{ marks, want string }{
		{"ProfilerStep#", "Of 3 steps the one with the median of the work is read."},
		{"Optimizer.step#SGD", "Of 3 steps the one with the median of the work is read."},
		{"", "one ends where a forward follows a backward. Of 3 the one with the median of the work is read."},
	} {
		p, text := decodeToy(t, toyTrace{modules: true, memory: true, shapes: true, marks: c.marks, steps: 3})
		if !strings.Contains(text, c.want) {
			t.Errorf("steps marked by %q: want %q in\n%s", c.marks, c.want, text)
		}
		// The optimizer takes 50, 100 and 150 us. The median step has 829 us of the network and 100 us of the
		// optimizer.
		if p.Chain.Len() != 5 || !strings.Contains(text, "829us of 929us") &&
			!strings.Contains(text, "830µs of 930µs") {
			t.Errorf("steps marked by %q: %d stages, want 5, and 830µs of 930µs in\n%s", c.marks, p.Chain.Len(), text)
		}
	}
}

// TestKinetoWarnings checks that a warning says what a trace lacks and how to record it.
func TestKinetoWarnings(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(y *toyTrace)
		want  string
	}{
		{"no memory", func(y *toyTrace) { y.memory = false }, "profile_memory=True"},
		{"no shapes", func(y *toyTrace) { y.shapes = false }, "record_shapes=True"},
		{"no modules", func(y *toyTrace) { y.modules = false }, "with_modules=True"},
		{"no GPU", func(y *toyTrace) { y.noGPU = true }, "ProfilerActivity.CUDA"},
	} {
		y := toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}
		if _, text := decodeToy(t, y); strings.Contains(text, c.want) {
			t.Errorf("a full trace warns of %s:\n%s", c.want, text)
		}
		y = toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}
		c.alter(&y)
		if _, text := decodeToy(t, y); !strings.Contains(text, c.want) {
			t.Errorf("%s: want a warning with %s in\n%s", c.name, c.want, text)
		}
	}
}

// TestKinetoRefusals checks the errors for traces that cannot be read.
func TestKinetoRefusals(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"no backward", (&toyTrace{modules: true, steps: 1, noBack: true}).String(),
			"the trace has no backward that names its forward"},
		{"another tool", `{"traceEvents": [{"ph": "X", "cat": "gpu", "name": "draw", "ts": 1, "dur": 2}]}`,
			"none of 1 event is an operator of PyTorch"},
		{"JAX", `{"traceEvents": [{"ph": "X", "name": "fusion.1", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"hlo_category": "fusion"}}]}`, "this is a trace of JAX or XLA"},
		{"a browser", `[{"ph": "X", "cat": "disabled-by-default-devtools.timeline", "name": "RunTask", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]`, "this is a trace of Chrome's developer tools"},
		{"kernels alone", `{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2, "pid": 0, "tid": 7, "args": {}}]}`, "the trace has kernels of the device, but no operator of PyTorch"},
		{"the old profiler", `[{"name": "aten::add", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}}]`, "this is a trace of torch.autograd.profiler"},
		{"no sizes", (&toyTrace{modules: true, steps: 1}).String(),
			"Record with torch.profiler.profile(record_shapes=True, profile_memory=True)"},
		{"compiled", (&toyTrace{memory: true, shapes: true, steps: 1, fused: true}).String(),
			"the whole forward is one graph of torch.compile"},
		{"two ranks", strings.Replace((&toyTrace{memory: true, shapes: true, steps: 2}).String(),
			`"conv2dBackward0", "pid": 1`, `"conv2dBackward0", "pid": 2`, 1), "traces of several ranks in one file"},
		{"nothing", `{"traceEvents": []}`, "none of 0 events is an operator"},
		{"cut off", `{"traceEvents": [{"ph": "X"}, {"ph": `, "the content ends early, after 1 event"},
		{"a number", `{"traceEvents": [7]}`, "an event is expected instead of '7'"},
		{"more content", `{"traceEvents": []} {}`, "something follows its end"},
	} {
		_, err := profiles.Decode("x.json", profiles.Bytes(c.input), nil)
		formattest.CheckProblems(t, err)
		if err == nil || !strings.Contains(fmt.Sprint(err, profiles.Problems(err)[0].Remedy), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestBareBackslashes checks that texts with backslashes that JSON forbids end in the right place.
func TestBareBackslashes(t *testing.T) {
	s := jsonfile.NewStream(strings.NewReader(""))
	s.Eof = true
	for _, c := range []struct{ text, key, value string }{
		{`{"a": "C:\Users\me", "b": 1}`, "b", "1"},
		{`{"a": "C:\Users\", "b": 1}`, "b", "1"},
		{`{"a": "say \"hi\" \\", "b": "x"}`, "b", `"x"`},
		{`{"b": "D:\W\"}`, "b", `"D:\W\"`},
	} {
		got := ""
		s.Bare = false
		ok := s.EachField([]byte(c.text), func(key, value []byte) {
			if string(key) == c.key {
				got = string(value)
			}
		})
		if !ok || got != c.value {
			t.Errorf("%s: %s is %q (read: %v), want %q", c.text, c.key, got, ok, c.value)
		}
	}
}

// TestSharedFrames checks how many frames of two call stacks belong to the same calls of modules.
func TestSharedFrames(t *testing.T) {
	const call = "torch/nn/modules/module.py(9): _call_impl"
	net := "train.py(1): <module>;" + call + ";net.py(5): forward"
	block := net + ";" + call + ";torch/nn/modules/container.py(3): forward;" + call
	for _, c := range []struct {
		name, before, now string
		sameName          bool
		want              int
	}{
		{"further on in a block", block + ";block.py(11): forward", block + ";block.py(12): forward", false, 6},
		{"the next block", block + ";block.py(12): forward", block + ";block.py(11): forward", false, 5},
		{"another module of the loop", block + ";block.py(12): forward", block + ";other.py(99): forward", false, 5},
		{"the same module of PyTorch again", block + ";torch/nn/modules/conv.py(4): forward",
			block + ";torch/nn/modules/conv.py(4): forward", true, 5},
		{"another operator of the same line", block + ";torch/nn/modules/conv.py(4): forward",
			block + ";torch/nn/modules/conv.py(4): forward", false, 7},
		{"back in the network", block + ";block.py(12): forward", strings.Replace(net, "net.py(5)", "net.py(6)", 1),
			false, 2},
		{"outside of all modules", block + ";block.py(12): forward", "train.py(2): <module>", false, 0},
	} {
		turn := func(s string) string { // call stacks have the innermost frame first
			list := strings.Split(s, ";")
			slices.Reverse(list)
			return strings.Join(list, ";")
		}
		if got := sharedFrames(frames(turn(c.before)), frames(turn(c.now)), c.sameName); got != c.want {
			t.Errorf("%s: %d frames are shared, want %d\n%s\n%s", c.name, got, c.want, c.before, c.now)
		}
	}
}

// told returns the notes, the warnings and the chain of p as text.
func told(p *profiles.Profile) string {
	return fmt.Sprintf("%s\n%s\n%+v", strings.Join(p.Source.Notes, "\n"), strings.Join(p.Warnings, "\n"), p.Chain)
}
