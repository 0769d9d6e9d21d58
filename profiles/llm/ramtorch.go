package llm

import (
	"fmt"

	"memtide/engine"
)

// RamTorch keeps all frozen products of blocks in host memory. Each weight is copied in when its product runs, in the
// forward and in the backward, into one of two places of that pass, which hold what they had until the next one comes.
// A product keeps what it reads, though its weight does not train. [SimpleTuner: helpers/ramtorch/modules/linear.py,
// BouncingLinearFn]

// ramPlaces are the weights of products on the card at once: two of a forward and two of a backward.
const ramPlaces = 4

// checkRamTorch ends with an error for products that cannot wait in host memory one by one.
func (s *Setup) checkRamTorch() {
	switch {
	case !s.RamTorch:
	case s.LoRA == nil || s.LoRA.Fused:
		refuse("RamTorch's products are frozen and beside adapters of their own: want -lora and no -fused-adapters. Of weights that train their gradients are the host's, too, which is not known here")
	case s.Model.Ends != nil && s.Model.At(0).Unet != nil || s.Model.has(func(b *Block) bool { return b.MoE != nil }):
		refuse("%s: RamTorch is known of products alone, which convolutions and experts are not; leave -ramtorch out", s.Model.Name)
	case s.Swap > 0 || s.gathers() || s.Stages > 1 || s.Compiled || s.Base != BaseSame:
		refuse("RamTorch's products wait one by one on cards that have the whole model: want -shard none, -pp 1, no -compile, no -swap-blocks, and -base same")
	}
}

// loadRamTorch allocates the places that weights of products have on the card.
func (p *program) loadRamTorch() {
	if !p.s.RamTorch {
		return
	}
	for _, u := range p.units {
		p.toHost(p.swapBytes(u))
	}
	p.take(p.ramBytes(), Weights)
}

// ramBytes returns the bytes of the places that weights of products have on the card.
func (p *program) ramBytes() (n engine.Bytes) {
	if !p.s.RamTorch {
		return 0
	}
	for _, u := range p.units {
		for _, w := range u.weights {
			if p.s.moves(w) {
				n = max(n, ramPlaces*p.s.weightBytes(w))
			}
		}
	}
	return n
}

// ramSeconds returns how long the link copies the weights of a block in for a pass.
func (p *program) ramSeconds(u *unit, c *Card) float64 {
	if !p.s.RamTorch {
		return 0
	}
	return float64(p.swapBytes(u)) / c.Back
}

// ramSaid returns a note on the weights that wait in host memory, or "" if none do.
func (s *Setup) ramSaid() string {
	if !s.RamTorch {
		return ""
	}
	return fmt.Sprintf("RamTorch: the frozen products of all blocks are in host memory, and copied in once for the forward and once for the backward; %d of them are on the card at once, taken to be as large as the largest. Each keeps what it reads.", ramPlaces)
}
