package preset

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

const fp32Bytes engine.Bytes = 4

const classes = 1000 // of ImageNet

// Groups of networks on images, as the picker shows them.
const (
	residualGroup  = "Residual networks"
	plainGroup     = "AlexNet and VGG"
	denseGroup     = "DenseNet"
	inceptionGroup = "Inception"
)

// imagePreset returns a network on images with the choices that they share: batch 32,
// 224 px, 32 bits, a V100.
func imagePreset(group, id, title, url, doc string, build func(s setting) network) *Preset {
	return &Preset{
		ID: id, Title: title, Group: group, DefaultBatch: 32, DType: string(f32), Doc: doc, URL: url,
		own:      Options{Image: 224, Precision: string(f32), Device: card.DefaultID},
		minImage: 32, sizes: profiles.Exact, notes: imageNotes, build: build,
	}
}

// sized sets the usual side of the images and the smallest that the network
// makes anything of.
func (p *Preset) sized(side, least int) *Preset {
	p.own.Image, p.minImage = side, least
	return p
}

// batched sets the batch size by default.
func (p *Preset) batched(batch int) *Preset {
	p.DefaultBatch = batch
	return p
}

// imageNotes say where the numbers of a network on images come from.
func imageNotes(s setting) []string {
	resident := "Resident: weights, their gradients, SGD's momentum, running averages of batch normalisation."
	if s.precision.half() {
		resident = "Resident: 16-bit weights and gradients, a 32-bit copy of the weights and SGD's momentum, running averages of batch normalisation."
	}
	return []string{
		imageTimes(s),
		fmt.Sprintf("Sizes: exact from the shapes of %d x %d images in %d bits, as PyTorch keeps them on a GPU; workspaces of the convolution library (up to 26 MiB) and the allocator's rounding are not included.",
			s.side, s.side, 8*s.precision.bytes()),
		resident,
		"The loss has no cost.",
	}
}

func imageTimes(s setting) string {
	share := analytic.OtherShare
	switch {
	case s.efficiency > 0:
		share = s.efficiency
	case isV100(s.device) && !s.precision.half():
		return "Times: a roofline model of a V100 in 32 bits, fitted to a public trace of ResNet-50; on networks measured elsewhere, with a synchronisation after each operator, it is 7-18 % faster."
	}
	return fmt.Sprintf("Times: an estimate from the vendor's figures for %s in %d bits: products at %d %% of the peak, everything else at 80 %% of the memory bandwidth (86 %% on a V100), 5 µs a kernel; 32-bit products without tensor cores.",
		s.device.Name, 8*s.precision.bytes(), share)
}

// imageNet writes down a network on images stage by stage.
type imageNet struct {
	batch int64
	elem  engine.Bytes
	time  func(*tape, *op) opTime
	net   network
	next  value // the output of the last stage
}

func newImageNet(s setting) *imageNet {
	elem := s.precision.bytes()
	image := value{bytes: engine.Bytes(s.batch*3*s.side*s.side) * elem, c: 3, h: s.side, w: s.side}
	return &imageNet{batch: s.batch, elem: elem, time: s.model().time, net: network{input: image.bytes}, next: image}
}

// stage appends a stage; ops records its operators, from the tape's input to
// the output it returns.
func (b *imageNet) stage(name, kind string, ops func(t *tape, x valueID) valueID) {
	t := newTape(b.batch, b.elem, b.next)
	s := stage{name: name, kind: kind, tape: t, fromData: len(b.net.stages) == 0, time: b.time}
	s.output = ops(t, stageInput)
	b.next = t.values[s.output]
	b.net.stages = append(b.net.stages, s)
}

// trained closes the network: what stays is one copy of the parameters for
// each of weights, gradients and SGD's momentum, and in 16 bits the copy that is
// trained, beside a momentum in 32 bits.
func (b *imageNet) trained() network {
	var params int64
	for i := range b.net.stages {
		t := b.net.stages[i].tape
		params += t.params
		b.net.resident.Pinned += t.buffers
	}
	b.net.resident.Weights = engine.Bytes(params) * b.elem
	b.net.resident.Grads = b.net.resident.Weights
	b.net.resident.Optimizer = engine.Bytes(params) * fp32Bytes
	if b.elem < fp32Bytes {
		b.net.resident.Optimizer *= 2
	}
	return b.net
}

// Stages that many networks have.

// convReLU is a convolution with biases and its activation.
func (b *imageNet) convReLU(name string, planes int64, f filter) {
	b.stage(name+"+relu", "conv", func(t *tape, x valueID) valueID { return t.relu(t.conv(x, planes, f, true)) })
}

func (b *imageNet) pool(name string, f filter) {
	b.stage(name, "pool", func(t *tape, x valueID) valueID { return t.maxPool(x, f) })
}

// head averages to side x side and makes a vector of it.
func (b *imageNet) head(side int64) {
	b.stage("avgpool", "pool", func(t *tape, x valueID) valueID { return t.avgPool(x, side) })
	b.flatten()
}

func (b *imageNet) flatten() {
	b.stage("flatten", "view", func(t *tape, x valueID) valueID { return t.flatten(x) })
}

func (b *imageNet) linearReLU(name string, out int64) {
	b.stage(name+"+relu", "fc", func(t *tape, x valueID) valueID { return t.relu(t.linear(x, out)) })
}

func (b *imageNet) linear(name string, out int64) {
	b.stage(name, "fc", func(t *tape, x valueID) valueID { return t.linear(x, out) })
}

func (b *imageNet) dropout(name string) {
	b.stage(name, "dropout", func(t *tape, x valueID) valueID { return t.dropout(x) })
}

// normed returns a convolution without biases, its normalisation and its activation.
func normed(t *tape, x valueID, planes int64, f filter) valueID {
	return t.relu(t.batchNorm(t.conv(x, planes, f, false)))
}
