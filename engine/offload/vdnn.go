package offload

import (
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/sim"
)

func init() {
	engine.Register(vdnn)
	engine.Register(vdnnpp)
}

var (
	citeVDNN   = engine.Cite{Text: "Rhu, Gimelshein, Clemons, Zulfiqar and Keckler: vDNN: Virtualized Deep Neural Networks for Scalable, Memory-Efficient Neural Network Design", ID: "10.1109/MICRO.2016.7783721", Section: "III"}
	citeVDNNPP = engine.Cite{Text: "Shriram, Garg and Kulkarni: Dynamic Memory Management for GPU-based Training of Deep Neural Networks", ID: "10.1109/IPDPS.2019.00030", Section: "II and IV"}
)

// vdnnSets are the choices of the set to offload. dynamic tries the others, and nothing.
var vdnnSets = []string{"dynamic", "all", "conv", "aconv"}

// vdnnNames describes the sets for people.
var vdnnNames = map[string]string{
	"": "nothing", "all": "the inputs of all stages", "conv": "the inputs of convolutions",
	"aconv": "the inputs of every second convolution",
}

var paramSet = engine.Param{
	Name: "set", Title: "Offload", Default: "dynamic", Choices: vdnnSets,
	Doc: "What leaves: all inputs of stages, those of convolutions, those of every second convolution from the first, or the fastest of these and nothing that fits.",
}

var paramAlgo = engine.Param{
	Name: "algo", Title: "Convolutions", Default: "dynamic", Choices: vdnnAlgos,
	Doc: "Where a stage has two algorithms: the memory-optimal one (m), the performance-optimal one (p), or the fastest of p everywhere, p where it fits, and m everywhere.",
}

var paramAhead = engine.Param{
	Name: "ahead", Title: "Fetch ahead", Default: "any", Choices: []string{"any", "conv"},
	Doc: "How far a layer of the backward pass looks for what it fetches: any distance, or no further than the nearest convolution before it that is offloaded, as vDNN's own program does.",
}

var vdnn = &engine.Strategy{
	Name:   "vdnn",
	Title:  "vDNN",
	Mark:   7,
	Doc:    "Offloads the inputs of layers, each while its layer computes, and waits for the copy before the next layer starts.",
	Class:  engine.MayOffload,
	Short:  "vDNN",
	Rank:   engine.Rank{Chain: 8},
	Cites:  []engine.Cite{citeVDNN, citeVDNNPP},
	Params: []engine.Param{paramSet, paramAlgo, paramAhead},
	Solver: func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		return solveVDNN(false, p, args, poll)
	},
}

var vdnnpp = &engine.Strategy{
	Name:   "vdnnpp",
	Title:  "vDNN++",
	Mark:   8,
	Doc:    "Offloads and fetches what vDNN does, but computes on while copies are under way.",
	Class:  engine.MayOffload,
	Short:  "vDNN++",
	Cites:  []engine.Cite{citeVDNNPP, citeVDNN},
	Params: []engine.Param{paramSet, paramAlgo, paramAhead},
	Solver: func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		return solveVDNN(true, p, args, poll)
	},
}

func solveVDNN(async bool, p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s := newStep(p)
	sets := []string{args.Word("set")}
	if sets[0] == "dynamic" {
		// Among equally fast schedules, the one that moves less is taken.
		sets = []string{"", "aconv", "conv", "all"}
	}
	var candidates []*layered
	for _, algo := range s.algos(args.Word("algo")) {
		for _, which := range sets {
			l := &layered{step: s, what: vdnnNames[which], set: s.layers(which), near: args.Is("ahead", "conv"),
				async: async}
			candidates = append(candidates, l.by(algo))
		}
	}
	sol, err := fastest(p, candidates)
	if err == nil && strings.HasSuffix(args.Word("set"), "conv") && !slices.Contains(s.layers("conv"), true) {
		sol.Note("The profile names no stage as a convolution (kind \"conv\").")
	}
	if err != nil {
		return nil, err
	}
	return sol, poll.Err()
}

// ByLayers returns the schedule of vDNN or, if async, of vDNN++ for any set of the x_i, i = 0..n-1.
// The problem must be a chain. The errors are those of a strategy.
func ByLayers(p *engine.Problem, set []bool, async bool) (*engine.Solution, error) {
	return fastest(p, []*layered{{step: newStep(p), what: "a given set", set: set, async: async}})
}

// fastest returns the solution of the fastest candidate that fits, the first one of equally fast
// ones.
func fastest(p *engine.Problem, candidates []*layered) (*engine.Solution, error) {
	var best *engine.Solution
	var of *layered
	var err error
	refused := &engine.InfeasibleError{Budget: p.Budget}
	for _, l := range candidates {
		if slices.ContainsFunc(l.offloaded(), func(i int) bool { return l.size[i] > 0 }) && p.Linked() != nil {
			err = p.Linked()
			continue
		}
		need, op := l.need()
		if need > p.Budget {
			if refused.Smallest == 0 || need < refused.Smallest {
				refused.Smallest = need
				refused.Why = fmt.Sprintf("%s needs it, offloading %s", p.Graph.Ops[op].Name, l.what)
			}
			continue
		}
		schedule := l.schedule()
		trace, bad := sim.Play(p, schedule)
		if bad != nil {
			panic(fmt.Sprintf("offload: %s within %d bytes: %v", l.what, p.Budget, bad))
		}
		if best == nil || trace.Makespan < best.Makespan {
			best, of = &engine.Solution{Schedule: schedule, Makespan: trace.Makespan, Peak: trace.Peak}, l
		}
	}
	switch {
	case best != nil:
		of.claim(best)
		return best, nil
	case refused.Smallest > 0 && err == nil:
		return nil, refused
	}
	return nil, err
}

// layers returns the set of a choice: x_i is the input of stage i+1.
func (s *step) layers(which string) []bool {
	set := make([]bool, s.n)
	for i := range set {
		set[i] = which == "all" || strings.HasSuffix(which, "conv") && s.conv(i)
	}
	if which == "aconv" {
		return everySecond(set)
	}
	return set
}

// conv reports whether x_i is the input of a convolution.
func (s *step) conv(i int) bool { return s.p.Chain.Chain.Stages[i].Kind == "conv" }

// claim sets the claims and notes of the schedule.
func (l *layered) claim(sol *engine.Solution) {
	lower, name := bound.Of(l.p, engine.MayOffload)
	sol.Optimal, sol.OptimalAmong, sol.Bound = sol.Makespan <= lower, withinAll, lower
	if l.fast.what != "" {
		sol.Notes = append(sol.Notes, l.fast.what)
	}
	count := len(l.offloaded())
	if count == 0 {
		sol.Note("Nothing is offloaded.")
		return
	}
	sol.Notes = append(sol.Notes, fmt.Sprintf("Offloads %d of %d activations: %s.", count, l.n, l.what),
		fmt.Sprintf("Lower bound: %s.", name))
}

// offloaded returns the indices of the set.
func (l *layered) offloaded() (list []int) {
	for i, in := range l.set {
		if in {
			list = append(list, i)
		}
	}
	return list
}
