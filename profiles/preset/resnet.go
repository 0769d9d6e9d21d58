package preset

import "fmt"

const (
	he2016   = "https://arxiv.org/abs/1512.03385" // He et al., Deep residual learning
	heIdent  = "https://arxiv.org/abs/1603.05027" // He et al., Identity mappings in deep residual networks
	xie2017  = "https://arxiv.org/abs/1611.05431" // Xie et al., Aggregated residual transformations
	yardDoc  = "The usual yardstick: 16 bottleneck blocks, 22 stages, of which the first ten hold three quarters of the memory."
	paperDoc = "33 bottleneck blocks, 39 stages: the network of the papers on optimal rematerialization and offloading."
)

func residualPresets() []*Preset {
	resnetOf := func(id, title, doc string, r resnetShape) *Preset {
		return imagePreset(residualGroup, id, title, he2016, doc, r.network)
	}
	return []*Preset{
		resnetOf("resnet50", "ResNet-50", yardDoc, resnetShape{blocks: [4]int{3, 4, 6, 3}}),
		resnetOf("resnet101", "ResNet-101", paperDoc, resnetShape{blocks: [4]int{3, 4, 23, 3}}),
		resnetOf("resnet18", "ResNet-18", "8 basic blocks of two 3x3 convolutions: the smallest residual network.",
			resnetShape{blocks: [4]int{2, 2, 2, 2}, basic: true}),
		resnetOf("resnet34", "ResNet-34", "16 basic blocks of two 3x3 convolutions.",
			resnetShape{blocks: [4]int{3, 4, 6, 3}, basic: true}),
		resnetOf("resnet152", "ResNet-152", "50 bottleneck blocks, 56 stages.",
			resnetShape{blocks: [4]int{3, 8, 36, 3}}),
		resnetOf("resnet200", "ResNet-200", "66 bottleneck blocks, 72 stages; in the arrangement of ResNet-152.",
			resnetShape{blocks: [4]int{3, 24, 36, 3}}),
		imagePreset(residualGroup, "resnet1001", "ResNet-1001", heIdent,
			"333 equal-looking blocks made for images of 32 px, run at 224: 339 stages and 28 GiB an image, the longest chain of the papers.", resnet1001).batched(8),
		imagePreset(residualGroup, "resnext101", "ResNeXt-101 32x8d", xie2017,
			"ResNet-101 with convolutions of 32 groups, eight channels wide each: slow for its arithmetic.",
			resnetShape{blocks: [4]int{3, 4, 23, 3}, groups: 32, width: 8}.network),
	}
}

// resnetShape is a residual network (He et al. 2016, table 1). As in torchvision, the 3x3 convolution has the stride.
type resnetShape struct {
	blocks [4]int
	basic  bool  // blocks of two 3x3 convolutions instead of bottlenecks
	groups int64 // groups of the 3x3 convolution of a bottleneck; 0 means 1
	width  int64 // width of a group in blocks with 64 planes
}

// network has the stages of the rotor project: one for each block.
func (r resnetShape) network(s setting) network {
	b := newImageNet(s)
	b.stage("conv1", "conv", func(t *tape, x valueID) valueID {
		return t.conv(x, 64, filter{size: 7, stride: 2, pad: 3}, false)
	})
	b.stage("bn1+relu", "act", func(t *tape, x valueID) valueID { return t.relu(t.batchNorm(x)) })
	b.pool("maxpool", filter{size: 3, stride: 2, pad: 1})
	block := r.bottleneck
	if r.basic {
		block = basicBlock
	}
	b.residual(r.blocks[:], block)
	b.head(1)
	return b.classify("fc", classes)
}

// residual appends layers of blocks; blocks has the number of each. A layer has twice the planes of the layer
// before and half its sides.
func (b *writer) residual(blocks []int, block func(t *tape, x valueID, planes, stride int64) valueID) {
	for layer, n := range blocks {
		for i := range n {
			stride := int64(1)
			if layer > 0 && i == 0 {
				stride = 2
			}
			b.stage(fmt.Sprintf("layer%d.%d", layer+1, i), "conv",
				func(t *tape, x valueID) valueID { return block(t, x, int64(64)<<layer, stride) })
		}
	}
}

// bottleneck is 1x1, 3x3, 1x1 with a shortcut. The sum overwrites the main branch.
func (r resnetShape) bottleneck(t *tape, x valueID, planes, stride int64) valueID {
	inner, groups := planes, int64(1)
	if r.groups > 0 {
		inner, groups = planes*r.width/64*r.groups, r.groups
	}
	y := normed(t, x, inner, filter{size: 1, stride: 1})
	y = t.relu(t.batchNorm(t.groupConv(y, inner, filter{size: 3, stride: stride, pad: 1}, groups, false)))
	y = t.batchNorm(t.conv(y, 4*planes, filter{size: 1, stride: 1}, false))
	return t.relu(t.accumulate(y, shortcut(t, x, 4*planes, stride)))
}

// basicBlock is two 3x3 convolutions with a shortcut.
func basicBlock(t *tape, x valueID, planes, stride int64) valueID {
	y := normed(t, x, planes, filter{size: 3, stride: stride, pad: 1})
	y = t.batchNorm(t.conv(y, planes, filter{size: 3, stride: 1, pad: 1}, false))
	return t.relu(t.accumulate(y, shortcut(t, x, planes, stride)))
}

// shortcut is x itself, or a convolution where the shape changes.
func shortcut(t *tape, x valueID, planes, stride int64) valueID {
	if stride == 1 && t.values[x].c == planes {
		return x
	}
	return t.batchNorm(t.conv(x, planes, filter{size: 1, stride: stride}, false))
}

// resnet1001 returns the network of 1001 layers of He et al. (2016, Identity mappings) with the planes 64, 128,
// 256 of the rotor project. Its blocks normalise before they convolve. It has ten classes and no pool, so that
// images keep their size through the first third.
func resnet1001(s setting) network {
	b := newImageNet(s)
	b.stage("conv1", "conv", func(t *tape, x valueID) valueID {
		return t.conv(x, 16, filter{size: 3, stride: 1, pad: 1}, false)
	})
	b.stage("bn1+relu", "act", func(t *tape, x valueID) valueID { return t.relu(t.batchNorm(x)) })
	b.residual([]int{111, 111, 111}, preActivation)
	b.stage("bn+relu", "act", func(t *tape, x valueID) valueID { return t.relu(t.batchNorm(x)) })
	b.head(1)
	return b.classify("fc", 10)
}

// preActivation is a bottleneck whose normalisations come before the convolutions. Where the shape changes, the
// shortcut is normalised too.
func preActivation(t *tape, x valueID, planes, stride int64) valueID {
	y := t.conv(t.relu(t.batchNorm(x)), planes, filter{size: 1, stride: 1}, false)
	y = t.conv(t.relu(t.batchNorm(y)), planes, filter{size: 3, stride: stride, pad: 1}, false)
	y = t.conv(t.relu(t.batchNorm(y)), 4*planes, filter{size: 1, stride: 1}, false)
	if stride == 1 && t.values[x].c == 4*planes {
		return t.accumulate(y, x)
	}
	return t.accumulate(y, t.conv(t.batchNorm(x), 4*planes, filter{size: 1, stride: stride}, false))
}
