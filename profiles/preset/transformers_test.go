package preset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
)

// on returns a setting with the given batch size, tokens and precision.
func on(batch, tokens int64, p precision) setting {
	return setting{batch: batch, tokens: tokens, precision: p, device: card.Default()}
}

// TestTransformerFormula compares a layer's saved set with Korthikanti et al., equation 1, for numbers of e
// bytes: sbh(16e+2) + as²b(2e+1) bytes, which in 16 bits is sbh(34 + 5as/h). The formula leaves out the mean and
// deviation of each token at two normalisations, 16 bytes. The stage counts its output and not its input, which
// has the same size.
func TestTransformerFormula(t *testing.T) {
	for _, g := range []transformer{gpt2M, {layers: 2, hidden: 768, heads: 12, positions: 512, words: 1000}} {
		for _, p := range []precision{f16, bf16, f32} {
			const b = 3
			s, h, a, e := g.positions, g.hidden, g.heads, int64(p.bytes())
			want := engine.Bytes(s*b*h*(16*e+2) + a*s*s*b*(2*e+1) + 16*s*b)
			net := g.gpt(on(b, s, p))
			c := net.chain("test", b)
			if got := c.Stages[1].Saved; got != want {
				t.Errorf("%+v, batch %d, %s: a layer saves %d bytes; want %d", g, b, p, got, want)
			}
			// The output layer (section 4): the loss keeps the logits in 32 bits, 4sbv, and the loss itself
			// (4 bytes, freed in the backward). The backward makes another copy of the logits before it makes
			// the gradient of its input, which the chain counts.
			last := c.Stages[c.Len()-1]
			logits := engine.Bytes(4 * s * b * g.words)
			got := [2]engine.Bytes{last.Saved, last.BwdTemp}
			if want := [2]engine.Bytes{logits + 4, logits - 4 - engine.Bytes(e*s*b*h)}; p.half() && got != want {
				t.Errorf("%+v, batch %d, %s: saved set and backward temporary of the loss %d; want %d", g, b, p, got, want)
			}
		}
	}
}

// macs counts the multiply-adds of a stage's forward.
func macs(s *stage) (n int64) {
	for i := range s.tape.ops {
		n += s.tape.ops[i].macs
	}
	return n
}

// TestPublishedTransformers checks the three models of Korthikanti et al. (2022), with a = 64, 96, 128 heads of h
// = 6144, 12288, 20480 on s = 2048 tokens. Attention's squares take 70 % and 65 % of the activations of a layer
// of the larger two (section 5). The operations of a step and the times of table 5 give the model FLOPs
// utilisations of that table, on A100s of 312 TFLOP/s.
func TestPublishedTransformers(t *testing.T) {
	for _, test := range []struct {
		name        string
		g           transformer
		share       float64 // 0 if not published
		batch, gpus int64
		seconds     float64
		utilisation float64
	}{
		{"22B", transformer{layers: 48, hidden: 6144, heads: 64}, 0, 4, 8, 1.10, 0.415},
		{"175B", transformer{layers: 96, hidden: 12288, heads: 96}, 0.70, 64, 64, 13.75, 0.514},
		{"530B", transformer{layers: 105, hidden: 20480, heads: 128}, 0.65, 280, 280, 37.83, 0.560},
	} {
		const s = 2048
		g := test.g
		g.words, g.positions = 51200, s
		net := g.gpt(on(1, s, f16))
		operations := int64(0)
		for i := range net.stages {
			operations += macs(&net.stages[i])
		}
		// Forward once and backward twice, two operations for each multiply-add.
		got := 6 * float64(operations) * float64(test.batch) / (test.seconds * float64(test.gpus) * 312e12)
		near(t, test.name+", utilisation", got, test.utilisation, 0.01)
		if test.share > 0 {
			near(t, test.name+", share of attention", float64(5*g.heads*s*s)/float64(net.stages[1].measure().Saved),
				test.share, 0.01)
		}
	}
}

// TestTransformerTimes checks that a layer takes the time of its operations at the assumed share of the device's
// peak, on any device.
func TestTransformerTimes(t *testing.T) {
	for device, peak := range map[string]float64{"v100-pcie-16gb": 112e12, "h100-sxm-80gb": 989e12} {
		p, err := Lookup("gpt2-medium").Build(Options{Batch: 2, Device: device})
		if err != nil {
			t.Fatal(err)
		}
		const b, s, h = 2, 1024, 1024
		near(t, device+", forward of a layer, s", p.Chain.Stages[1].Forward.Seconds(),
			(24*b*s*h*h+4*b*s*s*h)/(peak*utilisation), 1e-5)
		near(t, device+", backward of a layer, s", p.Chain.Stages[1].Back.Seconds(),
			2*(24*b*s*h*h+4*b*s*s*h)/(peak*utilisation), 1e-5)
	}
}

// TestTorchBlock compares a layer in 32 bits with one that PyTorch ran on a CPU. There its three masks are as
// wide as the numbers, and the factor of the scores is a kept number of 8 bytes.
func TestTorchBlock(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "data", "torch_cpu", "gpt-L4-h256-a8-s128-b4.chain.json")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("the recorded layer is not here (%s); TestTransformerFormula checks the rule without it", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Stages []struct {
			Saved engine.Bytes `json:"abar_bytes"`
			W     engine.Bytes `json:"w_bytes"`
		} `json:"stages"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	const b, s, h, a = 4, 128, 256, 8
	net := transformer{layers: 4, hidden: h, heads: a, positions: s, words: 100}.gpt(on(b, s, f32))
	got := net.stages[1].measure().Saved + 3*(2*s*b*h+a*s*s*b) + 8
	weights := engine.Bytes(net.stages[1].tape.params) * fp32Bytes
	for i, w := range file.Stages[:4] { // the loss comes after these
		if got != w.Saved || weights != w.W {
			t.Errorf("layer %d: %d bytes saved, weights %d; recorded are %d and %d", i, got, weights, w.Saved, w.W)
		}
	}
}
