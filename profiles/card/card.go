// Package card is the one table of cards: GPUs and other accelerators, with the memory that the driver reports,
// the rates of arithmetic, memory and links, and the source of each figure. Presets, training steps of language
// models, the comparison with published runs and the page all read this table. An id can also spell the figures
// of a card that is not in the table; see Own. The package knows nothing about networks.
package card

import (
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// TheoreticalPeak marks a link rate that is the peak of the standard because no measurement is known. Copies
// usually reach 15-25 % less.
const TheoreticalPeak profiles.Origin = "theoretical peak"

// Card is a GPU or another accelerator, with the sources of its figures. A rate of 0 to or from the host means
// that the link is not known, or that the card shares the host's memory: nothing can be moved over it.
type Card struct {
	ID string // stable, link-safe: "v100-pcie-16gb"
	engine.Device

	Link       string          // "PCIe 3 x16"
	LinkPeak   engine.Rate     // in each direction, by the standard of the link
	LinkOrigin profiles.Origin // of ToHost and ToDev: Measured, Estimated, TheoreticalPeak, or Unknown without a rate
	FP32       Flops           // peak of 32-bit arithmetic without tensor cores; 0 if not known
	// peak of dense 16-bit arithmetic with 32-bit sums, in bf16 if the card has it; 0 without such units
	FP16       Flops
	FP8        Flops       // peak of dense 8-bit floating-point arithmetic; 0 without such units
	MemoryRate engine.Rate // of the card's own memory
	Between    engine.Rate // to the cards of the same node, in each direction; 0 if not known
	Network    engine.Rate // the card's share of its node's network, by the reference designs; 0 if not known
	Kind       Kind
	Source     string // where the figures come from, for people
	// the figures without a source, for people: "rates and memory bandwidth"; empty if all have one
	Unsourced string
	Instead   string // id of the card that replaces this one in lists; older links still name this one
}

// Kind is a generation of cards, as far as generations differ in what they can do and in how near they come to
// their peaks.
type Kind uint8

// The kinds.
const (
	Older        Kind = iota // NVIDIA's before tensor cores
	Volta                    // Volta and Turing, whose 16-bit type is fp16
	Ampere                   // Ampere and Ada
	Hopper                   // Hopper
	Blackwell                // Blackwell for data centres
	Other                    // of other vendors
	Shared                   // the card uses the host's memory
	OfTheirOwner             // described by its figures alone; see Own
)

// Short returns the name of the card for a sentence, without its socket and memory size. For a card of the kind
// OfTheirOwner this is "card", since the sentence states its memory.
func (c *Card) Short() string {
	if c.Kind == OfTheirOwner {
		return "card"
	}
	name, _, _ := strings.Cut(c.Name, "-")
	return name
}

// BF16 reports whether the card computes in bf16. Cards without bf16 use fp16, which has the same size.
func (c *Card) BF16() bool { return c.Kind != Older && c.Kind != Volta }

// Flops is a rate of arithmetic in floating-point operations per second.
type Flops int64

// Peak returns the card's rate of arithmetic at a precision, "f32", "f16" or "bf16". A card without fast 16-bit
// arithmetic computes in 16 bits at its 32-bit rate. If the 32-bit rate is not known, Peak returns the 16-bit
// rate for it, since XLA multiplies in 16 bits by default. Peak is 0 if no rate is known.
func (c *Card) Peak(precision string) Flops {
	if precision != "f32" && c.FP16 > 0 || c.FP32 == 0 {
		return c.FP16
	}
	return c.FP32
}

// Timed reports whether times can be estimated for the card.
func (c *Card) Timed() bool { return c.Peak("f16") > 0 && c.MemoryRate > 0 }

// Sure returns the most that a step may need of a card's memory, with CUDA, to fit for certain: predictions err by a
// twentieth.
func Sure(memory engine.Bytes) engine.Bytes { return memory * 19 / 20 }

// allocatorPart is how much PyTorch's allocator needs beyond the peak of a plan at most, in per cent, with expandable
// segments. See llm.TestExpandableRoom.
const allocatorPart = 6

// Reserved returns the memory that the allocator probably needs for a plan's peak, rounded up.
func Reserved(peak engine.Bytes) engine.Bytes { return peak + (peak*allocatorPart+99)/100 }

// Usable returns how much of the memory that CUDA leaves a plan may use, rounded down to tenths of a GiB. It is the
// inverse of Reserved.
func Usable(capacity engine.Bytes) engine.Bytes {
	const tenths, megas = 10, 1024
	return capacity * 100 / (100 + allocatorPart) * tenths / engine.GiB * megas / tenths * engine.MiB
}

// DefaultID is the id of the card with which networks are first shown. Beaumont et al. (2019 and 2020) measured
// theirs on it.
const DefaultID = "v100-pcie-16gb"

// Default returns the card with the id DefaultID.
func Default() *Card { return Lookup(DefaultID) }

// All returns all cards, including replaced ones. The slice is the caller's.
func All() []Card { return append([]Card(nil), cards...) }

// IDs returns the ids of all cards, in the order of All.
func IDs() (ids []string) {
	for i := range cards {
		ids = append(ids, cards[i].ID)
	}
	return ids
}

// Lookup returns a copy of the card with the id, which may spell the figures of a card (see Own.ID), or of the only
// card that is so called by people: "RTX 4090", "4090", "NVIDIA H100". It returns nil if there is no such card.
func Lookup(id string) (only *Card) {
	if id == "" {
		return nil
	}
	for i := range cards { // a page asks this hundreds of times for each drawing: only the card that is found is copied
		if cards[i].ID == id {
			return cards[i].copied()
		}
	}
	if own, ok := OwnOf(id); ok {
		return own.Card()
	}
	name := squeeze(id)
	for _, vendor := range []string{"nvidia", "geforce", "amd", "instinct"} {
		name = strings.TrimPrefix(name, vendor)
	}
	if name == "" {
		return nil
	}
	for i := range cards {
		c := &cards[i]
		switch known := squeeze(c.ID); {
		case c.Instead != "" || name != known && name != bare(known) && name != squeeze(c.Name):
		case only != nil:
			return nil
		default:
			only = c.copied()
		}
	}
	return only
}

func (c Card) copied() *Card { return &c }

// squeeze returns a name in lower case and without signs.
func squeeze(name string) string {
	other := func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), other), "")
}

// bare returns a squeezed name without the kind of card before its number.
func bare(name string) string { return strings.TrimPrefix(strings.TrimPrefix(name, "rtx"), "gtx") }

// Like says in a refusal of name which cards are called nearly so: those that begin with most of its letters, or
// contain it. If these are many cards or few letters, it lists all cards.
func Like(name string) string {
	const few, least = 5, 3
	var ids []string
	name, most := bare(squeeze(name)), least
	for i := range cards {
		id, n := bare(squeeze(cards[i].ID)), 0
		for n < min(len(name), len(id)) && name[n] == id[n] {
			n++
		}
		if strings.Contains(id, name) {
			n = len(name)
		}
		if n > most {
			ids, most = nil, n
		}
		if n == most && cards[i].Instead == "" {
			ids = append(ids, cards[i].ID)
		}
	}
	if len(ids) == 0 || len(ids) > few {
		return "known are " + strings.Join(IDs(), ", ")
	}
	return "did you mean " + strings.Join(ids, " or ") + "?"
}

// Cut finds the card with the longest id that text begins with, where the id ends at a hyphen or at the end of
// text. It returns the id and the rest of text; id is empty if text begins with no card.
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

// spoken maps further names of cards in reports of runs to ids, both without punctuation.
var spoken = map[string]string{
	"v100": DefaultID, "a100": "a100-80gb", "a10040g": "a100-40gb", "a10080g": "a100-80gb", "h10096g": "h100-96gb",
	"gh200": "gh200-96gb-single", "4060ti": "rtx-4060-ti-16gb", "p100": "p100-pcie-16gb",
}

// Find returns the card that a report of a run names, for example "8xH100-80G". Of several names in the text the
// longest one counts. Find returns nil if the text names no card.
func Find(text string) *Card {
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
			look(strings.TrimPrefix(squeeze(c.ID), "rtx"), c.ID)
		}
	}
	return Lookup(found)
}
