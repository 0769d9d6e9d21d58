package preset

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

const fp32Bytes engine.Bytes = 4

const (
	classes   = 1000 // of ImageNet
	imageSide = 224  // pixels
)

const imageGroup = "Image classification"

var imageNotes = []string{
	"Times: a roofline model of a V100 in 32 bits, fitted to a public trace of ResNet-50; on networks measured elsewhere, with a synchronisation after each operator, it is 7-13 % faster.",
	"Sizes: exact from the shapes of 224 x 224 images in 32 bits, as PyTorch keeps them on a GPU; workspaces of the convolution library (up to 26 MiB) and the allocator's rounding are not included.",
	"Resident: weights, their gradients, SGD's momentum, running averages of batch normalisation.",
	"The loss has no cost.",
}

func resnet50() *Preset {
	return resnetPreset("resnet50", "ResNet-50", [4]int{3, 4, 6, 3},
		"The usual yardstick: 16 bottleneck blocks, 22 stages, of which the first ten hold three quarters of the memory.")
}

func resnet101() *Preset {
	return resnetPreset("resnet101", "ResNet-101", [4]int{3, 4, 23, 3},
		"33 bottleneck blocks, 39 stages: the network of the papers on optimal rematerialization and offloading.")
}

func resnetPreset(id, title string, blocks [4]int, doc string) *Preset {
	return &Preset{
		ID: id, Title: title, Group: imageGroup, DefaultBatch: 32, DType: "f32", Doc: doc,
		URL:   "https://arxiv.org/abs/1512.03385", // He et al., Deep residual learning
		sizes: profiles.Exact, timedOn: "Tesla V100, 32-bit",
		notes: imageNotes,
		build: func(batch int64) network { return resnet(blocks, batch, imageSide) },
	}
}

func vgg16() *Preset {
	return &Preset{
		ID: "vgg16", Title: "VGG-16", Group: imageGroup, DefaultBatch: 32, DType: "f32",
		Doc:   "13 wide convolutions in a plain chain: few stages, two thirds of the memory in the first five, most of the weights in one layer.",
		URL:   "https://arxiv.org/abs/1409.1556", // Simonyan and Zisserman
		sizes: profiles.Exact, timedOn: "Tesla V100, 32-bit",
		notes: imageNotes,
		build: func(batch int64) network {
			return vgg([][]int64{{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}}, batch, imageSide)
		},
	}
}

// imageNet writes down a network on images stage by stage.
type imageNet struct {
	batch int64
	net   network
	next  value // the output of the last stage
}

func newImageNet(batch, side int64) *imageNet {
	image := value{bytes: engine.Bytes(batch*3*side*side) * fp32Bytes, c: 3, h: side, w: side}
	return &imageNet{batch: batch, net: network{input: image.bytes}, next: image}
}

// stage appends a stage; ops records its operators, from the tape's input to
// the output it returns.
func (b *imageNet) stage(name, kind string, ops func(t *tape, x valueID) valueID) {
	t := newTape(b.batch, fp32Bytes, b.next)
	s := stage{name: name, kind: kind, tape: t, fromData: len(b.net.stages) == 0, time: v100Time}
	s.output = ops(t, stageInput)
	b.next = t.values[s.output]
	b.net.stages = append(b.net.stages, s)
}

// trained closes the network: what stays is one copy of the parameters for
// each of weights, gradients and SGD's momentum.
func (b *imageNet) trained() network {
	for i := range b.net.stages {
		t := b.net.stages[i].tape
		b.net.resident.Weights += engine.Bytes(t.params) * fp32Bytes
		b.net.resident.Pinned += t.buffers
	}
	b.net.resident.Grads = b.net.resident.Weights
	b.net.resident.Optimizer = b.net.resident.Weights
	return b.net
}

// resnet is a residual network of bottleneck blocks (He et al. 2016, table 1;
// stride on the 3x3 convolution, as torchvision has it), in the stages of the
// rotor project: one for each block.
func resnet(blocks [4]int, batch, side int64) network {
	b := newImageNet(batch, side)
	b.stage("conv1", "conv", func(t *tape, x valueID) valueID {
		return t.conv(x, 64, filter{size: 7, stride: 2, pad: 3}, false)
	})
	b.stage("bn1+relu", "act", func(t *tape, x valueID) valueID { return t.relu(t.batchNorm(x)) })
	b.stage("maxpool", "pool", func(t *tape, x valueID) valueID {
		return t.maxPool(x, filter{size: 3, stride: 2, pad: 1})
	})
	for layer, n := range blocks {
		planes := int64(64) << layer
		for i := range n {
			stride := int64(1)
			if layer > 0 && i == 0 {
				stride = 2
			}
			b.stage(fmt.Sprintf("layer%d.%d", layer+1, i), "conv", func(t *tape, x valueID) valueID {
				return bottleneck(t, x, planes, stride)
			})
		}
	}
	b.head(1)
	b.stage("fc", "fc", func(t *tape, x valueID) valueID { return t.linear(x, classes) })
	return b.trained()
}

// bottleneck is 1x1, 3x3, 1x1 around a shortcut, which is a convolution where
// the shape changes. The sum overwrites the main branch.
func bottleneck(t *tape, x valueID, planes, stride int64) valueID {
	y := t.relu(t.batchNorm(t.conv(x, planes, filter{size: 1, stride: 1}, false)))
	y = t.relu(t.batchNorm(t.conv(y, planes, filter{size: 3, stride: stride, pad: 1}, false)))
	y = t.batchNorm(t.conv(y, 4*planes, filter{size: 1, stride: 1}, false))
	shortcut := x
	if stride != 1 || t.values[x].c != 4*planes {
		shortcut = t.batchNorm(t.conv(x, 4*planes, filter{size: 1, stride: stride}, false))
	}
	return t.relu(t.accumulate(y, shortcut))
}

// head averages to side x side and makes a vector of it.
func (b *imageNet) head(side int64) {
	b.stage("avgpool", "pool", func(t *tape, x valueID) valueID { return t.avgPool(x, side) })
	b.stage("flatten", "view", func(t *tape, x valueID) valueID { return t.flatten(x) })
}

// vgg is a chain of 3x3 convolutions with a pool after each group (Simonyan and
// Zisserman 2015, configuration D for VGG-16). A stage is a convolution or a
// linear layer with its activation, or a pool, or a dropout.
func vgg(groups [][]int64, batch, side int64) network {
	b := newImageNet(batch, side)
	for g, group := range groups {
		for i, planes := range group {
			b.stage(fmt.Sprintf("conv%d_%d+relu", g+1, i+1), "conv", func(t *tape, x valueID) valueID {
				return t.relu(t.conv(x, planes, filter{size: 3, stride: 1, pad: 1}, true))
			})
		}
		b.stage(fmt.Sprintf("pool%d", g+1), "pool", func(t *tape, x valueID) valueID {
			return t.maxPool(x, filter{size: 2, stride: 2})
		})
	}
	b.head(7)
	for i := range 2 {
		b.stage(fmt.Sprintf("fc%d+relu", i+6), "fc", func(t *tape, x valueID) valueID { return t.relu(t.linear(x, 4096)) })
		b.stage(fmt.Sprintf("dropout%d", i+6), "dropout", func(t *tape, x valueID) valueID { return t.dropout(x) })
	}
	b.stage("fc8", "fc", func(t *tape, x valueID) valueID { return t.linear(x, classes) })
	return b.trained()
}
