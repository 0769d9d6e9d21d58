package dtr

import (
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// From a sequence of functions to a chain
//
// The forward can be cut after a function if the rest of the forward reads exactly one of the storages that the forward
// has made, and does not change it in place: that storage is the output of the stage. A stage saves the storages that
// it makes if the backward reads them, or if the log releases them only in the backward.

// lives holds the lifetime of each storage, as indices of functions.
type lives struct {
	maker    []int   // function that makes it; -1 if it exists before the step
	lastFwd  []int   // last function of the forward that reads or changes it; -1 if there is no such function
	altered  []int   // last function of the forward that changes it; -1 if there is no such function
	last     []int   // last reader, or the function before the release; -1 if there is no such function
	turn     int     // the first function of the backward
	readBack []bool  // a function of the backward reads it, or it is not released before the backward
	held     [][]int // by function: storages that are not read later, but released only after the function
}

func (d *dtrLog) lives() lives {
	n := len(d.storages)
	never := func() []int { return slices.Repeat([]int{-1}, n) }
	l := lives{maker: never(), lastFwd: never(), altered: never(), last: never(), readBack: make([]bool, n),
		turn: len(d.calls), held: make([][]int, len(d.calls))}
	for i := range d.calls {
		c := &d.calls[i]
		if c.back && l.turn == len(d.calls) {
			l.turn = i
		}
		for _, s := range c.writes {
			l.maker[s], l.last[s] = i, i
		}
		for _, s := range c.reads {
			l.last[s] = i
			if i < l.turn {
				l.lastFwd[s] = i
			} else {
				l.readBack[s] = true
			}
		}
		for _, s := range c.alters {
			if i < l.turn {
				l.altered[s] = i
			}
		}
	}
	for s := range d.storages {
		if l.maker[s] < 0 {
			continue
		}
		at := len(d.calls) - 1 // the last function before the log releases the storage
		if st := &d.storages[s]; st.refs == 0 {
			at = st.released - 1
		}
		if at > l.last[s] {
			if !d.output(s) {
				l.held[at] = append(l.held[at], s)
			}
			l.last[s] = at
			l.readBack[s] = l.readBack[s] || at >= l.turn
		}
	}
	return l
}

// cuts returns the functions that end a stage, and the storage that crosses each cut.
func (d *dtrLog) cuts(l lives) (ends, crossing []int) {
	crosses := make([]int, l.turn+1) // number of storages that cross after a function, as differences
	sum := make([]int, l.turn+1)     // sum of their indices, which identifies a single storage
	for s := range d.storages {
		if l.maker[s] < 0 || l.maker[s] >= l.turn || l.lastFwd[s] <= l.maker[s] {
			continue
		}
		crosses[l.maker[s]]++
		crosses[l.lastFwd[s]]--
		sum[l.maker[s]] += s
		sum[l.lastFwd[s]] -= s
	}
	n, s := 0, 0
	for i := 0; i+1 < l.turn; i++ {
		n, s = n+crosses[i], s+sum[i]
		if n != 1 || l.altered[s] > i {
			continue
		}
		if last := len(ends) - 1; last >= 0 && crossing[last] == s {
			ends[last] = i // the functions since the last cut made nothing that is read: a counter
			continue
		}
		ends, crossing = append(ends, i), append(crossing, s)
	}
	return ends, crossing
}

// chain returns the chain, or nil if the functions do not form a chain, and the 1-based stage of each function, or 0.
func (d *dtrLog) chain(l lives, poll *engine.Poll) (c *engine.Chain, stages []int) {
	stages = make([]int, len(d.calls))
	ends, crossing := d.cuts(l)
	if d.again > 0 || len(ends) == 0 || len(ends) >= parse.MaxStageRows {
		return nil, stages
	}
	k := 0
	for i := range l.turn {
		stages[i] = k + 1
		if k < len(ends) && ends[k] == i {
			k++
		}
	}
	d.matchBack(l, stages, poll)
	c = &engine.Chain{Stages: make([]engine.Stage, len(ends)+1)}
	for k, s := range crossing {
		size := d.storages[s].size
		c.Stages[k].Out, c.Stages[k].Grad, c.Stages[k].Saved = size, size, size
	}
	for s := range d.storages {
		m := l.maker[s]
		if m >= 0 && m < l.turn && l.readBack[s] && (stages[m] > len(crossing) || crossing[stages[m]-1] != s) {
			c.Stages[stages[m]-1].Saved += d.storages[s].size
		}
	}
	for s := range d.storages { // memory before the step, and what remains after it
		switch st := &d.storages[s]; {
		case s == d.input:
			c.Input = st.size
		case st.constant:
			c.Resident.Weights += st.size
		case d.output(s):
			c.Resident.Grads += st.size
		}
	}
	d.temporaries(l, stages, c)
	d.nameStages(stages, c)
	return c, stages
}

// temporaries sets the times of the stages, and their temporary memory from the storages that
// exist only within a stage.
func (d *dtrLog) temporaries(l lives, stages []int, c *engine.Chain) {
	dies := make([][]int, len(d.calls))
	for s := range d.storages {
		if l.last[s] >= 0 {
			dies[l.last[s]] = append(dies[l.last[s]], s)
		}
	}
	live := make([]engine.Bytes, len(c.Stages)+1) // storages that a stage has made in this pass
	for i := range d.calls {
		call, k := &d.calls[i], stages[i]
		if i == l.turn {
			clear(live) // the backward counts only its own storages
		}
		for _, s := range call.writes {
			if !d.output(s) {
				live[k] += d.storages[s].size
			}
		}
		st := &c.Stages[k-1]
		if call.back {
			given := engine.Bytes(0)
			if k > 1 {
				given = c.Stages[k-2].Grad
			}
			st.Back += call.took
			st.BwdTemp = max(st.BwdTemp, live[k]-given)
		} else {
			st.Forward += call.took
			st.FwdTemp = max(st.FwdTemp, live[k]-st.Saved)
		}
		for _, s := range dies[i] {
			if m := l.maker[s]; m >= 0 && !d.output(s) && d.calls[m].back == call.back {
				live[stages[m]] -= d.storages[s].size
			}
		}
	}
}

// nameStages names stages after their longest function.
func (d *dtrLog) nameStages(stages []int, c *engine.Chain) {
	longest := slices.Repeat([]int{-1}, len(c.Stages))
	for i := range d.calls {
		if d.calls[i].back {
			break
		}
		if k := stages[i] - 1; longest[k] < 0 || d.calls[i].took > d.calls[longest[k]].took {
			longest[k] = i
		}
	}
	for k, i := range longest {
		if i >= 0 {
			c.Stages[k].Name = strings.TrimPrefix(d.calls[i].name, "cudnn_")
			c.Stages[k].Kind = parse.ModuleKind(d.calls[i].name)
		}
	}
	if n := len(c.Stages); strings.Contains(c.Stages[n-1].Name, "loss") ||
		strings.Contains(c.Stages[n-1].Name, "entropy") {
		c.Stages[n-1].Name = parse.LossName
	}
}

// matchBack sets the stages of the functions of the backward. A function gets the stage of the
// function of the forward with which it shares most values, or the stage of the function before
// it if it shares no values. The backward goes through the stages in reverse.
func (d *dtrLog) matchBack(l lives, stages []int, poll *engine.Poll) {
	users := make([][]int, len(d.storages)) // functions of the forward that read or make a storage
	for i := range l.turn {
		for _, s := range slices.Concat(d.calls[i].reads, d.calls[i].writes) {
			users[s] = append(users[s], i)
		}
	}
	current := slices.Max(stages)
	score := map[int]int{}
	for i := l.turn; i < len(d.calls); i++ {
		profiles.End(poll.Err())
		clear(score)
		c := &d.calls[i]
		for _, s := range c.reads {
			if len(users[s]) > 64 {
				continue // a counter or a mask that everything reads
			}
			for _, f := range users[s] {
				score[f] += 4
			}
		}
		best, most := -1, 0
		for f, n := range score {
			if alike(d.calls[f].name, c.name) {
				n += 2
			}
			if n > most || n == most && f > best {
				best, most = f, n
			}
		}
		if best >= 0 {
			current = min(current, stages[best])
		}
		stages[i] = current
	}
}

// alike reports whether the name back is the name of the backward of the function forward.
func alike(forward, back string) bool {
	forward = strings.TrimSuffix(forward, "_")
	base, _, _ := strings.Cut(back, "_backward")
	return base == forward || base == "threshold" && forward == "relu" || strings.HasSuffix(base, "mm") &&
		strings.HasSuffix(forward, "mm")
}

// Steps with several backward passes, as GANs have
//
// A log shows at most where the first backward begins, and never where another forward begins. Functions after the
// start of the first backward belong to a forward if at least alikeRun in a row equal functions before it, with results
// of the same sizes. In seven of DTR's logs, which have one backward, at most two functions in a row are equal; in its
// log of a GAN the rule finds every function that is in no backward, such as addmm. Functions that the first forward
// did not run stay in the backward.
const alikeRun = 4

// likeness is the key by which functions are compared.
type likeness struct {
	name          string
	makes, alters int
	bytes         engine.Bytes // of the storages that it makes
}

func (d *dtrLog) likeness(c *dtrCall) likeness {
	l := likeness{name: c.name, makes: len(c.writes), alters: len(c.alters)}
	for _, s := range c.writes {
		l.bytes += d.storages[s].size
	}
	return l
}

// assign sets the pass of each function after the start of the first backward, and returns how
// many of them belong to a forward.
func (d *dtrLog) assign() (again int) {
	isBack := func(c dtrCall) bool { return c.back }
	turn := slices.IndexFunc(d.calls, isBack)
	if turn < 0 {
		return 0
	}
	if !d.marked {
		turn = d.seeded(turn)
	}
	numbers := map[likeness]int32{}
	like := make([]int32, len(d.calls))
	for i := range d.calls {
		l := d.likeness(&d.calls[i])
		if numbers[l] == 0 {
			numbers[l] = int32(len(numbers)) + 1
		}
		like[i] = numbers[l]
	}
	ran := map[[alikeRun]int32]bool{}
	for i := range max(turn-alikeRun+1, 0) {
		ran[[alikeRun]int32(like[i:])] = true
	}
	until := turn // functions before this one belong to a forward
	for i := turn; i < len(d.calls); i++ {
		if i+alikeRun <= len(d.calls) && ran[[alikeRun]int32(like[i:])] {
			until = i + alikeRun
		}
		back := i >= until
		if d.calls[i].back = back; !back {
			again++
		}
		for _, s := range d.calls[i].writes {
			d.storages[s].back = back
		}
	}
	return again
}

// seeded returns the first function of a backward whose first function with a name of the backward is at. Autograd
// first makes the gradient of the loss, a single 1, and the functions between may have names of the forward.
func (d *dtrLog) seeded(at int) int {
	const number = 8 // the largest size of a single number, in bytes
	for i := at; i >= 0; i-- {
		if l := d.likeness(&d.calls[i]); l.name == "ones_like" && l.bytes <= number {
			return i
		}
	}
	return at
}

// profile returns the profile: the graph of the step, and the chain if the functions form one.
func (d *dtrLog) profile(name string, poll *engine.Poll) *profiles.Profile {
	l := d.lives()
	c, stages := d.chain(l, poll)
	g := d.graph(l, stages)
	d.errs.CheckGraph(g)
	p := &profiles.Profile{Name: name, Graph: g,
		Source: profiles.Source{Tool: "DTR logger", Times: profiles.Measured, Sizes: profiles.Measured, Notes: []string{
			"Functions in place work on their value without making one.",
			"What is there before the step, the input apart, is resident: weights, buffers and the state of the optimizer, if it is logged.",
			"Values stay until the log releases them: the last function before that counts as a reader.",
			"The file does not tell the batch size.",
		}}}
	if d.views > 0 {
		p.Note("Views make nothing: the time of %s is part of the next function's.", profiles.Count(d.views, "function"))
	}
	if d.again > 0 {
		p.Note("%s behind the first backward repeat what the forward before it did, and count as forward.", profiles.Count(d.again, "function"))
		p.Warn("The functions form no chain: the step has several backward passes, and forward ones between them.")
		return p
	}
	if c == nil {
		p.Warn("The functions form no chain: nowhere is a single value all that the rest of the forward reads.")
		return p
	}
	c.Name = name
	(&parse.StageReader{Errs: d.errs}).Finish(c, c.Stages[len(c.Stages)-1].Name == parse.LossName)
	p.Chain = c
	p.Note("A stage ends where a single value is all that the rest of the forward reads; it saves what the backward reads of it.")
	return p
}

// output reports whether the backward makes a storage that is never released, such as the gradient of a weight.
// Storages of the forward are not outputs: the program may still hold their names.
func (d *dtrLog) output(s int) bool { return d.storages[s].back && d.storages[s].refs > 0 }

// graph returns the graph of the step, whose values are storages. At the end, an operation reads
// every output, so that it stays until then. stages holds the stage of each function.
func (d *dtrLog) graph(l lives, stages []int) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	ids := make([]engine.ValueID, len(d.storages))
	stageOf := make([]int, len(d.storages))
	for s, maker := range l.maker {
		if maker >= 0 {
			stageOf[s] = stages[maker]
		}
	}
	for s := range d.storages {
		st := &d.storages[s]
		if ids[s] = engine.NoValue; l.last[s] < 0 || st.size == 0 {
			if st.constant {
				g.Fixed += st.size
			}
			continue
		}
		v := engine.Value{Name: fmt.Sprintf("v%d", s), Size: st.size, Stage: stageOf[s], PartOf: engine.NoValue}
		switch {
		case st.constant && s != d.input:
			v.Kind, v.Initial = engine.KindWeight, engine.OnDevice
		case st.constant:
			v.Initial = engine.OnDevice
		case d.output(s):
			v.Kind = engine.KindWeight
		case st.back:
			v.Kind = engine.KindGradient
		}
		ids[s] = engine.ValueID(len(g.Values))
		g.Values = append(g.Values, v)
	}
	pick := func(list []int) (out []engine.ValueID) {
		for _, s := range list {
			if ids[s] != engine.NoValue {
				out = append(out, ids[s])
			}
		}
		return out
	}
	for i := range d.calls {
		c := &d.calls[i]
		op := engine.Op{Name: c.name, Stage: stages[i], Time: c.took, In: pick(append(c.reads, l.held[i]...)),
			Out: pick(c.writes)}
		if c.back {
			op.Pass = engine.Backward
		}
		g.Ops = append(g.Ops, op)
		g.Stages = max(g.Stages, stages[i])
	}
	for s := range d.storages {
		if d.output(s) && ids[s] != engine.NoValue {
			g.Ops = append(g.Ops, engine.Op{Name: fmt.Sprintf("result v%d", s), Pass: engine.Backward,
				Stage: stageOf[s], In: []engine.ValueID{ids[s]}})
		}
	}
	return g
}
