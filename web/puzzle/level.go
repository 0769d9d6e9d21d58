package puzzle

import (
	"time"

	"memtide/engine"
)

// Layer is a layer of a level's network. Its gradient is as large as its output.
type Layer struct {
	Name          string
	Forward, Back time.Duration
	Out, Saved    engine.Bytes // Saved contains Out
}

// Level is a network, a link to the host and a budget.
type Level struct {
	Name, Hint string
	Layers     []Layer
	Link       engine.Rate // in each direction; both at once
	Budget     engine.Bytes
	Best       string // a fastest plan, see TestBest
}

// layer returns a layer with times in milliseconds and sizes in MiB.
func layer(name string, forward, back, out, saved int) Layer {
	return Layer{name, time.Duration(forward) * time.Millisecond, time.Duration(back) * time.Millisecond,
		engine.Bytes(out) * engine.MiB, engine.Bytes(saved) * engine.MiB}
}

// perMilli returns the rate of mib MiB per millisecond.
func perMilli(mib int) engine.Rate { return engine.Rate(mib) * 1000 * engine.Rate(engine.MiB) }

// Levels are the levels of the game, the easiest first.
var Levels = []Level{
	{Name: "One too many", Hint: "Everything fits but one layer. Which one costs least?",
		Layers: []Layer{layer("conv1", 8, 16, 64, 128), layer("relu1", 1, 2, 64, 64), layer("conv2", 10, 20, 64, 128),
			layer("conv3", 12, 24, 32, 96), layer("fc", 4, 8, 8, 16)},
		Link: perMilli(4), Budget: 470 * engine.MiB, Best: "krkkk"},
	{Name: "Time to leave", Hint: "Copies cost nothing while the device computes, and the first layers have the longest time to be away.",
		Layers: []Layer{layer("embed", 6, 12, 96, 192), layer("block1", 14, 28, 32, 96),
			layer("block2", 14, 28, 32, 96), layer("block3", 14, 28, 32, 96), layer("block4", 14, 28, 32, 96),
			layer("head", 6, 12, 16, 32)},
		Link: perMilli(6), Budget: 432 * engine.MiB, Best: "rokkkk"},
	{Name: "Both hands", Hint: "The link alone is too slow, and computing all again too dear.",
		Layers: []Layer{layer("stem", 8, 16, 48, 128), layer("conv1", 12, 24, 48, 160), layer("relu1", 1, 2, 48, 64),
			layer("conv2", 14, 28, 48, 160), layer("relu2", 1, 2, 48, 64), layer("conv3", 16, 32, 32, 128),
			layer("fc", 4, 8, 8, 16)},
		Link: perMilli(6), Budget: 428 * engine.MiB, Best: "rokrkkk"},
	{Name: "Blocks", Hint: "Layers that are computed again in a row need the whole row at once.",
		Layers: []Layer{layer("embed", 3, 4, 48, 64), layer("attn1", 12, 24, 48, 160), layer("mlp1", 16, 32, 48, 192),
			layer("attn2", 12, 24, 48, 160), layer("mlp2", 16, 32, 48, 192), layer("attn3", 12, 24, 48, 160),
			layer("mlp3", 16, 32, 48, 192), layer("norm", 1, 2, 48, 48), layer("head", 8, 16, 64, 96)},
		Link: perMilli(5), Budget: 692 * engine.MiB, Best: "oookrkrkk"},
	{Name: "The narrow pass", Hint: "Little room, a slow link, and layers that differ. Few of all plans fit at all.",
		Layers: []Layer{layer("stem", 4, 8, 128, 224), layer("conv1", 9, 18, 96, 192), layer("relu1", 1, 2, 96, 96),
			layer("conv2", 11, 22, 96, 160), layer("pool", 2, 4, 48, 96), layer("conv3", 13, 26, 64, 128),
			layer("relu2", 1, 2, 64, 64), layer("conv4", 15, 30, 48, 112), layer("norm", 2, 4, 48, 64),
			layer("fc", 6, 12, 16, 32)},
		Link: perMilli(3), Budget: 669 * engine.MiB, Best: "rokrkrrkkk"},
}

// Problem returns the level's training step. Its last stage is a loss without time and memory.
func (l *Level) Problem() *engine.Problem {
	c := &engine.Chain{Name: l.Name, Input: 8 * engine.MiB}
	for _, s := range l.Layers {
		c.Stages = append(c.Stages, engine.Stage{Name: s.Name, Forward: s.Forward, Back: s.Back, Out: s.Out,
			Saved: s.Saved, Grad: s.Out})
	}
	c.Stages = append(c.Stages, engine.Stage{Name: "loss"})
	d := engine.Device{Name: "puzzle", ToHost: l.Link, ToDev: l.Link, Duplex: engine.FullDuplex}
	return engine.NewChainProblem(c, d, engine.Whole, l.Budget)
}
