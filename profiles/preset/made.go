package preset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
	"memtide/profiles/card"
)

// Suggestion is the settings with which a hand-made preset shows its point. The page applies them unless a link
// says otherwise.
type Suggestion struct {
	Strategy string
	Budget   engine.Bytes
	Link     engine.Rate // in each direction, half duplex; 0: the link of the default card
}

const counterexampleGroup = "Counterexamples"

const (
	unitTime = time.Millisecond
	unitSize = engine.MiB
	unitRate = engine.Rate(1000 * unitSize) // one unit of size per unit of time
)

const (
	beaumont2020 = "https://doi.org/10.1007/978-3-030-57675-2_10" // Optimal GPU-CPU offloading strategies
	beaumont2019 = "https://arxiv.org/abs/1911.13214"             // Optimal checkpointing for heterogeneous chains
)

const madeNote = "Made by hand: one unit of time is 1 ms, one unit of memory 1 MiB, and the link to the host carries 1 MiB in 1 ms."

// handMade returns a preset of batch size 1 that is not a network, with notes about it.
func handMade(id, title, doc, url string, see *Suggestion, notes ...string) *Preset {
	return &Preset{ID: id, Title: title, Doc: doc, Group: counterexampleGroup, DefaultBatch: 1, MaxBatch: 1,
		DType: string(f32), URL: url, Suggest: see, own: Options{Precision: string(f32), Device: card.DefaultID},
		sizes: profiles.Exact, notes: func(setting, string) []string { return slices.Clone(notes) }}
}

// lemma3 returns a counterexample to Lemma 3 of Beaumont, Eyraud-Dubois and Shilova (2020), which says that any
// schedule can be reordered, without taking longer, so that no prefetch precedes an offload. Here x_0 must be
// away during the second forward and be back for the third, while x_3 must leave after it. Keeping both away
// until the backward costs three more units of prefetch.
func lemma3() *Preset {
	p := handMade("lemma3", "Lemma 3: 30 ordered, 27 true",
		"The smallest chain found on which the best schedule fetches data back before it offloads other data.", beaumont2020,
		&Suggestion{Strategy: "offloadexact", Budget: 13 * unitSize, Link: unitRate},
		"Lemma 3 of Beaumont et al. (2020) says that some schedule with all offloads before all prefetches is always as fast as any. In 13 MiB ordered schedules need 30 ms here (strategy dynprog); the true optimum is 27 ms (offloadexact).",
		"The optimum fetches x0 back during the forward pass, before it offloads x3.", madeNote)
	p.chain = made(3, 0, []unit{
		{forward: 3}, {forward: 1, fwdTemp: 13}, {forward: 3, out: 10}, {forward: 10}, {fwdTemp: 10},
	})
	return p
}

// lemma3Mirror is lemma3 in reverse: every prefetch is in the backward pass.
func lemma3Mirror() *Preset {
	p := handMade("lemma3-mirror", "Lemma 3, mirrored",
		"The counterexample of Lemma 3 read backwards: an offload follows a prefetch in the backward pass.", beaumont2020,
		&Suggestion{Strategy: "offloadexact", Budget: 13 * unitSize, Link: unitRate},
		"Lemma 3 of Beaumont et al. (2020) fails in the backward pass too: in 13 MiB ordered schedules need 30 ms here (strategy dynprog); the true optimum is 27 ms (offloadexact).",
		"The optimum offloads x0 only in the backward pass, after x4 has come back.", madeNote)
	p.chain = made(3, 0, []unit{{}, {back: 3}, {back: 1, bwdTemp: 13}, {out: 10}, {back: 3}, {back: 10, fwdTemp: 10}})
	return p
}

// nonpersistent returns the smallest chain found on which a schedule gains by dropping a checkpoint before its
// last use.
func nonpersistent() *Preset {
	p := handMade("nonpersistent", "Non-persistent: 15 kept, 12 dropped",
		"The smallest chain found on which dropping a checkpoint early and computing it again beats every schedule that keeps it.",
		beaumont2019, &Suggestion{Strategy: "nonpersistent", Budget: 9 * unitSize},
		"Optimal persistent schedules keep a checkpoint until the backward has reached it (Beaumont et al. 2019). In 9 MiB they need 15 ms here (strategy rotor); a schedule that drops one early needs 12 ms (nonpersistent).",
		"The paper's own example, figure 2, needs the sizes that the figure shows; with those of the text it does not behave as described.",
		madeNote)
	p.chain = made(0, 2, []unit{{forward: 3, out: 1, grad: 4}, {forward: 2, out: 4}, {out: 1, grad: 4}, {grad: 2}})
	return p
}

// unit is a stage in units. The saved set is the output.
type unit struct{ forward, back, out, grad, fwdTemp, bwdTemp int64 }

// made returns a function that makes the chain of stages in units. The last stage is the loss.
func made(input, inputGrad int64, stages []unit) func() *engine.Chain {
	size := func(n int64) engine.Bytes { return engine.Bytes(n) * unitSize }
	return func() *engine.Chain {
		c := &engine.Chain{Input: size(input), InputGrad: size(inputGrad)}
		for i, u := range stages {
			s := engine.Stage{
				Name: "stage" + string(rune('1'+i)), Kind: "made",
				Forward: time.Duration(u.forward) * unitTime, Back: time.Duration(u.back) * unitTime,
				Out: size(u.out), Saved: size(u.out), Grad: size(u.grad),
				FwdTemp: size(u.fwdTemp), BwdTemp: size(u.bwdTemp),
			}
			if i == len(stages)-1 {
				s.Name, s.Kind = "loss", "loss"
			}
			c.Stages = append(c.Stages, s)
		}
		return c
	}
}

const shriram2019 = "https://doi.org/10.1109/IPDPS.2019.00030" // Shriram et al., vDNN++

// sequencePresets returns two sequences of requests for memory of Shriram, Garg and Kulkarni (2019). They are not
// networks: they show what the order of requests does to a pool.
func sequencePresets() []*Preset {
	return []*Preset{
		sequence("fragmented", "Fragmentation: 12 live, 13 needed",
			"Requests that never hold more than 12 MiB and that no allocator places in 12 MiB.",
			"+11:3 +12:3 +13:3 +14:3 -11 +22:1 +23:1 +24:1 -12 -22 +33:2 +34:2 -13 -23 -33 +44:6 -14 -24 -34 -44",
			"The sequence a_ij, d_j of Shriram et al. (2019), section III-B, in thirds of their unit: sizes 3, 1, 2 and 6. Request ij comes in block i and goes at the end of block j; before each end exactly 12 MiB are held.",
			"No placement fits into 12 MiB, found by trying all; 13 MiB are enough. Best fit, and its search for a pool, end at 16 MiB."),
		sequence("larger-pool", "A larger pool fails: 9 serve, 11 do not",
			"Requests that best fit serves in a pool of 9 MiB, but not in 10 to 13.",
			"+1:5 +2:2 +3:1 -2 +4:1 -1 -3 +5:8",
			"The sequence A1(5) A2(2) A3(1) D2 A4(1) D1 D3 A5(8) of Shriram et al. (2019), section IV-B.",
			"Best fit serves it in 9 MiB, which is the most that is held, fails in 10, 11, 12 and 13, and serves it in 14. A search that starts at 11 reports 14."),
	}
}

// sequence returns a preset of requests. text has a word for each: "+name:size" in units, and "-name" for its end.
func sequence(id, title, doc, text string, notes ...string) *Preset {
	p := handMade(id, title, doc, shriram2019, nil, append(notes, "Made by hand: one unit of memory is 1 MiB.")...)
	p.memory = func() *profiles.Memory { return &profiles.Memory{Requests: requests(text)} }
	return p
}

// requests reads the requests of sequence. It panics on a mistake, since the texts are part of the program.
func requests(text string) *alloc.Requests {
	var list []alloc.Entry
	for word := range strings.FieldsSeq(text) {
		e := alloc.Entry{Name: word[1:], Free: word[0] == '-'}
		if !e.Free {
			name, size, _ := strings.Cut(e.Name, ":")
			e.Name, e.Bytes = name, engine.Bytes(size[0]-'0')*unitSize
		}
		list = append(list, e)
	}
	r, err := alloc.FromEvents(list)
	if err != nil {
		panic(fmt.Sprintf("preset: %q: %v", text, err))
	}
	return r
}
