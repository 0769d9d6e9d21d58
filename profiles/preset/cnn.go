package preset

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

const fp32Bytes engine.Bytes = 4

const classes = 1000 // classes of ImageNet

// The groups of networks on images in the picker.
const (
	residualGroup  = "Residual networks"
	plainGroup     = "AlexNet and VGG"
	denseGroup     = "DenseNet"
	inceptionGroup = "Inception"
)

// imagePreset returns a network on images with the default choices: batch 32, 224 px, 32 bits, a V100.
func imagePreset(group, id, title, url, doc string, build func(s setting) network) *Preset {
	return &Preset{
		ID: id, Title: title, Group: group, DefaultBatch: 32, DType: string(f32), Doc: doc, URL: url,
		own:      Options{Image: 224, Precision: string(f32), Device: card.DefaultID},
		minImage: 32, sizes: profiles.Exact, notes: imageNotes, build: build,
	}
}

// sized sets the default side of the images, and the smallest side that the network can process.
func (p *Preset) sized(side, least int) *Preset {
	p.own.Image, p.minImage = side, least
	return p
}

// batched sets the default batch size.
func (p *Preset) batched(batch int) *Preset {
	p.DefaultBatch = batch
	return p
}

// imageNotes returns where the numbers of a network on images come from.
func imageNotes(s setting, _ string) []string {
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

// newImageNet begins a network on images.
func newImageNet(s setting) *writer {
	bytes := engine.Bytes(s.batch*3*s.side*s.side) * s.precision.bytes()
	return newWriter(s, value{bytes: bytes, c: 3, h: s.side, w: s.side})
}

// Stages of several networks.

// convReLU appends a convolution with biases and its activation.
func (b *writer) convReLU(name string, planes int64, f filter) {
	b.stage(name+"+relu", "conv", func(t *tape, x valueID) valueID { return t.relu(t.conv(x, planes, f, true)) })
}

func (b *writer) pool(name string, f filter) {
	b.stage(name, "pool", func(t *tape, x valueID) valueID { return t.maxPool(x, f) })
}

// head averages to side x side and flattens the result.
func (b *writer) head(side int64) {
	b.stage("avgpool", "pool", func(t *tape, x valueID) valueID { return t.avgPool(x, side) })
	b.flatten()
}

func (b *writer) flatten() {
	b.stage("flatten", "view", func(t *tape, x valueID) valueID { return t.flatten(x) })
}

func (b *writer) linearReLU(name string, out int64) {
	b.stage(name+"+relu", "fc", func(t *tape, x valueID) valueID { return t.relu(t.linear(x, out)) })
}

// classify ends the network with a linear layer. SGD with momentum determines what stays on the device.
func (b *writer) classify(name string, out int64) network {
	b.stage(name, "fc", func(t *tape, x valueID) valueID { return t.linear(x, out) })
	return b.trained(fp32Bytes)
}

func (b *writer) dropout(name string) {
	b.stage(name, "dropout", func(t *tape, x valueID) valueID { return t.dropout(x) })
}

// normed is a convolution without biases, its normalisation and its activation.
func normed(t *tape, x valueID, planes int64, f filter) valueID {
	return t.relu(t.batchNorm(t.conv(x, planes, f, false)))
}
