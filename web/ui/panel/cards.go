package panel

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/choice"
)

// Group is entries of a drop-down list under a heading.
type Group struct {
	Title   string
	Options []Option
}

// sizes are those that cards are sold with, in GiB.
var sizes = []engine.Bytes{4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 144, 192, 256, 288, 384, 512}

// size is the smallest of them that holds what a card has.
func size(memory engine.Bytes) engine.Bytes {
	for _, n := range sizes {
		if memory <= n*engine.GiB {
			return n
		}
	}
	return (memory + engine.GiB - 1) / engine.GiB
}

// Cards lists the cards by their memory, with the chosen one wherever it is from, and last one of the reader's own.
func Cards(chosen string) (out []Group) {
	all := card.All()
	var list []*card.Card
	for i := range all {
		if c := &all[i]; c.Instead == "" || c.ID == chosen {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *card.Card) int { return cmp.Compare(size(a.Memory), size(b.Memory)) })
	for _, c := range list {
		title := fmt.Sprintf("up to %d GB", size(c.Memory))
		if len(out) == 0 || out[len(out)-1].Title != title {
			out = append(out, Group{Title: title})
		}
		g := &out[len(out)-1]
		g.Options = append(g.Options, Option{ID: c.ID, Title: c.Name, Selected: c.ID == chosen})
	}
	own := Option{ID: choice.OwnExample, Title: "another card…"}
	if c := card.Lookup(chosen); c != nil && c.Kind == card.OfTheirOwner {
		own = Option{ID: chosen, Title: c.Name, Selected: true}
	}
	return append(out, Group{Title: "not in the list", Options: []Option{own}})
}
