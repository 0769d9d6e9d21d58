package choice

import (
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/format"
)

// OwnExample is the id of the card that the form for a person's own card shows at first.
const OwnExample = "24gib-link25gbps-rate165tflops"

// OwnCard parses the figures of a card that is not in the list, separated by commas, such as "24 GiB, 25 GB/s, 165
// TFLOP/s". These are its memory and, optionally, the rate of its host link, its 16-bit arithmetic rate and, after
// the link, the bandwidth of its own memory. It returns the id that spells them.
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
			// the GB of a card's name are GiB
			n := strings.TrimSpace(strings.TrimSuffix(lower, "gb"))
			if _, bad := strconv.ParseFloat(n, 64); bad == nil {
				part = n + "GiB"
			}
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

// OwnText formats the figures of a card that is not in the list for OwnCard. It is empty for a card of the list.
func OwnText(id string) string {
	o, ok := card.OwnOf(id)
	if !ok {
		return ""
	}
	parts := []string{strings.NewReplacer("GiB", " GiB", "MiB", " MiB").Replace(Budget{Bytes: o.Memory}.String())}
	for _, r := range []engine.Rate{o.Link, o.Own} {
		if r > 0 {
			parts = append(parts, strings.NewReplacer("GBps", " GB/s", "MBps", " MB/s").Replace((*rate)(&r).String()))
		}
	}
	if o.Rate > 0 {
		parts = append(parts, strconv.FormatFloat(float64(o.Rate)/1e12, 'f', -1, 64)+" TFLOP/s")
	}
	return strings.Join(parts, ", ")
}
