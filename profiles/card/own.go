package card

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// Own describes a card by its figures alone, for cards that are not in the table. Its id spells the figures, so
// that links, flags, files and references to networks can name it like any other card:
//
//	24gib-link25gbps-rate165tflops
//
// The parts of an id come in this order: memory, then link (to the host, GB/s in each direction), rate (dense
// 16-bit products) and own (bandwidth of the card's memory), each only if known. Numbers are whole; fractions are
// written in a smaller unit.
type Own struct {
	Memory engine.Bytes
	Link   engine.Rate // 0: a common rate is assumed
	Rate   Flops       // 0: times cannot be estimated
	Own    engine.Rate // 0: assumed in proportion to Rate
}

// The ranges that figures of a card must be in. Anything else is taken for a typing error.
const (
	leastMemory, mostMemory = 64 * engine.MiB, 16 << 10 * engine.GiB
	leastRate, mostRate     = 1_000_000, 100_000_000_000_000 // of bytes, of links and memory
	leastFlops, mostFlops   = 1_000_000_000, 1_000_000_000_000_000_000
	mostDigits              = 1_000_000_000 // largest number in the smaller unit, so that no product overflows
)

// Figures that are assumed where the owner gives none.
const (
	assumedLink = 25 * gb
	// an A100's bytes and operations per second, whose ratio gives the memory bandwidth from the rate
	assumedBytes, assumedProducts = 2039, 312_000
	assumedNarrow                 = 8 // 16-bit rate over 32-bit rate
)

// Check returns an error for the first figure that is out of range.
func (o Own) Check() error {
	switch {
	case o.Memory < leastMemory || o.Memory > mostMemory:
		return fmt.Errorf("a card with %s of memory; expected 64 MiB to 16 TiB, for example 24GiB", o.Memory.Text())
	case o.Link != 0 && (o.Link < leastRate || o.Link > mostRate):
		return fmt.Errorf("a link of %s; expected 1 MB/s to 100 TB/s, for example 25GB/s", o.Link.Text())
	case o.Own != 0 && (o.Own < leastRate || o.Own > mostRate):
		return fmt.Errorf("memory of %s; expected 1 MB/s to 100 TB/s, for example 1008GB/s", o.Own.Text())
	case o.Rate != 0 && (o.Rate < leastFlops || o.Rate > mostFlops):
		return fmt.Errorf("a rate of %d operations a second; expected 1 GFLOP/s to 1000 PFLOP/s, for example 165TFLOP/s", o.Rate)
	}
	return nil
}

// part is a figure in an id, which is written in one of two units; unit is the value of the smaller one.
type part struct {
	name, small, large string
	figure             *int64
	unit               int64
}

// parts returns the figures after the memory, in their order in an id.
func (o *Own) parts() [3]part {
	return [3]part{{"link", "mbps", "gbps", (*int64)(&o.Link), 1e6},
		{"rate", "gflops", "tflops", (*int64)(&o.Rate), 1e9},
		{"own", "mbps", "gbps", (*int64)(&o.Own), 1e6}}
}

// ID returns the id that spells the figures. It rounds sizes down to MiB, rates to MB/s and GFLOP/s.
func (o Own) ID() string {
	id := whole(int64(o.Memory/engine.MiB), 1024, "mib", "gib")
	for _, p := range o.parts() {
		if n := *p.figure / p.unit; n > 0 {
			id += "-" + p.name + whole(n, 1000, p.small, p.large)
		}
	}
	return id
}

// whole writes n in the larger unit if that is exact, else in the smaller one.
func whole(n, step int64, small, large string) string {
	if n%step == 0 {
		return strconv.FormatInt(n/step, 10) + large
	}
	return strconv.FormatInt(n, 10) + small
}

// OwnOf returns the card whose figures an id spells. It returns false if id spells no card.
func OwnOf(id string) (Own, bool) {
	o, rest, err := readOwn(id)
	return o, err == nil && rest == ""
}

// readOwn reads the figures at the beginning of text, and returns the rest of it.
func readOwn(text string) (o Own, rest string, err error) {
	first, rest, more := strings.Cut(text, "-")
	n, ok := number(first, "mib", "gib", 1024)
	if o.Memory = engine.Bytes(n) * engine.MiB; !ok {
		return o, "", fmt.Errorf("%q is no card", text)
	}
	for _, p := range o.parts() {
		said, after, next := strings.Cut(rest, "-")
		text, named := strings.CutPrefix(said, p.name)
		if n, ok := number(text, p.small, p.large, 1000); more && named && ok && n > 0 {
			*p.figure = n * p.unit
			rest, more = after, next
		}
	}
	if more {
		rest = "-" + rest
	}
	return o, rest, o.Check()
}

// number reads a whole number in one of two units and returns it in the smaller unit. The larger unit is step
// smaller ones.
func number(text, small, large string, step int64) (int64, bool) {
	for unit, by := range map[string]int64{small: 1, large: step} {
		if digits, ok := strings.CutSuffix(text, unit); ok && digits != "" && len(digits) <= 9 && digits[0] != '0' {
			n, err := strconv.ParseUint(digits, 10, 63)
			return int64(n) * by, err == nil && int64(n)*by <= mostDigits
		}
	}
	return 0, false
}

// Card returns the card with these figures, and with assumed ones where the owner gives none.
func (o Own) Card() *Card {
	link := cmp.Or(o.Link, assumedLink)
	c := &Card{ID: o.ID(), Device: engine.Device{Name: "card with " + o.Memory.Text(), Memory: o.Memory, ToHost: link,
		ToDev: link}, Kind: OfTheirOwner,
		Link: "link of its own", LinkOrigin: profiles.Measured, FP16: o.Rate, FP32: o.Rate / assumedNarrow,
		MemoryRate: o.Own}
	c.LinkPeak = c.ToDev
	said := "memory as its owner says"
	if o.Link == 0 {
		c.LinkOrigin = profiles.Estimated
		said += "; link to the host an estimate: that of most cards with PCIe 4 x16"
	}
	switch {
	case o.Rate == 0:
		said += "; no rate is known, so there are no times of it"
	case o.Own == 0:
		c.MemoryRate = engine.Rate(engine.MulDiv(int64(o.Rate), assumedBytes, assumedProducts))
		said += "; memory bandwidth and 32-bit rate an estimate: in proportion to the rate as on an A100, and an eighth of it"
	default:
		said += "; 32-bit rate an estimate: an eighth of the rate"
	}
	c.Source = said
	return c
}
