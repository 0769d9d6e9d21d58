package llm

import (
	"cmp"
	"fmt"

	"memtide/engine"
	"memtide/profiles/card"
)

// Card is a GPU as far as the time of a step and the allocator care. Rates are bytes and
// operations a second, of package card.
type Card struct {
	Name      string
	Memory    engine.Bytes // as the driver reports it
	Peak      float64      // of 16-bit products, dense
	Share     float64      // of the peak that products reach
	Attention float64      // of the peak that flash attention reaches
	Bandwidth float64      // of its memory
	NVLink    float64      // to its neighbours, one direction
	Network   float64      // of its own network card
	Workspace engine.Bytes
	Link      float64 // to the host
	Peak8     float64 // of 8-bit products, dense; 0 without units for them
	Back      float64 // from the host

	Table *card.Card // the card itself, with where its figures come from
	Lent  string     // the card whose rates stand in, of one whose own are not known
}

// Workspaces of cuBLAS, which PyTorch takes from its allocator once for each thread
// [CublasHandlePool.cpp: 2 x 4 MiB + 8 x 16 KiB, and 32 MiB from Hopper on].
const (
	workspaceAmpere = 2*4*engine.MiB + 8*16*engine.KiB
	workspaceHopper = 32 * engine.MiB
)

// Shares of the peak, from the step times of LLM-foundry's tables [mosaicml/llm-foundry,
// scripts/train/benchmarking]: 0.72 of an A100, 0.52 of an H100. That of Blackwell is
// assumed.
const (
	shareAmpere    = 0.72
	shareHopper    = 0.52
	shareBlackwell = 0.45
)

// Shares of the peak in flash attention: FlashAttention-2 reaches 35 % of an H100
// [arXiv:2407.08608, abstract]; on older cards, with short heads and causal masks, it is
// assumed to reach 45 %, less than the 50 to 73 % that its paper measured [arXiv:2307.08691].
const (
	attentionAmpere = 0.45
	attentionHopper = 0.35
)

// lent is the card whose rates stand in for those of a card without any.
const lent = "h100"

// cardOf returns a card of the table as the model of a step sees it. Shares are assumed of cards that have no row
// above: those of Ampere before it, those of Hopper for what is not NVIDIA's.
func cardOf(c *card.Card) *Card {
	out := &Card{Name: c.Name, Memory: c.Memory, Link: float64(c.ToHost), Back: float64(c.ToDev), Table: c,
		Share: shareAmpere, Attention: attentionAmpere, Workspace: workspaceAmpere}
	rates := c
	if !c.Timed() {
		rates = card.Lookup(lent)
		out.Lent = rates.Name
	}
	switch rates.Kind {
	case card.Hopper, card.Other:
		out.Share, out.Attention, out.Workspace = shareHopper, attentionHopper, workspaceHopper
	case card.Blackwell:
		out.Share, out.Attention, out.Workspace = shareBlackwell, attentionHopper, workspaceHopper
	}
	out.Peak, out.Peak8, out.Bandwidth = float64(rates.Peak("bf16")), float64(c.FP8), float64(rates.MemoryRate)
	out.NVLink = float64(cmp.Or(c.Between, c.ToHost, assumedBetween))
	out.Network = float64(cmp.Or(c.Network, assumedNetwork))
	return out
}

// What is taken of a card where its table has nothing.
const (
	assumedBetween engine.Rate = 25e9 // that of most links to the host
	assumedNetwork engine.Rate = 12e9 // 100 Gbit/s
)

// CardOf finds the card that a report of a run names; nil if none is known.
func CardOf(name string) *Card {
	if c := card.Find(name); c != nil {
		return cardOf(c)
	}
	return nil
}

// Says returns what has to be known of a card beside an answer about a setup: whose times they are, what it computes
// in, which of its figures no source confirms. It is empty for most.
func (c *Card) Says(s *Setup) (notes []string) {
	if c.Lent != "" {
		notes = append(notes, fmt.Sprintf("Times are those of an %s: no rate is known for %s.", c.Lent, c.Name))
	}
	if c.Table != nil && !c.Table.BF16() {
		notes = append(notes, fmt.Sprintf("A %s has no bf16: activations are taken in fp16, of the same size, which needs loss scaling.", c.Name))
		if s.LoRA == nil && s.Weight == 2 && s.Master == 0 {
			notes = append(notes, "Weights in fp16 without a copy in fp32 lose small updates: -states fp32 keeps them.")
		}
	}
	if t := c.Table; t != nil && t.Unsourced != "" && (t.Unsourced != card.PlainRate || s.Compute == 4) {
		notes = append(notes, fmt.Sprintf("Taken from memory, confirmed by no source at hand: %s of %s.", t.Unsourced,
			c.Name))
	}
	return notes
}
