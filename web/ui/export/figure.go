package export

import (
	"strings"

	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
)

// FigureWidth is the width of saved pictures in CSS pixels.
const FigureWidth = 1040.0

// Figure draws what is shown as one picture for a file, under a heading. exact includes the visible range and the
// selection.
func Figure(scene *draw.Scene, s *state.State, exact bool) {
	v := draw.View{Width: FigureWidth - 2*draw.FileMargin, Budget: s.Budget(), Cursor: draw.NoCursor}
	if exact {
		v.From, v.To, v.Selected, v.Chain = s.View.From, s.View.To, s.View.Selected, s.View.Chain
	}
	mount.Mount{Picture: draw.Memory}.Around(s, &v)
	var picture draw.Scene
	if !mount.FigureOfBoth(&picture, s, v) {
		s.Visible().Index().Figure(&picture, v)
	}
	draw.Headed(scene, &picture, headingOf(s, Sides(s)))
	scene.Title = answer.Title(s) + ". " + scene.Title
}

// headingOf returns the heading of a saved picture.
func headingOf(s *state.State, sides []Side) (h draw.Heading) {
	p := sides[0].Picture
	h.Title = headOf(s, p)
	if len(sides) == 1 {
		line := p.Choice.PlanName() + names.Args(p.Choice.Args, nil)
		if !p.KeepsAll() { // its budget is its peak, see Within
			line += p.Within(" · plan may use ")
		}
		line += measuresOf(p)
		if name := p.Network.Profile.Name; name != "" && name != h.Title {
			line = name + " · " + line
		}
		_, verdict := answer.Verdict(s, p)
		h.Lines = append(h.Lines, verdict, line)
		return h
	}
	q := sides[1].Picture
	if s.View.Frame.Title == "" && q.Network != p.Network {
		h.Title += " and " + headOf(s, q)
	}
	name := func(side Side, other *known.Picture) string {
		p := side.Picture
		return side.Letter + ": " + names.Side(p.Choice, other.Choice, p.Network, other.Network,
			p.Within("plan may use ")) + measuresOf(p)
	}
	d := known.DeltaOf(p, q)
	h.Lines = append(h.Lines, name(sides[0], q), name(sides[1], p), deltaLine(&d))
	return h
}

// measuresOf returns the peak and the step time of a schedule, and whether it is only the best so far or not verified.
func measuresOf(p *known.Picture) string {
	text := " · peak " + format.Bytes(p.Solved.Trace.Peak) + " · step time " + format.Duration(p.Solved.Trace.Makespan)
	switch {
	case p.Partial:
		text += " · best so far"
	case !p.Solved.Verdict.Verified:
		text += " · not verified"
	}
	return text
}

// deltaLine returns the change of the step time as a sum of its parts, and the change of the peak.
func deltaLine(d *known.Delta) string {
	step, parts := d.Rounded()
	u := names.UnitOf(d)
	var words []string
	for i, p := range d.Parts {
		if parts[i] != 0 {
			name, _ := names.Part(p.Name)
			words = append(words, name+" "+u.Signed(parts[i]))
		}
	}
	text := "B − A: step " + u.Signed(step)
	if len(words) > 0 {
		text += " = " + strings.Join(words, ", ")
	}
	return text + " · peak " + format.BytesChange(d.Peak)
}

// Side is a schedule in a file.
type Side struct {
	Letter  string // A or B; empty without a comparison
	Picture *known.Picture
}

// SideOf returns the side that the controls change.
func SideOf(s *state.State) Side {
	letter, _ := s.Letters()
	return Side{letter, s.Visible()}
}

// Sides returns A and B of a comparison, or only the side that the controls change if the other one has no schedule.
// There must be a visible picture.
func Sides(s *state.State) []Side {
	if a, b, ok := s.Sides(); ok && a != nil && b != nil {
		return []Side{{"A", a}, {"B", b}}
	}
	return []Side{SideOf(s)}
}

const (
	maxFileName   = 80 // longest name of a file, without its extension
	maxFileVersus = 40 // longest part of it about side B
)

// Name returns the name of a file of what is shown: the network or the title, the
// strategy, the budget, the differences of B in a comparison, and the kind as extension.
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
		other = append(other, b.Within(""))
	}
	if other == nil {
		other = []string{"B"}
	}
	versus := "-vs-" + plainName(strings.Join(other, " "), maxFileVersus)
	return plainName(titleOf(s, a), maxFileName-len(versus)) + versus + "." + kind
}

// fileNameOf returns the name of a file of the schedule p, or of the choice if p is nil.
func fileNameOf(s *state.State, p *known.Picture, kind string) string {
	about := names.Of(s) + " " + s.Choice.Strategy + " " + format.Bytes(s.Budget())
	if p != nil {
		about = titleOf(s, p)
	}
	return NameFor(about, kind)
}

// NameFor returns the name of a file with a title and an extension.
func NameFor(about, kind string) string { return plainName(about, maxFileName) + "." + kind }

// titleOf returns the network or the title, the strategy and the budget of a schedule.
func titleOf(s *state.State, p *known.Picture) string {
	if p.Choice.Policy != nil {
		return headOf(s, p) + " " + p.Choice.PlanName() + p.Within(" ")
	}
	return headOf(s, p) + " " + p.Choice.Strategy + p.Within(" ")
}

// headOf returns the title that a person chose, or the name of the network of p.
func headOf(s *state.State, p *known.Picture) string {
	if s.View.Frame.Title == "" && p.Network.Profile.Name != "" {
		return p.Network.Profile.Name
	}
	return names.Of(s)
}

// plainName returns text as part of a file name: lower case, with hyphens between words.
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
