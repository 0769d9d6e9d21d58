package dtr

import (
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// From a sequence of functions to a chain
//
// The forward may be cut behind a function if, of everything that the forward
// has made, the rest of it reads exactly one storage and does not change it in
// place: that is the output of the stage. A stage saves what it makes and the
// backward reads, or what the log releases only there.

// lives are the spans of storages among the functions.
type lives struct {
	maker    []int   // function; -1: there before
	lastFwd  []int   // last reader or changer in the forward; -1: none
	altered  []int   // last change in the forward; -1: none
	last     []int   // last reader of all, or the function before the release; -1: none
	turn     int     // the first function of the backward
	readBack []bool  // by a function of the backward, or not released before it
	held     [][]int // by function: storages that nothing reads later, but the log releases only behind it
}

func (d *dtrLog) lives() lives {
	n := len(d.storages)
	l := lives{maker: slices.Repeat([]int{-1}, n), lastFwd: slices.Repeat([]int{-1}, n),
		altered: slices.Repeat([]int{-1}, n),
		last:    slices.Repeat([]int{-1}, n), readBack: make([]bool, n), turn: len(d.calls),
		held: make([][]int, len(d.calls))}
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
		if at := d.releasedAfter(s); at > l.last[s] {
			if !d.output(s) {
				l.held[at] = append(l.held[at], s)
			}
			l.last[s] = at
			l.readBack[s] = l.readBack[s] || at >= l.turn
		}
	}
	return l
}

// releasedAfter returns the last function that runs before the log releases a storage.
func (d *dtrLog) releasedAfter(s int) int {
	if st := &d.storages[s]; st.refs == 0 {
		return st.released - 1
	}
	return len(d.calls) - 1
}

// cuts returns the functions that end a stage, and what crosses there.
func (d *dtrLog) cuts(l lives) (ends, crossing []int) {
	crosses := make([]int, l.turn+1) // how many storages cross behind a function, as differences
	sum := make([]int, l.turn+1)     // of their numbers, so that a single one is known
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
			ends[last] = i // what ran since made nothing that is read: a counter
			continue
		}
		ends, crossing = append(ends, i), append(crossing, s)
	}
	return ends, crossing
}

// chain is nil if there is none. stages are those of the functions, 0 if none.
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
	d.residents(c)
	d.temporaries(l, stages, c)
	d.nameStages(stages, c)
	return c, stages
}

// residents sorts what is there before the step, and what is left of it.
func (d *dtrLog) residents(c *engine.Chain) {
	for s := range d.storages {
		switch st := &d.storages[s]; {
		case s == d.input:
			c.Input = st.size
		case st.constant:
			c.Resident.Weights += st.size
		case d.output(s):
			c.Resident.Grads += st.size
		}
	}
}

// temporaries adds up times and follows what lives only within a stage.
func (d *dtrLog) temporaries(l lives, stages []int, c *engine.Chain) {
	dies := make([][]int, len(d.calls))
	for s := range d.storages {
		if l.last[s] >= 0 {
			dies[l.last[s]] = append(dies[l.last[s]], s)
		}
	}
	live := make([]engine.Bytes, len(c.Stages)+1) // of what a stage has made in this pass
	for i := range d.calls {
		call, k := &d.calls[i], stages[i]
		if i == l.turn {
			clear(live) // the backward counts its own
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
	longest := make([]int, len(c.Stages))
	for i := range longest {
		longest[i] = -1
	}
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

// matchBack gives functions of the backward the stage of the function of the
// forward whose values they share most, and what shares none the one before. The
// backward goes through the stages in reverse.
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

// alike reports whether a function looks like the backward of another.
func alike(forward, back string) bool {
	forward = strings.TrimSuffix(forward, "_")
	base, _, _ := strings.Cut(back, "_backward")
	return base == forward || base == "threshold" && forward == "relu" || strings.HasSuffix(base, "mm") &&
		strings.HasSuffix(forward, "mm")
}

// Steps with several backward passes, as GANs have
//
// A log tells where the first backward begins at most, and never where a forward begins
// again. What runs behind the first backward as it ran before it, the same functions with
// results of the same sizes, alikeRun in a row at least, is forward again. In seven of DTR's
// logs, which have one backward, up to two functions in a row are alike; in its log of a GAN
// the rule finds every function that no backward has, such as addmm. What the first forward
// did not do stays backward.
const alikeRun = 4

// likeness is what functions are compared by.
type likeness struct {
	name          string
	makes, alters int
	bytes         engine.Bytes // of what it makes
}

func (d *dtrLog) likeness(c *dtrCall) likeness {
	l := likeness{name: c.name, makes: len(c.writes), alters: len(c.alters)}
	for _, s := range c.writes {
		l.bytes += d.storages[s].size
	}
	return l
}

// assign tells the functions of the forward from those of the backward behind the first of
// these, and returns how many are forward ones.
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
	until := turn // functions before that are forward ones
	for i := turn; i < len(d.calls); i++ {
		if i+alikeRun <= len(d.calls) && ran[[alikeRun]int32(like[i:])] {
			until = i + alikeRun
		}
		d.setBack(i, i >= until)
		if i < until {
			again++
		}
	}
	return again
}

// seeded returns where the backward begins whose first function that says so stands at a place:
// autograd makes the gradient of the loss, a single number of ones, and what follows may
// have names of the forward.
func (d *dtrLog) seeded(at int) int {
	const number = 8 // bytes at most
	for i := at; i >= 0; i-- {
		if l := d.likeness(&d.calls[i]); l.name == "ones_like" && l.bytes <= number {
			return i
		}
	}
	return at
}

// setBack says which pass a function belongs to, with what it makes.
func (d *dtrLog) setBack(i int, back bool) {
	d.calls[i].back = back
	for _, s := range d.calls[i].writes {
		d.storages[s].back = back
	}
}
