// Package card is the one table of cards, GPUs and their kin: what a driver says they hold, how fast they
// compute, how fast their memory and their links are, and where each figure comes from. Networks, training
// steps of language models, the comparison with published runs and the page all read it. A card that is in no
// table is spelled by its figures, see Own. The package knows no network.
package card

import (
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// TheoreticalPeak marks a link rate for which no measurement is known: what the
// link could carry at best, 15-25 % more than copies usually reach.
const TheoreticalPeak profiles.Origin = "theoretical peak"

// Card is a GPU or another accelerator, with where its numbers come from. A link to the host of rate 0 is one
// that is not known, or not there because memory is shared with the host: nothing is moved over it.
type Card struct {
	ID string // stable, link-safe: "v100-pcie-16gb"
	engine.Device

	Link       string          // "PCIe 3 x16"
	LinkPeak   engine.Rate     // of the link in each direction, by its standard
	LinkOrigin profiles.Origin // of ToHost and ToDev: Measured, Estimated, TheoreticalPeak, or Unknown without a rate
	FP32       Flops           // peak of 32-bit arithmetic without tensor cores; 0 if it is not known
	// peak of dense 16-bit arithmetic with 32-bit sums, in bf16 where it has that; 0 if it has no units for it
	FP16       Flops
	FP8        Flops       // peak of dense 8-bit floating-point arithmetic; 0 if it has no units for it
	MemoryRate engine.Rate // of the card's own memory
	Between    engine.Rate // to the cards beside it, each direction; 0 if it is not known
	Network    engine.Rate // of its own share of a node's network, by the reference designs; 0 if it is not known
	Kind       Kind
	Source     string // of all of these, for people
	// figures that no source at hand confirms, for people: "rates and memory bandwidth"; empty if there are none
	Unsourced string
	Instead   string // the card that replaces it in lists; links of the time before still mean this one
}

// Kind is a generation of cards, as far as what they can do and how near they come to their peaks differ.
type Kind uint8

// The kinds.
const (
	Older        Kind = iota // before tensor cores
	Volta                    // Volta and Turing: 16 bits are fp16
	Ampere                   // Ampere and Ada
	Hopper                   // Hopper
	Blackwell                // Blackwell of data centres
	Other                    // not NVIDIA's
	Shared                   // memory is the host's
	OfTheirOwner             // described by its figures alone, see Own
)

// Short returns the name of the card in a sentence, without its socket and size. A card that is
// described by its figures is a "card" there, because the sentence says its memory.
func (c *Card) Short() string {
	if c.Kind == OfTheirOwner {
		return "card"
	}
	name, _, _ := strings.Cut(c.Name, "-")
	return name
}

// BF16 reports whether the card computes in bf16. One that does not has fp16, of the same size.
func (c *Card) BF16() bool { return c.Kind != Older && c.Kind != Volta }

// Flops is a rate of arithmetic in floating-point operations per second.
type Flops int64

const teraflops = 1e12

// Peak returns the arithmetic of a card at a precision, f32, f16 or bf16. A card without fast 16-bit arithmetic
// computes those numbers as fast as 32-bit ones; one whose 32-bit rate is not known multiplies in 16 bits, as
// XLA does by default. It is 0 if no rate is known.
func (c *Card) Peak(precision string) Flops {
	if precision != "f32" && c.FP16 > 0 || c.FP32 == 0 {
		return c.FP16
	}
	return c.FP32
}

// Timed reports whether times can be estimated for the card.
func (c *Card) Timed() bool { return c.Peak("f16") > 0 && c.MemoryRate > 0 }

// DefaultID is the card that networks are shown with: Beaumont et al. (2019 and 2020) measured theirs on it.
const DefaultID = "v100-pcie-16gb"

// Default returns the card named by DefaultID.
func Default() *Card { return Lookup(DefaultID) }

// All lists the cards, the replaced ones among them. The slice is the caller's.
func All() []Card { return append([]Card(nil), cards...) }

// IDs returns those of All.
func IDs() []string {
	ids := make([]string, len(cards))
	for i := range cards {
		ids[i] = cards[i].ID
	}
	return ids
}

// Lookup returns a copy of the card with an id, which may be that of a card described by its figures
// (Own.ID), or nil if no card has it.
func Lookup(id string) *Card {
	for _, c := range cards {
		if c.ID == id {
			return &c
		}
	}
	if own, ok := OwnOf(id); ok {
		return own.Card()
	}
	return nil
}

// Cut finds the card with the longest id that a text begins with, up to a hyphen or the end. id is empty if
// there is none.
func Cut(text string) (id, rest string) {
	for i := range cards {
		after, ok := strings.CutPrefix(text, cards[i].ID)
		if ok && (after == "" || after[0] == '-') && len(cards[i].ID) > len(id) {
			id, rest = cards[i].ID, after
		}
	}
	if own, after, err := readOwn(text); id == "" && err == nil {
		return own.ID(), after
	}
	return id, rest
}

// spoken are names of cards in reports of runs, beside the ids.
var spoken = map[string]string{
	"v100": DefaultID, "a100": "a100-80gb", "a10040g": "a100-40gb", "a10080g": "a100-80gb", "h10096g": "h100-96gb",
	"gh200": "gh200-96gb-single", "a6000": "rtx-a6000", "3090": "rtx-3090", "4090": "rtx-4090", "5090": "rtx-5090",
	"6000ada": "rtx-6000-ada", "p100": "p100-pcie-16gb",
}

// Find returns the card that a report of a run names, such as 8xH100-80G: the one with the longest name in the
// text, or nil if the text names none.
func Find(text string) *Card {
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	text, found, most := squeeze(text), "", 0
	look := func(name, id string) {
		if len(name) > most && strings.Contains(text, name) {
			found, most = id, len(name)
		}
	}
	for name, id := range spoken {
		look(name, id)
	}
	for i := range cards {
		if c := &cards[i]; c.Instead == "" {
			look(squeeze(c.ID), c.ID)
		}
	}
	return Lookup(found)
}
