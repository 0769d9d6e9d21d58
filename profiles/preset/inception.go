package preset

const szegedy2016 = "https://arxiv.org/abs/1512.00567" // Szegedy et al., Rethinking the Inception architecture

func inceptionPresets() []*Preset {
	return []*Preset{imagePreset(inceptionGroup, "inception-v3", "Inception v3", szegedy2016,
		"Eleven modules of parallel branches, 299 px: few stages, each with much inside.", inception).sized(299, 75)}
}

// Filters of Inception.
var (
	one    = filter{size: 1, stride: 1}
	three  = filter{size: 3, stride: 1, pad: 1}
	shrink = filter{size: 3, stride: 2}
	row3   = filter{size: 3, stride: 1, pad: 1, along: rowOnly}
	col3   = filter{size: 3, stride: 1, pad: 1, along: columnOnly}
	row7   = filter{size: 7, stride: 1, pad: 3, along: rowOnly}
	col7   = filter{size: 7, stride: 1, pad: 3, along: columnOnly}
)

// inception returns Inception v3 as in torchvision, without the auxiliary classifier. A stage is a convolution
// with its normalisation and activation, a pool or a module.
func inception(s setting) network {
	b := newImageNet(s)
	conv := func(name string, planes int64, f filter) {
		b.stage(name, "conv", func(t *tape, x valueID) valueID { return normed(t, x, planes, f) })
	}
	module := func(name string, ops func(t *tape, x valueID) valueID) { b.stage(name, "conv", ops) }
	conv("Conv2d_1a_3x3", 32, shrink)
	conv("Conv2d_2a_3x3", 32, filter{size: 3, stride: 1})
	conv("Conv2d_2b_3x3", 64, three)
	b.pool("maxpool1", shrink)
	conv("Conv2d_3b_1x1", 80, one)
	conv("Conv2d_4a_3x3", 192, filter{size: 3, stride: 1})
	b.pool("maxpool2", shrink)
	module("Mixed_5b", inceptionA(32))
	module("Mixed_5c", inceptionA(64))
	module("Mixed_5d", inceptionA(64))
	module("Mixed_6a", inceptionB)
	module("Mixed_6b", inceptionC(128))
	module("Mixed_6c", inceptionC(160))
	module("Mixed_6d", inceptionC(160))
	module("Mixed_6e", inceptionC(192))
	module("Mixed_7a", inceptionD)
	module("Mixed_7b", inceptionE)
	module("Mixed_7c", inceptionE)
	b.head(1)
	b.dropout("dropout")
	return b.classify("fc", classes)
}

// step is a convolution of a branch.
type step struct {
	planes int64
	filter filter
}

// branch is a sequence of convolutions.
func branch(t *tape, x valueID, steps ...step) valueID {
	for _, s := range steps {
		x = normed(t, x, s.planes, s.filter)
	}
	return x
}

// pooled is the branch that averages.
func pooled(t *tape, x valueID, planes int64) valueID {
	return normed(t, t.meanPool(x, three), planes, one)
}

// inceptionA returns the module at 35 x 35 (Szegedy et al., figure 5).
func inceptionA(planes int64) func(t *tape, x valueID) valueID {
	return func(t *tape, x valueID) valueID {
		return t.concat(
			branch(t, x, step{64, one}),
			branch(t, x, step{48, one}, step{64, filter{size: 5, stride: 1, pad: 2}}),
			branch(t, x, step{64, one}, step{96, three}, step{96, three}),
			pooled(t, x, planes))
	}
}

// inceptionB reduces to 17 x 17 (figure 10).
func inceptionB(t *tape, x valueID) valueID {
	return t.concat(
		branch(t, x, step{384, shrink}),
		branch(t, x, step{64, one}, step{96, three}, step{96, shrink}),
		t.maxPool(x, shrink))
}

// inceptionC returns the module at 17 x 17 with filters along one axis (figure 6).
func inceptionC(planes int64) func(t *tape, x valueID) valueID {
	return func(t *tape, x valueID) valueID {
		return t.concat(
			branch(t, x, step{192, one}),
			branch(t, x, step{planes, one}, step{planes, row7}, step{192, col7}),
			branch(t, x, step{planes, one}, step{planes, col7}, step{planes, row7}, step{planes, col7},
				step{192, row7}),
			pooled(t, x, 192))
	}
}

// inceptionD reduces to 8 x 8.
func inceptionD(t *tape, x valueID) valueID {
	return t.concat(
		branch(t, x, step{192, one}, step{320, shrink}),
		branch(t, x, step{192, one}, step{192, row7}, step{192, col7}, step{192, shrink}),
		t.maxPool(x, shrink))
}

// inceptionE is the module at 8 x 8, whose branches split once more (figure 7).
func inceptionE(t *tape, x valueID) valueID {
	parted := func(y valueID) valueID {
		return t.concat(branch(t, y, step{384, row3}), branch(t, y, step{384, col3}))
	}
	return t.concat(
		branch(t, x, step{320, one}),
		parted(branch(t, x, step{384, one})),
		parted(branch(t, x, step{448, one}, step{384, three})),
		pooled(t, x, 192))
}
