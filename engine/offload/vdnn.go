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

// fastest returns the solution of the fastest candidate that fits, the first one of equally fast ones.
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

// layered is a schedule of vDNN or vDNN++: a value leaves during its layer, and values come back one per layer.
//
// A fetch allocates its destination when it is issued. So memory in the backward pass follows from the program alone,
// and a fetch without room can never start, because all copies to the host have ended by then.
type layered struct {
	*step
	what  string // the set, for people
	set   []bool // by i: x_i is offloaded, even if it has no bytes
	fast  ways   // the operations that run by their second algorithm
	near  bool   // a fetch takes no value before the nearest earlier convolution that is offloaded
	async bool   // vDNN++: operations do not wait for copies
}

// back calls visit for every stage of the backward pass, from the last one, with the items to fetch: own is x_i itself
// if it is still away, and next is the nearest earlier one that is away. They are -1 if there is no such item.
func (l *layered) back(visit func(i, own, next int)) {
	sent := lastOf(l.n, func(i int) bool { return l.set[i] })
	end := lastOf(l.n, func(i int) bool { return l.near && l.set[i] && l.conv(i) })
	away := l.n // the values of the set among x_0..x_{away-1} are away
	for i := l.n - 1; i >= 0; i-- {
		own, next := -1, -1
		if away > i {
			away = i
			if l.set[i] {
				own = i
			}
		}
		if i > 0 && away > 0 && sent[away-1] >= end[i-1] {
			next = sent[away-1]
		}
		if next >= 0 {
			away = next
		}
		visit(i, own, next)
	}
}

// lastOf returns, for every i, the last index up to i for which meant is true, or -1.
func lastOf(n int, meant func(i int) bool) []int {
	list := make([]int, n)
	last := -1
	for i := range list {
		if meant(i) {
			last = i
		}
		list[i] = last
	}
	return list
}

// needs calls visit for every operation, in order, with the memory while it runs. The values that
// have left before a forward operation are away, and in the backward pass those that have not been
// fetched. The needs do not depend on async.
func (l *layered) needs(visit func(op engine.OpID, need engine.Bytes)) {
	var away engine.Bytes
	for i := range l.n {
		visit(l.p.Chain.Fwd(i+1), l.needF[i]-away)
		if l.set[i] {
			away += l.size[i]
		}
	}
	l.back(func(i, own, next int) {
		for _, x := range [2]int{own, next} {
			if x >= 0 {
				away -= l.size[x]
			}
		}
		visit(l.p.Chain.Bwd(i+1), l.needB[i]-away)
	})
}

// need returns the smallest budget, and the operation that needs it.
func (l *layered) need() (need engine.Bytes, op engine.OpID) {
	l.needs(func(id engine.OpID, m engine.Bytes) {
		if m > need {
			need, op = m, id
		}
	})
	return need, op
}

// schedule returns the instructions of the schedule.
func (l *layered) schedule() (sched engine.Schedule) {
	g := l.p.Chain
	fetch := func(x int) {
		sched = append(sched,
			engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: item(g, x), Reserve: true})
	}
	run := func(op engine.OpID) {
		st := engine.Run(op)
		st.Alt = l.fast.of(op)
		sched = append(sched, st)
	}
	for i, in := range l.set {
		if in {
			sched = append(sched, engine.Offload(item(g, i)))
		}
		run(g.Fwd(i + 1))
		if in && !l.async {
			sched = append(sched, engine.Wait(item(g, i)))
		}
		if in {
			sched = append(sched, engine.Free(item(g, i)))
		}
		sched = freeUnsaved(sched, g, i)
	}
	for i, in := range l.set {
		if in && l.async { // all copies end before the backward pass
			sched = append(sched, engine.Wait(item(g, i)))
		}
	}
	l.back(func(i, own, next int) {
		if own >= 0 {
			fetch(own)
			if !l.async {
				sched = append(sched, engine.Wait(item(g, own)))
			}
		}
		if next >= 0 {
			fetch(next)
		}
		if l.set[i] {
			sched = waitUnsaved(sched, g, i)
		}
		run(g.Bwd(i + 1))
		if next >= 0 && !l.async {
			sched = append(sched, engine.Wait(item(g, next)))
		}
		sched = append(sched, engine.Free(g.Grad(i+1)), engine.Free(g.Saved(i+1)))
	})
	return append(sched, engine.Free(g.Act(0)))
}

// vdnnAlgos are the choices of the algorithm of stages that have two. dynamic tries the others, and mixed.
var vdnnAlgos = []string{"dynamic", "m", "p"}

// mixed means, for each operation, the faster algorithm that there is room for.
const mixed = "mixed"

// ways says which operations run by their second algorithm.
type ways struct {
	alt  []bool // by operation; nil: no operation does
	what string // note for people; empty if there is nothing to choose
}

func (w *ways) of(op engine.OpID) bool { return w.alt != nil && w.alt[op] }

// algos returns the algorithms to try, in the order of Rhu et al., section III-C, and paper 003, section II-B:
// performance-optimal algorithms first, then the other one where they do not fit, then memory-optimal algorithms only.
// For a chain whose stages have one algorithm it returns one empty name.
func (s *step) algos(choice string) []string {
	switch {
	case !slices.ContainsFunc(s.p.Chain.Chain.Stages, func(st engine.Stage) bool { return st.Fast != nil }):
		return []string{""}
	case choice == "dynamic":
		return []string{"p", mixed, "m"}
	}
	return []string{choice}
}

// by returns the schedule whose operations run by the named algorithm.
//
// Mixed is greedy: an operation runs by the faster algorithm for which there is room within the budget, regardless of
// the other operations. The papers choose for each layer. Here its forward and its backward are separate choices, as in
// the convolution library, which has an algorithm for each.
func (l *layered) by(algo string) *layered {
	if algo == "" {
		return l
	}
	alt := make([]bool, len(l.p.Graph.Ops))
	count, of := 0, 0
	l.needs(func(op engine.OpID, need engine.Bytes) {
		o := &l.p.Graph.Ops[op]
		if o.Alt == nil {
			return
		}
		of++
		fits, altFits := need <= l.p.Budget, need-o.Temp+o.Alt.Temp <= l.p.Budget
		switch {
		case algo != mixed:
			alt[op] = algo == "p"
		case fits != altFits:
			alt[op] = altFits
		case fits:
			alt[op] = o.Alt.Time < o.Time
		default: // neither fits: the one that needs less
			alt[op] = o.Alt.Temp < o.Temp
		}
		if alt[op] {
			count++
		}
	})
	m := *l
	m.step = l.step.sped(alt)
	m.fast = ways{alt, fmt.Sprintf("%d of %d operations with two algorithms run by the performance-optimal one.",
		count, of)}
	return &m
}

// sped returns the step with the second algorithm of the operations in alt.
func (s *step) sped(alt []bool) *step {
	q := *s
	q.needF, q.needB = slices.Clone(s.needF), slices.Clone(s.needB)
	q.timeF, q.timeB = slices.Clone(s.timeF), slices.Clone(s.timeB)
	for i := range s.n {
		f, b := s.p.Chain.Fwd(i+1), s.p.Chain.Bwd(i+1)
		if op := &s.p.Graph.Ops[f]; alt[f] {
			q.timeF[i], q.needF[i] = op.Alt.Time, s.needF[i]-op.Temp+op.Alt.Temp
		}
		if op := &s.p.Graph.Ops[b]; alt[b] {
			q.timeB[i], q.needB[i] = op.Alt.Time, s.needB[i]-op.Temp+op.Alt.Temp
		}
	}
	return &q
}
