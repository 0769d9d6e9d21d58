package preset

import "fmt"

const huang2017 = "https://arxiv.org/abs/1608.06993" // Huang et al., Densely connected convolutional networks

func densePresets() []*Preset {
	denseNetOf := func(id, title, doc string, d denseShape) *Preset {
		return imagePreset(denseGroup, id, title, huang2017, doc, d.network)
	}
	return []*Preset{
		denseNetOf("densenet121", "DenseNet-121",
			"58 layers that each read all before them in their block: memory grows with the square of a block's length.", denseShape{32, 64, [4]int{6, 12, 24, 16}}),
		denseNetOf("densenet161", "DenseNet-161", "The widest DenseNet: 78 layers that grow by 48 channels.",
			denseShape{48, 96, [4]int{6, 12, 36, 24}}),
		denseNetOf("densenet169", "DenseNet-169", "82 densely connected layers.",
			denseShape{32, 64, [4]int{6, 12, 32, 32}}),
		denseNetOf("densenet201", "DenseNet-201", "98 densely connected layers.",
			denseShape{32, 64, [4]int{6, 12, 48, 32}}),
	}
}

// denseShape is a DenseNet with bottlenecks and compression (Huang et al. 2017, table 1).
type denseShape struct {
	growth int64 // channels that a layer adds
	first  int64 // channels of the first convolution
	blocks [4]int
}

// network has one stage for each layer of a block, which ends where the layer's channels are appended to the
// channels before.
//
// The last ReLU works in place in most programs, and by the rule of the other presets it would belong to the
// normalisation before. Here it belongs to the pool and makes a copy, as in the recorded sizes with which the
// presets are compared: one more value of the size of the normalisation's output.
func (d denseShape) network(s setting) network {
	b := newImageNet(s)
	b.stage("conv0", "conv", func(t *tape, x valueID) valueID {
		return t.conv(x, d.first, filter{size: 7, stride: 2, pad: 3}, false)
	})
	b.stage("norm0+relu0", "act", func(t *tape, x valueID) valueID { return t.relu(t.batchNorm(x)) })
	b.pool("pool0", filter{size: 3, stride: 2, pad: 1})
	for block, n := range d.blocks {
		for i := range n {
			b.stage(fmt.Sprintf("denseblock%d.denselayer%d", block+1, i+1), "conv", d.layer)
		}
		if block < 3 {
			b.stage(fmt.Sprintf("transition%d", block+1), "conv", transition)
		}
	}
	b.stage("norm5", "act", func(t *tape, x valueID) valueID { return t.batchNorm(x) })
	b.stage("relu+avgpool", "pool", func(t *tape, x valueID) valueID { return t.avgPool(t.reluCopy(x), 1) })
	b.flatten()
	return b.classify("classifier", classes)
}

// layer computes growth channels from all channels before, and appends them.
func (d denseShape) layer(t *tape, x valueID) valueID {
	y := t.conv(t.relu(t.batchNorm(x)), 4*d.growth, filter{size: 1, stride: 1}, false)
	y = t.conv(t.relu(t.batchNorm(y)), d.growth, filter{size: 3, stride: 1, pad: 1}, false)
	return t.concat(x, y)
}

// transition halves the channels and the sides.
func transition(t *tape, x valueID) valueID {
	y := t.conv(t.relu(t.batchNorm(x)), t.values[x].c/2, filter{size: 1, stride: 1}, false)
	return t.meanPool(y, filter{size: 2, stride: 2})
}
