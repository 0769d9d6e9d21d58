package llm

import (
	"cmp"
	"fmt"

	"memtide/engine"
	"memtide/profiles/card"
)

// Card is a card as the allocator and the times of a step depend on it. Rates are bytes and operations per second.
type Card struct {
	Name      string
	Memory    engine.Bytes // as the driver reports it
	Peak      float64      // rate of dense 16-bit products
	Share     float64      // share of the peak that products reach
	Attention float64      // share of the peak that flash attention reaches
	Bandwidth float64      // of the card's memory
	NVLink    float64      // to the cards of the same node, in one direction
	Network   float64      // of the card's share of the network
	Workspace engine.Bytes
	Link      float64 // rate to the host
	Peak8     float64 // rate of dense 8-bit products; 0 without units for them
	Back      float64 // rate from the host

	Table *card.Card // the card in package card, with the sources of its figures
	Lent  string     // name of the card whose rates are used if the card's own are not known; else empty
}

// Workspaces of cuBLAS, which PyTorch allocates once for each thread
// [CublasHandlePool.cpp: 2 x 4 MiB + 8 x 16 KiB, and 32 MiB from Hopper on].
const (
	workspaceAmpere = 2*4*engine.MiB + 8*16*engine.KiB
	workspaceHopper = 32 * engine.MiB
)

// Shares of the peak that products reach, from the step times of LLM-foundry's tables [mosaicml/llm-foundry,
// scripts/train/benchmarking]: 0.72 for an A100, 0.52 for an H100. The share for Blackwell is assumed.
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

// lent is the id of the card whose rates are used for cards without known rates.
const lent = "h100"

// cardOf returns a card of the table as a Card. Kinds without a share above use that of Ampere if they are older,
// and that of Hopper if they are not NVIDIA's.
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

// Rates that are assumed where the table has none.
const (
	assumedBetween engine.Rate = 25e9 // the rate of most links to the host
	assumedNetwork engine.Rate = 12e9 // 100 Gbit/s
)

// CardOf returns the card that a report of a run names, or nil if it names no known card.
func CardOf(name string) *Card {
	if c := card.Find(name); c != nil {
		return cardOf(c)
	}
	return nil
}

// Says returns notes on the card for an answer about a setup: whose times they are, in which type the card
// computes, and which of its figures have no source. Most cards have no notes.
func (c *Card) Says(s *Setup) (notes []string) {
	if c.Lent != "" {
		notes = append(notes, fmt.Sprintf("Times are those of an %s: no rate is known for this card.", c.Lent))
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
