package llm

import (
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// Block swap keeps the frozen products of some blocks in host memory. The card has room for the other
// blocks of a row. In the forward each block that has run makes room for the first block that is not on the
// card, in the backward for the last one, so that the passes of all blocks between can
// hide a copy. Adapters, norms and biases stay on the card. [musubi-tuner and sd-scripts: custom_offloading_utils.py,
// ModelOffloader, whose copies of the backward begin one block later; diffusion-pipe: utils/offloading.py]

// swapRow is a row of equal blocks, n of which are in host memory at any time.
type swapRow struct {
	first, blocks, n int
}

// swaps returns the rows whose blocks are swapped, or nil without swapped blocks. A network of two rows has
// blocks of both swapped: each swap counts as one block of the first row or two of the second, in proportion to
// the rows [musubi-tuner: flux_2/flux2_models.py, enable_block_swap; for 19 and 38 blocks these are Flux's
// numbers and, but for one more of the second row, HunyuanVideo's]. In other networks the longest row is swapped.
func (s *Setup) swaps() []swapRow {
	if s.Swap == 0 {
		return nil
	}
	var rows []swapRow
	at, longest := 0, 0
	for i, run := range s.Model.BlockParams() {
		rows = append(rows, swapRow{first: at, blocks: int(run[0])})
		at += int(run[0])
		if rows[i].blocks > rows[longest].blocks {
			longest = i
		}
	}
	n := int(s.Swap)
	if d := s.Model.At(s.Model.Layers - 1).Dit; len(rows) != 2 || d == nil || !d.Single {
		rows = rows[longest : longest+1]
		rows[0].n = n
		return rows
	}
	rows[0].n = n * 2 * rows[0].blocks / (2*rows[0].blocks + rows[1].blocks)
	rows[1].n = 2 * (n - rows[0].n)
	return rows
}

// MostSwapped returns the largest number of blocks that can be swapped. One block of each row must stay.
func (s Setup) MostSwapped() int64 {
	s.Swap = s.Model.Layers
	for s.noneLeft() {
		s.Swap--
	}
	return s.Swap
}

// noneLeft reports whether a row would have no block left on the card.
func (s *Setup) noneLeft() bool {
	return slices.ContainsFunc(s.swaps(), func(r swapRow) bool { return r.n >= r.blocks })
}

// checkSwap ends with an error for blocks that cannot be swapped.
func (s *Setup) checkSwap() {
	switch {
	case s.Swap == 0:
	case s.LoRA == nil:
		refuse("blocks are swapped where their weights are frozen, beside adapters: want -lora. Of weights that train sd-scripts swaps blocks with an optimizer that steps in the backward, which is not known here")
	case s.gathers() || s.Stages > 1 || s.Group > 1 || s.OneGraph:
		refuse("blocks are swapped on cards that have the whole model, and run one by one: want -shard none, -pp 1 and -group 1")
	case s.noneLeft():
		refuse("%d blocks are swapped; of %s at most %d can be, since one stays of each kind: want -swap-blocks %d",
			s.Swap, s.Model.Name, s.MostSwapped(), s.MostSwapped())
	}
}

// moves reports whether block swap or RamTorch moves a weight of a block.
func (s *Setup) moves(w weight) bool { return (s.Swap > 0 || s.RamTorch) && w.rows > 0 && !w.trained }

func (p *program) swapBytes(u *unit) (n engine.Bytes) {
	for _, w := range u.weights {
		if p.s.moves(w) {
			n += p.s.weightBytes(w)
		}
	}
	return n
}

// enter allocates the weights of a block that come from the host.
func (p *program) enter(u *unit) {
	for _, w := range u.weights {
		if p.s.moves(w) {
			u.base = append(u.base, p.take(p.s.weightBytes(w), Weights))
		}
	}
}

// loadSwapped allocates the weights that move, for the blocks that are on the card before a step.
func (p *program) loadSwapped() {
	if p.s.Swap == 0 {
		return
	}
	away := map[int]bool{}
	for _, r := range p.swaps {
		for i := range r.n {
			away[r.first+r.blocks-r.n+i] = true
		}
	}
	for i, u := range p.units {
		if p.enter(u); away[i] {
			p.leave(u)
		}
	}
}

// leave frees the weights of a block that go to the host.
func (p *program) leave(u *unit) {
	p.giveAll(u.base)
	u.base = u.base[:0]
	p.toHost(p.swapBytes(u))
}

// swapAfter calls swap with the two blocks that change places after a pass of block i, if there are any.
func (p *program) swapAfter(i int, forward bool, swap func(out, in int)) {
	for _, r := range p.swaps {
		stay := r.blocks - r.n
		switch at := i - r.first; {
		case at < 0 || at >= r.blocks:
		case forward && at < r.n:
			swap(i, i+stay)
		case !forward && at >= stay:
			swap(i, i-stay)
		}
	}
}

// swap exchanges two blocks. In host memory, too, one takes the place of the other.
func (p *program) swap(out, in int) {
	p.toHost(-p.swapBytes(p.units[in]))
	p.leave(p.units[out])
	p.enter(p.units[in])
}

// swapSeconds returns the time of the copies of two blocks that change places: first one out, then one in.
func (p *program) swapSeconds(out, in int, c *Card) float64 {
	return float64(p.swapBytes(p.units[out]))/c.Link + float64(p.swapBytes(p.units[in]))/c.Back
}

// swapLink returns how long the link copies blocks in a forward and in a backward.
func (p *program) swapLink(c *Card) (forward, back float64) {
	for i := range p.units {
		p.swapAfter(i, true, func(out, in int) { forward += p.swapSeconds(out, in, c) })
		p.swapAfter(i, false, func(out, in int) { back += p.swapSeconds(out, in, c) })
		forward, back = forward+p.ramSeconds(p.units[i], c), back+p.ramSeconds(p.units[i], c)
	}
	return forward, back
}

// swapWaits returns how long the passes of a forward and of a backward wait for blocks from the host. Copies run one
// after the other beside the passes. The second micro batch waits for copies that the first one left unfinished.
func (p *program) swapWaits(c *Card) (forward, back float64) {
	if p.swaps == nil {
		for _, u := range p.units {
			there, again, _, _ := p.unitSeconds(u, c)
			forward, back = forward+max(0, p.ramSeconds(u, c)-there), back+max(0, p.ramSeconds(u, c)-again)
		}
		return forward, back
	}
	ready, now, link := make([]float64, len(p.units)), 0.0, 0.0
	pass := func(i int, takes float64, forward bool) (wait float64) {
		wait = max(0, ready[i]-now)
		now += wait + takes
		p.swapAfter(i, forward, func(out, in int) {
			link = max(link, now) + p.swapSeconds(out, in, c)
			ready[in] = link
		})
		return wait
	}
	for range steps {
		forward, back = 0, 0
		for i, u := range p.units {
			takes, _, _, _ := p.unitSeconds(u, c)
			forward += pass(i, takes, true)
		}
		for i := len(p.units) - 1; i >= 0; i-- {
			_, takes, _, _ := p.unitSeconds(p.units[i], c)
			back += pass(i, takes, false)
		}
	}
	return forward, back
}

// swapSaid returns a note on how many blocks of each row wait in host memory, or "" if none do.
func (s *Setup) swapSaid() string {
	if s.Swap == 0 {
		return ""
	}
	var of []string
	for _, r := range s.swaps() {
		of = append(of, fmt.Sprintf("%d of %d", r.n, r.blocks))
	}
	text := fmt.Sprintf("Block swap: the frozen products of %s blocks are in host memory at any time, and copied in once for the forward and once for the backward, from pinned memory; without it copies are slower and less of them is hidden.",
		strings.Join(of, " and "))
	if s.quantised(weight{rows: 1}) {
		text += fmt.Sprintf(" Programs that load 16-bit weights before they make them smaller have %.1f GB there for a while.", float64(2*s.Model.Params())/1e9)
	}
	return text
}

// FewestSwapped returns how many blocks have to be swapped for the question to fit. It returns 0 if it fits
// without, or if it does not fit with all of them.
func (a Ask) FewestSwapped() (int64, error) { return profiles.Try(a.fewestSwapped) }

func (a Ask) fewestSwapped() int64 {
	if a.Setup.LoRA == nil || a.Setup.RamTorch {
		return 0
	}
	return a.fewest(a.Setup.MostSwapped(), func(n int64) bool { return a.fits(engine.Args{"swap-blocks": number(n)}) })
}
