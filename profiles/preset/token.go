package preset

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
)

const fp16Bytes engine.Bytes = 2

// utilisation is the share of the peak that the matrix products of a
// transformer are assumed to reach. Measured on A100s: 10-45 %, growing with
// the width and the batch.
const utilisation = 0.40

const languageGroup = "Language models"

const korthikanti = "https://arxiv.org/abs/2205.05198" // Korthikanti et al.: what a layer keeps

// tokenPresets lists the transformers, the yardstick first.
func tokenPresets() []*Preset {
	list := []*Preset{
		gptPreset("gpt2-medium", "GPT-2 medium", 4,
			"24 equal transformer layers of width 1024 on 1024 tokens, 16-bit: a uniform chain with a heavy end.",
			gpt2M),
		gptPreset("gpt2", "GPT-2 small", 8,
			"12 layers of width 768 on 1024 tokens: the logits are larger than what two layers keep.",
			transformer{layers: 12, hidden: 768, heads: 12, words: 50257, positions: 1024}),
		gptPreset("gpt2-large", "GPT-2 large", 4, "36 layers of width 1280 on 1024 tokens.",
			transformer{layers: 36, hidden: 1280, heads: 20, words: 50257, positions: 1024}),
		gptPreset("gpt2-xl", "GPT-2 XL", 2, "48 layers of width 1600 on 1024 tokens: 1.6 billion parameters.",
			transformer{layers: 48, hidden: 1600, heads: 25, words: 50257, positions: 1024}),
		bertLarge(),
	}
	return append(list, llamaPresets()...)
}

// tokenPreset returns a transformer of so many tokens in this precision on a V100.
func tokenPreset(id, title string, batch int, p precision, tokens int, doc string) *Preset {
	return &Preset{
		ID: id, Title: title, Group: languageGroup, DefaultBatch: batch, DType: string(p), Doc: doc, URL: korthikanti,
		Optimizer: "Adam",
		own:       Options{Tokens: tokens, Precision: string(p), Device: card.DefaultID},
		sizes:     profiles.Analytic, tokenNet: true,
	}
}

// utilised returns the share of the peak that the products reach.
func (s setting) utilised() float64 {
	if s.efficiency > 0 {
		return float64(s.efficiency) / 100
	}
	return utilisation
}

// tokenTimes says where the times of a transformer come from.
func tokenTimes(s setting, rest string) string {
	peak := strconv.FormatFloat(float64(s.device.Peak(string(s.precision)))/1e12, 'g', -1, 64)
	return fmt.Sprintf("Times: matrix products at %.0f %% of the %s peak of %s TFLOP/s of %s, an assumption (10-45 %% were measured on A100s)%s.",
		100*s.utilised(), s.precision.bits(), peak, s.device.Name, rest)
}

// adamNote says what stays, and how many parameters there are.
func adamNote(s setting, params int64, more string) string {
	text := "16-bit weights and gradients, and for Adam 12 bytes a parameter: a 32-bit copy and two moments, as in ZeRO (arXiv:1910.02054)."
	if !s.precision.half() {
		text = "32-bit weights and gradients, and for Adam two moments of 4 bytes."
	}
	return "Resident: " + text + " " + thousands(params) + " parameters" + more + "."
}

// thousands writes a number with commas.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// tokenNet writes down a transformer stage by stage.
type tokenNet struct {
	s        setting
	net      network
	params   int64
	next     value                   // the output of the last stage
	products func(*tape, *op) opTime // of stages with matrix products
	traffic  func(*tape, *op) opTime // of the others
}

// newTokenNet begins a network that reads this value.
func newTokenNet(s setting, in value) *tokenNet {
	return &tokenNet{
		s: s, net: network{input: in.bytes}, next: in,
		products: mfuTime(s.device.Peak(string(s.precision)), s.utilised()),
		traffic:  s.model().time,
	}
}

// ids returns the numbers of the tokens, 8 bytes each.
func ids(s setting) value {
	return value{bytes: engine.Bytes(8 * s.batch * s.tokens), c: 1, h: s.tokens, w: 1}
}

// record writes down a stage.
func (b *tokenNet) record(name, kind string, time func(*tape, *op) opTime, ops func(t *tape, x valueID) valueID) stage {
	s := stage{name: name, kind: kind, tape: newTape(b.s.batch, b.s.precision.bytes(), b.next), time: time}
	s.output = ops(s.tape, stageInput)
	b.params += s.tape.params
	b.next = s.tape.values[s.output]
	return s
}

func (b *tokenNet) stage(name, kind string, time func(*tape, *op) opTime, ops func(t *tape, x valueID) valueID) {
	b.net.stages = append(b.net.stages, b.record(name, kind, time, ops))
}

// embedding is the first stage, which reads data.
func (b *tokenNet) embedding(ops func(t *tape, x valueID) valueID) {
	b.stage("embedding", "embedding", b.traffic, ops)
	b.net.stages[0].fromData = true
}

// loss is the last stage: the logits and the cross entropy.
func (b *tokenNet) loss(ops func(t *tape, x valueID) valueID) {
	loss := b.record("logits+loss", "loss", b.products, ops)
	b.net.loss = &loss
}

// trained closes the network: what stays is what Adam needs.
func (b *tokenNet) trained() network {
	n := engine.Bytes(b.params)
	b.net.resident = engine.Resident{Weights: n * fp16Bytes, Grads: n * fp16Bytes, Optimizer: n * 12}
	if !b.s.precision.half() {
		b.net.resident = engine.Resident{Weights: n * fp32Bytes, Grads: n * fp32Bytes, Optimizer: n * 8}
	}
	return b.net
}

// entropy widens logits to 32 bits and takes the cross entropy, which turns the
// wide logits into probabilities in place and keeps them. What comes out is one
// number.
func (t *tape) entropy(logits valueID) valueID {
	wide := t.values[logits]
	wide.bytes = wide.bytes / t.elem * fp32Bytes
	cast := t.add(op{kind: opCast, in: []valueID{logits}}, wide)
	return t.add(op{kind: opEntropy, in: []valueID{cast}, keeps: []valueID{cast}}, value{bytes: 4, c: 1, h: 1, w: 1})
}
