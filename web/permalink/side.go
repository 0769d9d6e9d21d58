package permalink

import (
	"fmt"
	"slices"
	"strings"

	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/state"
)

// MaxBoth is the longest fragment with two profiles, in bytes. link.Parse reads little more.
const MaxBoth = 60 << 10

// addSide sets side B of a comparison in the link of A to what differs from A. If nothing
// differs, it is B's strategy, so that the link says that there is a B.
func addSide(l *link.Link, s *state.State) {
	one, two := s.AB()
	if two == nil {
		return
	}
	a, b, network := one.Choice, two.Choice, two.Network
	if !s.Compare.OnA { // the selection belongs to B, which is opened second
		l.Wanted = ""
	}
	l.Alloc, l.AllocArgs = s.Choice.Alloc, s.Choice.AllocArgs
	said := b.Diff(a, false)
	if b.Source.Preset == "" && !b.Source.Same(a.Source) {
		if network != nil && link.InLink(network.Linked()) {
			said.Profile, said.From, said.Ops = network.Linked(), choice.FromBlob, opsOf(network)
		} else {
			said.From = choice.FromFile
		}
	}
	if link.SaysNothing(&said) {
		said.Strategy, said.Args = b.Strategy, b.Args
	}
	l.B = &said
	if l.Profile != nil && said.Profile != nil && len(l.String()) > MaxBoth {
		said.Ops = ""
	}
	if l.Profile != nil && said.Profile != nil && len(l.String()) > MaxBoth {
		said.Profile, said.From = nil, choice.FromFile
	}
}

// choiceB returns side B of a link whose A is a, or nil if the link has no B that can be
// shown. The notes, for people, are about unknown names in B.
func choiceB(said *choice.Said, a state.Choice) (*state.Choice, []string) {
	if said == nil || said.From == choice.FromFile {
		return nil, nil
	}
	b, problems := said.Resolve(a)
	notes := notesOf("B: ", problems)
	if slices.ContainsFunc(problems, func(p choice.Problem) bool { return p.Key == "d" }) {
		return nil, notes
	}
	return &b, notes
}

// BackToB returns side B of a link that cannot hold B's file, which this page has read.
func BackToB(said *choice.Said, a state.Choice, file state.Source) *state.Choice {
	known := *said
	known.From = ""
	b, _ := choiceB(&known, a)
	if b != nil {
		b.Source = file
	}
	return b
}

// spoken are the words for the things that keys name.
var spoken = map[string]string{"dev": "device", "s": "strategy", "alloc": "allocator", "step": "language model"}

// notesOf returns notes for people on the problems of a link, each beginning with side.
func notesOf(side string, problems []choice.Problem) (notes []string) {
	for i := range problems {
		p := &problems[i]
		switch p.Key {
		case "d":
			notes = append(notes, side+p.Err.Error())
			continue
		case "p":
			notes = append(notes, side+p.Err.Error()+".")
			continue
		}
		text := fmt.Sprintf("The link names the %s %s, which is not known here.", spoken[p.Key], p.Name)
		if p.Name == "" {
			text = fmt.Sprintf("The link's arguments are not used: %v.", p.Err)
			if p.Key == "step." { // the others are
				text = fmt.Sprintf("Options of the link's step that are not used: %s.",
					strings.ReplaceAll(p.Err.Error(), "\n", "; "))
			}
		}
		notes = append(notes, side+text)
	}
	return notes
}

// opsOf returns the operators for the link of a network that is a chain. It is empty if there are none or too many.
func opsOf(n *known.Network) string {
	if n.Chain == nil || !link.HoldsOps(n.Source.Ops) {
		return ""
	}
	return n.Source.Ops
}
