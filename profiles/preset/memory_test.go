package preset

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memtide/engine"
)

// TestBottleneck compares blocks of ResNet-50 with the following count by hand. The unit u is 64 channels at 56 x
// 56 in 32 bits, 802,816 bytes an image. layer1.0 has input u and output 4u. It saves the inputs of four
// normalisations (u, u, 4u, 4u), two inputs of convolutions (u, u), the output (4u) and the statistics of 640
// channels. Its forward makes the normalised copy of the shortcut (4u) while all of that exists. Its backward
// starts with the saved set, the gradient and its copy behind the ReLU (16u + 4u + 4u), of which the chain counts
// 16u + 4u + u.
func TestBottleneck(t *testing.T) {
	const u, batch = 802_816, 32
	c := built(t, "resnet50", batch).Chain
	for _, test := range []struct {
		stage                string
		out, saved, fwd, bwd engine.Bytes // in u, for each image
		channels             engine.Bytes // number of normalised channels
	}{
		{"layer1.0", 4, 16, 4, 3, 64 + 64 + 256 + 256},
		{"layer1.1", 4, 12, 0, 0, 64 + 64 + 256},
	} {
		s := named(t, c, test.stage)
		got := [4]engine.Bytes{s.Out, s.Saved, s.FwdTemp, s.BwdTemp}
		want := [4]engine.Bytes{
			test.out * u * batch, test.saved*u*batch + test.channels*2*4, test.fwd * u * batch, test.bwd * u * batch,
		}
		if got != want {
			t.Errorf("%s: output, saved set, temporaries %d; want %d", test.stage, got, want)
		}
	}
}

// TestFirstStage checks VGG's first stage. Images need no gradient, so the bytes that the chain counts cover no
// part of the copy of the gradient behind the first ReLU. All of it is temporary memory.
func TestFirstStage(t *testing.T) {
	s := named(t, built(t, "vgg16", 1).Chain, "conv1_1+relu")
	if want := engine.Bytes(64 * 224 * 224 * 4); s.Out != want || s.BwdTemp != want {
		t.Errorf("conv1_1+relu: output %d, backward temporary %d; want %d each", s.Out, s.BwdTemp, want)
	}
}

func named(t *testing.T, c *engine.Chain, name string) engine.Stage {
	t.Helper()
	for _, s := range c.Stages {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("%s has no stage %q", c.Name, name)
	return engine.Stage{}
}

// TestRules checks one rule of memory at a time on stages of one or two operators. The input is 8 channels at 4 x
// 4 in 32 bits, 512 bytes.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		name string
		ops  func(t *tape, x valueID) valueID
		want [4]engine.Bytes // output, saved set, temporaries of forward and backward
	}{
		{"a convolution keeps its input, which is the stage before's",
			func(t *tape, x valueID) valueID { return t.conv(x, 8, filter{size: 3, stride: 1, pad: 1}, false) },
			[4]engine.Bytes{512, 512, 0, 0}},
		{"the output of a convolution is kept for the normalisation, whose output the ReLU overwrites",
			func(t *tape, x valueID) valueID {
				return t.relu(t.batchNorm(t.conv(x, 8, filter{size: 3, stride: 1, pad: 1}, false)))
			},
			[4]engine.Bytes{512, 512 + 512 + 2*8*4, 0, 0}},
		{"nobody keeps the input of a sum, which is a temporary",
			func(t *tape, x valueID) valueID { return t.sum(x, t.dropout(x)) },
			[4]engine.Bytes{512, 512 + 128, 512, 0}},
		{"a sum in place has no temporary",
			func(t *tape, x valueID) valueID { return t.accumulate(t.dropout(x), x) },
			[4]engine.Bytes{512, 512 + 128, 0, 0}},
		{"a pool keeps indices of 8 bytes",
			func(t *tape, x valueID) valueID { return t.maxPool(x, filter{size: 2, stride: 2}) },
			[4]engine.Bytes{128, 128 + 256, 0, 0}},
		{"a mask has one byte for each number",
			func(t *tape, x valueID) valueID { return t.dropout(x) },
			[4]engine.Bytes{512, 512 + 128, 0, 0}},
		{"an average keeps nothing",
			func(t *tape, x valueID) valueID { return t.avgPool(x, 1) },
			[4]engine.Bytes{32, 32, 0, 0}},
		{"an output that its own stage does not read is gone when the backward starts, which pays for a gradient between two masks",
			func(t *tape, x valueID) valueID { return t.dropout(t.dropout(x)) },
			[4]engine.Bytes{512, 512 + 256, 512, 0}},
		{"saved output, its gradient and the one behind the ReLU (1024 each) are there at once; the chain counts 1024 + 1024 + 512",
			func(t *tape, x valueID) valueID { return t.relu(t.conv(x, 16, filter{size: 1, stride: 1}, true)) },
			[4]engine.Bytes{1024, 1024, 0, 512}},
		{"the gradients of three branches add up in place: with a fourth buffer the backward would need 256 more",
			func(t *tape, x valueID) valueID { return t.sum(t.sum(t.dropout(x), t.dropout(x)), t.dropout(x)) },
			[4]engine.Bytes{512, 512 + 3*128, 1024, 0}},
	} {
		tp := newTape(1, fp32Bytes, value{bytes: 512, c: 8, h: 4, w: 4})
		s := stage{name: test.name, tape: tp, time: v100.time}
		s.output = test.ops(tp, stageInput)
		m := s.measure()
		if got := [4]engine.Bytes{m.Out, m.Saved, m.FwdTemp, m.BwdTemp}; got != test.want {
			t.Errorf("%s:\ngot  %d\nwant %d", test.name, got, test.want)
		}
	}
}

// TestBackwardPeak checks the peak of a walk through the backward in cases where the temporaries of a stage hide
// it. The input is 2 channels at 4 x 4 in 32 bits, 128 bytes. 8 channels are 512 bytes.
func TestBackwardPeak(t *testing.T) {
	widen := func(t *tape, x valueID) valueID { return t.conv(x, 8, filter{size: 1, stride: 1}, false) }
	for _, test := range []struct {
		name     string
		ops      func(t *tape, x valueID) valueID
		fromData bool
		want     engine.Bytes
	}{
		{"a mask goes after its reader: seed and the gradient of the input",
			func(t *tape, x valueID) valueID {
				return t.dropout(t.conv(x, 1, filter{size: 1, stride: 1}, false))
			},
			false, 64 + 128},
		{"data get no gradient: mask, seed and the gradient before the dropout",
			func(t *tape, x valueID) valueID {
				return t.dropout(t.conv(x, 1, filter{size: 1, stride: 1}, false))
			},
			true, 16 + 64 + 64},
		{"beside a shortcut, the branch's own buffer takes the sum: mask, seed, branch",
			func(t *tape, x valueID) valueID { y := widen(t, x); return t.sum(y, t.dropout(y)) },
			false, 128 + 512 + 512},
		{"a shared gradient is added to the buffer that is already there: mask, seed, branch",
			func(t *tape, x valueID) valueID {
				y := widen(t, x)
				inner := t.sum(y, widen(t, x))
				return t.sum(inner, t.dropout(y))
			},
			false, 128 + 512 + 512},
	} {
		tp := newTape(1, fp32Bytes, value{bytes: 128, c: 2, h: 4, w: 4})
		if got := tp.backwardPeak(test.ops(tp, stageInput), test.fromData); got != test.want {
			t.Errorf("%s: peak %d; want %d", test.name, got, test.want)
		}
	}
}

// TestTorchMeta compares the sizes of every stage with what PyTorch keeps on its meta device, to the byte. The
// files were recorded at a batch of 2 and halved. They have flatten in the stage of the pool, and dropout masks
// as wide as the numbers, as on CPUs. GPUs use one byte.
func TestTorchMeta(t *testing.T) {
	files := map[string]string{
		"alexnet-224": "alexnet", "densenet121-224": "densenet121", "densenet161-224": "densenet161",
		"densenet169-224": "densenet169",
		"densenet201-224": "densenet201", "inception_v3-299": "inception-v3", "resnet1001-224": "resnet1001",
		"resnet101-224": "resnet101",
		"resnet152-224": "resnet152", "resnet18-224": "resnet18", "resnet200-224": "resnet200",
		"resnet34-224": "resnet34",
		"resnet50-224": "resnet50", "resnext101_32x8d-224": "resnext101", "vgg16-224": "vgg16", "vgg19-224": "vgg19",
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join("..", "..", "..", "shared", "data", "torch_meta", file+".sizes.json")
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			t.Skipf("the recorded sizes are not here (%s); TestSizes, TestBottleneck and TestRules check the rules without them", path)
		}
		if err != nil {
			t.Fatal(err)
		}
		compareMeta(t, files[file], path, text)
	}
}

// compareMeta compares a preset at batch 2 with a file of recorded sizes.
func compareMeta(t *testing.T, id, path string, text []byte) {
	t.Helper()
	var file struct {
		Input  engine.Bytes `json:"input_bytes"`
		Stages []struct {
			Name  string       `json:"name"`
			Out   engine.Bytes `json:"a_bytes"`
			Saved engine.Bytes `json:"abar_bytes"`
			Grad  engine.Bytes `json:"delta_bytes"`
			W     engine.Bytes `json:"w_bytes"`
		} `json:"stages"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p := Lookup(id)
	net := p.build(p.filled(Options{Batch: 2}).setting())
	if net.input != 2*file.Input {
		t.Errorf("%s: input %d; want %d", id, net.input, 2*file.Input)
	}
	var got []engine.Stage
	var weights []engine.Bytes
	var ours, theirs engine.Bytes
	for i := range net.stages {
		s := net.stages[i].measure()
		ours += s.Saved
		if s.Kind == "view" {
			continue
		}
		if s.Kind == "dropout" {
			s.Saved += 3 * s.Out / fp32Bytes
		}
		got = append(got, s)
		weights = append(weights, engine.Bytes(net.stages[i].tape.params)*fp32Bytes)
	}
	if len(got) != len(file.Stages) {
		t.Fatalf("%s: %d stages besides flatten; want %d", id, len(got), len(file.Stages))
	}
	for i, w := range file.Stages {
		theirs += w.Saved
		if g := got[i]; g.Out != 2*w.Out || g.Saved != 2*w.Saved || g.Grad != 2*w.Grad || weights[i] != w.W {
			t.Errorf("%s: stage %s: output %d, saved %d, gradient %d, weights %d; %s has %d, %d, %d, %d",
				id, g.Name, g.Out, g.Saved, g.Grad, weights[i], w.Name, 2*w.Out, 2*w.Saved, 2*w.Grad, w.W)
		}
	}
	t.Logf("%s: %d stages; saved sets of %d bytes an image with flatten and narrow masks, %d recorded", id,
		len(file.Stages), ours/2, theirs)
}
