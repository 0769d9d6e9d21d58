package choice

import (
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/format"
)

// OwnExample is the card of the reader's own that stands there before its figures are typed.
const OwnExample = "24gib-link25gbps-rate165tflops"

// OwnCard reads the figures of a card that is in no list as people write them, 24 GiB, 25 GB/s, 165 TFLOP/s: its
// memory and, where they are known, its link to the host, its 16-bit rate, and behind the link the bandwidth of its
// own memory. It returns the id that spells them.
func OwnCard(text string) (id string, err error) {
	var o card.Own
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		var n int64
		switch lower := strings.ToLower(part); {
		case strings.Contains(lower, "flop"):
			n, err = format.ParseFlops(part)
			o.Rate = card.Flops(n)
		case strings.Contains(lower, "/") && o.Link == 0:
			o.Link, err = format.ParseRate(part)
		case strings.Contains(lower, "/"):
			o.Own, err = format.ParseRate(part)
		default:
			o.Memory, err = format.ParseBytes(part)
		}
		if err != nil {
			return "", err
		}
	}
	if err := o.Check(); err != nil {
		return "", Sentence("%v", err)
	}
	return o.ID(), nil
}

// OwnText writes the figures of a card that is in no list as OwnCard reads them; empty for another card.
func OwnText(id string) string {
	o, ok := card.OwnOf(id)
	if !ok {
		return ""
	}
	parts := []string{Budget{Bytes: o.Memory}.String()}
	for _, r := range []engine.Rate{o.Link, o.Own} {
		if r > 0 {
			parts = append(parts, strings.Replace((*rate)(&r).String(), "ps", "/s", 1))
		}
	}
	if o.Rate > 0 {
		parts = append(parts, strconv.FormatFloat(float64(o.Rate)/1e12, 'f', -1, 64)+"TFLOP/s")
	}
	return strings.Join(parts, ", ")
}
