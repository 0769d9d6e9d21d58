package remat

import (
	"fmt"

	"memtide/engine"
)

func init() {
	engine.Register(&engine.Strategy{
		Name:  "layerwise",
		Title: "Every n-th layer, or the first n",
		Short: "Checkpointed blocks",
		Mark:  4,
		Doc:   "Computes every n-th layer again from its own input, or the first n layers.",
		Class: engine.MayRecompute,
		Plans: "unit",
		Cites: []engine.Cite{
			sublinear("3"),
			{
				Text:    "Korthikanti, Casper, Lym, McAfee, Andersch, Shoeybi, Catanzaro: Reducing Activation Recomputation in Large Transformer Models",
				ID:      "arXiv:2205.05198",
				Section: "5",
			},
		},
		Params: []engine.Param{
			{
				Name: "which", Title: "Layers", Default: "every", Choices: []string{"every", "first"},
				Doc: "Which layers are computed again: every n-th, or the first n.",
			},
			{
				Name: "n", Title: "n", Default: "0", Min: 0, Max: engine.MaxStages,
				Doc: "Which of them; 0 takes the fastest number that fits.",
			},
		},
		Solver: solveLayers,
	})
}

// recomputes reports whether a layer, counted from 1, is computed again: every n-th one, or the first n.
func recomputes(every bool, n, layer int) bool {
	if every {
		return layer%n == 0
	}
	return layer <= n
}

func solveLayers(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	c, every, asked := p.Chain.Chain, args.Is("which", "every"), args.Int("n")
	most := c.Len() - 1 // the last stage keeps everything
	if asked > max(most, 1) {
		return nil, fmt.Errorf("%w: n is %d, and the network has %d layers", engine.ErrUnsupported, asked, most)
	}
	var tries []try
	for n := 1; n <= max(most, 1); n++ {
		if asked != 0 && n != asked {
			continue
		}
		if err := poll.Err(); err != nil {
			return nil, err
		}
		t := try{n, c.ForwardTime() + c.BackTime()}
		for k := 1; k <= most; k++ {
			if recomputes(every, n, k) {
				t.time += c.Stages[k-1].Forward
			}
		}
		tries = append(tries, t)
	}
	why := "with any number of such layers"
	if asked != 0 {
		why = fmt.Sprintf("with n = %d", asked)
	}
	return fastest(p, tries, poll, why, func(n int) ([]engine.ChainOp, string) {
		seq := layersSequence(c, every, n)
		count := len(seq) - 2*c.Len() // every layer that is computed again adds an operation
		return seq, fmt.Sprintf("n = %d: %d of %d layers are computed again.", n, count, most)
	})
}

// layersSequence returns the sequence that keeps the inputs of the recomputed layers, and everything of the others.
func layersSequence(c *engine.Chain, every bool, n int) (seq []engine.ChainOp) {
	last := c.Len()
	for k := 1; k <= last; k++ {
		kind := engine.FAll
		if k < last && recomputes(every, n, k) {
			kind = engine.FCk
		}
		seq = append(seq, engine.ChainOp{Kind: kind, Stage: k})
	}
	for k := last; k >= 1; k-- {
		if k < last && recomputes(every, n, k) {
			seq = append(seq, engine.ChainOp{Kind: engine.FAll, Stage: k})
		}
		seq = append(seq, engine.ChainOp{Kind: engine.BStep, Stage: k})
	}
	return seq
}
