package card

import (
	_ "embed" // cards.txt
	"math"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// table has the links to the host and the cards. It says itself what its columns are.
//
//go:embed cards.txt
var table string

// kinds are the names of kinds in the table.
var kinds = []string{"older", "volta", "ampere", "hopper", "blackwell", "other", "shared"}

// gb is the unit of vendors' bandwidths: 10^9 bytes per second.
const gb engine.Rate = 1_000_000_000

// PlainRate is the value of Card.Unsourced that does not matter for steps in 16 bits.
const PlainRate = "32-bit rate"

var cards = tabled()

func tabled() (out []Card) {
	links := map[string]Card{}
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimRight(line, "\n"), " | ")
		switch {
		case f[0] == "" || f[0][0] == '#':
		case f[0][0] == ' ':
			out[len(out)-1].add(strings.TrimSpace(line))
		case len(f) < 8:
			links[f[0]] = Card{Link: f[1], LinkPeak: engine.Rate(figure(f[2], 1e9)), LinkOrigin: profiles.Origin(f[5]),
				Device: engine.Device{ToHost: engine.Rate(figure(f[3], 1e9)), ToDev: engine.Rate(figure(f[4], 1e9))},
				Source: strings.Join(f[6:], "")}
		default:
			c := links[f[4]]
			c.ID, c.Name, c.Kind = f[0], f[1], Kind(slices.Index(kinds, f[3]))
			c.Memory = engine.Bytes(figure(f[2], 1000)) / 1000 * engine.MiB
			c.FP32, c.FP16, c.FP8 = Flops(figure(f[5], 1e12)), Flops(figure(f[6], 1e12)), Flops(figure(f[7], 1e12))
			c.MemoryRate, c.Between = engine.Rate(figure(f[8], 1e9)), engine.Rate(figure(f[9], 1e9))
			c.Network = engine.Rate(figure(f[10], 1e9))
			out = append(out, c)
		}
	}
	return out
}

// add takes a line below the card's: a source, what has none, or the card that lists have instead.
func (c *Card) add(line string) {
	if of, found := strings.CutPrefix(line, "in lists: "); found {
		c.Instead = of
		return
	}
	if of, found := strings.CutPrefix(line, "no source: "); found {
		c.Unsourced, line = of, "no source at hand confirms its "+of
	}
	if c.Source != "" {
		line = c.Source + "; " + line
	}
	c.Source = line
}

// figure returns a number with at most three decimals in a unit of at least 1000. It panics if text is not a number.
func figure(text string, unit int64) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("cards.txt: " + err.Error())
	}
	return engine.Int64(math.Round(n*1000)) * (unit / 1000)
}
