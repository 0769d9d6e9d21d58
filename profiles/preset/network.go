package preset

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/profiles/analytic"
)

// network is a network at one batch size: its stages, and the memory that stays on the device.
type network struct {
	input    engine.Bytes // images or tokens, which need no gradient
	stages   []stage      // the loss is the last one, if it has a cost and a size
	resident engine.Resident
}

// blocks returns the stages without the loss.
func (n *network) blocks() []stage {
	if last := len(n.stages) - 1; n.stages[last].kind == "loss" {
		return n.stages[:last]
	}
	return n.stages
}

// chain returns the network as a chain, with the sizes and times of each stage.
func (n *network) chain(name string, batch int) *engine.Chain {
	c := &engine.Chain{Name: name, Batch: batch, Input: n.input, Resident: n.resident}
	for i := range n.stages {
		c.Stages = append(c.Stages, n.stages[i].measure())
	}
	if len(n.blocks()) == len(n.stages) {
		c.Stages = append(c.Stages, engine.Stage{Name: "loss", Kind: "loss"})
	}
	return c
}

// leanNote says by how much temporaries fall short of a forward that keeps nothing, at the stage where the
// difference is largest.
func (n *network) leanNote() string {
	var most engine.Bytes
	where := ""
	for _, s := range n.blocks() {
		if short := s.leanShortfall(); short > most {
			most, where = short, s.name
		}
	}
	note := "Temporaries are those of a forward that keeps the saved set"
	if most == 0 {
		return note + "; one that keeps nothing needs no more."
	}
	return fmt.Sprintf("%s; one that keeps nothing would need up to %d MiB more (stage %s).", note,
		(most+engine.MiB-1)/engine.MiB, where)
}

// ops records the operators of a stage from its input x, and returns its output.
type ops = func(t *tape, x valueID) valueID

// writer writes a network stage by stage.
type writer struct {
	s    setting
	net  network
	next value // the output of the last stage
}

// newWriter begins a network with the input in.
func newWriter(s setting, in value) *writer {
	return &writer{s: s, net: network{input: in.bytes}, next: in}
}

// stage appends a stage. Stages of transformers that are matrix products take their share of the device's peak.
func (b *writer) stage(name, kind string, ops ops) {
	s := stage{name: name, kind: kind, tape: newTape(b.s.batch, b.s.precision.bytes(), b.next), time: b.s.model().time,
		fromData: len(b.net.stages) == 0}
	if kind == "block" || kind == "loss" {
		s.time = b.s.utilised
	}
	s.output = ops(s.tape, stageInput)
	b.next = s.tape.values[s.output]
	b.net.stages = append(b.net.stages, s)
}

// trained ends the network and sets what stays on the device: weights, gradients, optimizer bytes for each
// parameter, and in 16 bits a 32-bit copy of the weights, which is trained.
func (b *writer) trained(optimizer engine.Bytes) network {
	r, elem, n := &b.net.resident, b.s.precision.bytes(), engine.Bytes(0)
	for i := range b.net.stages {
		n += engine.Bytes(b.net.stages[i].tape.params)
		r.Pinned += b.net.stages[i].tape.buffers
	}
	if b.s.precision.half() {
		optimizer += fp32Bytes
	}
	r.Weights, r.Grads, r.Optimizer = n*elem, n*elem, n*optimizer
	return b.net
}

// duration returns the sum of the times of a stage's operators, rounded up to a nanosecond.
func (s *stage) duration() (forward, back time.Duration) {
	var sum opTime
	for i := range s.tape.ops {
		d := s.time(s.tape, &s.tape.ops[i])
		sum.Forward += d.Forward
		sum.Back += d.Back
	}
	return analytic.Duration(sum.Forward), analytic.Duration(sum.Back)
}
