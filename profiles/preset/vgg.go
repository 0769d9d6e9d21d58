package preset

import "fmt"

const (
	simonyan   = "https://arxiv.org/abs/1409.1556"            // Simonyan and Zisserman, VGG
	krizhevsky = "https://arxiv.org/abs/1404.5997"            // Krizhevsky, One weird trick: torchvision's AlexNet
	alexNet12  = "https://doi.org/10.1145/3065386"            // Krizhevsky, Sutskever and Hinton: AlexNet
	rhu2016    = "https://doi.org/10.1109/MICRO.2016.7783721" // Rhu et al., vDNN: deep variants of VGG
)

func plainPresets() []*Preset {
	vggOf := func(id, title, url, doc string, v vggShape) *Preset {
		return imagePreset(plainGroup, id, title, url, doc, v.network)
	}
	return []*Preset{
		vggOf("vgg16", "VGG-16", simonyan,
			"13 wide convolutions in a plain chain: few stages, two thirds of the memory in the first five, most of the weights in one layer.", vgg16.deeper(0)),
		vggOf("vgg19", "VGG-19", simonyan, "VGG-16 with one more convolution in each of the last three groups.",
			vggShape{2, 2, 4, 4, 4}),
		vggOf("vgg116", "VGG-116", rhu2016,
			"VGG-16 with 20 more convolutions in each group, as the papers on vDNN made it: about 20 GB at batch 32.",
			vgg16.deeper(20)),
		vggOf("vgg191", "VGG-191", rhu2016,
			"VGG-16 with 35 more convolutions in each group: about 30 GB at batch 32.", vgg16.deeper(35)),
		vggOf("vgg416", "VGG-416", rhu2016,
			"VGG-16 with 80 more convolutions in each group, the deepest network of the paper on vDNN.",
			vgg16.deeper(80)),
		imagePreset(plainGroup, "alexnet", "AlexNet", krizhevsky,
			"Five convolutions and three large linear layers, as torchvision has it: more weights than activations up to a batch of 75.", alexNet).batched(128).sized(224, 63),
		imagePreset(plainGroup, "alexnet-2012", "AlexNet (2012)", alexNet12,
			"AlexNet with the widths of its first paper, without its two halves and its response normalisation: the AlexNet of the papers on vDNN.", alexNet2012).batched(128).sized(227, 63),
	}
}

// vggShape is the number of convolutions in each group of a VGG.
type vggShape [5]int

// vgg16 is configuration D of Simonyan and Zisserman (2015).
var vgg16 = vggShape{2, 2, 3, 3, 3}

// deeper returns the shape with n more convolutions in each group.
func (v vggShape) deeper(n int) vggShape {
	for i := range v {
		v[i] += n
	}
	return v
}

// network returns a chain of 3x3 convolutions with a pool after each group. A stage is a convolution or a linear
// layer with its activation, a pool, or a dropout.
func (v vggShape) network(s setting) network {
	b := newImageNet(s)
	for g, n := range v {
		for i := range n {
			b.convReLU(fmt.Sprintf("conv%d_%d", g+1, i+1), min(int64(64)<<g, 512), filter{size: 3, stride: 1, pad: 1})
		}
		b.pool(fmt.Sprintf("pool%d", g+1), filter{size: 2, stride: 2})
	}
	b.head(7)
	for i := range 2 {
		b.linearReLU(fmt.Sprintf("fc%d", i+6), 4096)
		b.dropout(fmt.Sprintf("dropout%d", i+6))
	}
	return b.classify("fc8", classes)
}

// alexNet returns the network of Krizhevsky (2014), as in torchvision.
func alexNet(s setting) network {
	b := newImageNet(s)
	b.alexConvs([5]int64{64, 192, 384, 256, 256}, 2)
	b.head(6)
	b.dropout("dropout6")
	b.linearReLU("fc6", 4096)
	b.dropout("dropout7")
	b.linearReLU("fc7", 4096)
	return b.classify("fc8", classes)
}

// alexNet2012 returns a network with the widths of Krizhevsky, Sutskever and Hinton (2012).
func alexNet2012(s setting) network {
	b := newImageNet(s)
	b.alexConvs([5]int64{96, 256, 384, 384, 256}, 0)
	b.flatten()
	b.linearReLU("fc6", 4096)
	b.dropout("dropout6")
	b.linearReLU("fc7", 4096)
	b.dropout("dropout7")
	return b.classify("fc8", classes)
}

// alexConvs appends five convolutions of these widths, with three pools between them.
func (b *writer) alexConvs(planes [5]int64, pad int64) {
	filters := [5]filter{{size: 11, stride: 4, pad: pad}, {size: 5, stride: 1, pad: 2}, {size: 3, stride: 1, pad: 1},
		{size: 3, stride: 1, pad: 1}, {size: 3, stride: 1, pad: 1}}
	for i, f := range filters {
		b.convReLU(fmt.Sprintf("conv%d", i+1), planes[i], f)
		if i < 2 || i == 4 {
			b.pool(fmt.Sprintf("pool%d", i+1), filter{size: 3, stride: 2})
		}
	}
}
