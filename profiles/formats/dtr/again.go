package dtr

import (
	"slices"

	"memtide/engine"
)

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
