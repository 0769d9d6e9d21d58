package export

import (
	"strings"

	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/names"
)

// Lengths of files' names: of what is shown, and of what it is compared with.
const (
	maxFileName   = 80
	maxFileVersus = 40
)

// Name returns the name of a file of what is shown: the network or the title, the
// strategy, the budget, in a comparison what B has instead, and the kind.
func Name(s *state.State, kind string) string {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil {
		return fileNameOf(s, s.Visible(), kind)
	}
	var other []string
	if a.Network.Profile.Name != b.Network.Profile.Name {
		other = append(other, b.Network.Profile.Name)
	}
	if a.Choice.Strategy != b.Choice.Strategy {
		other = append(other, b.Choice.Strategy)
	}
	if a.Solved.Budget != b.Solved.Budget {
		other = append(other, format.Bytes(b.Solved.Budget))
	}
	if other == nil {
		other = []string{names.Letter(false)}
	}
	versus := "-vs-" + plainName(strings.Join(other, " "), maxFileVersus)
	return plainName(titleOf(s, a), maxFileName-len(versus)) + versus + "." + kind
}

// fileNameOf returns the name of a file of one schedule, or of the page if it is nil.
func fileNameOf(s *state.State, p *known.Picture, kind string) string {
	about := names.Of(s) + " " + s.Choice.Strategy + " " + format.Bytes(s.Budget())
	if p != nil {
		about = titleOf(s, p)
	}
	return NameFor(about, kind)
}

// NameFor returns the name of a file about something.
func NameFor(about, kind string) string { return plainName(about, maxFileName) + "." + kind }

// titleOf returns what a schedule is called: its network or the title, its strategy and
// its budget.
func titleOf(s *state.State, p *known.Picture) string {
	return headOf(s, p) + " " + p.Choice.Strategy + " " + format.Bytes(p.Solved.Budget)
}

// headOf returns the title of the link, or the name of a picture's network.
func headOf(s *state.State, p *known.Picture) string {
	if s.View.Frame.Title == "" && p.Network.Profile.Name != "" {
		return p.Network.Profile.Name
	}
	return names.Of(s)
}

// plainName returns a text as part of a file's name.
func plainName(text string, longest int) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}
	name := strings.Map(plain, strings.ToLower(text))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name[:min(len(name), longest)], "-.")
}
