package link

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/web/choice"
)

// Look is how a choice is looked at, as far as links say it. A key is a field here, its
// line in fields, and its words in ViewWords (words_test.go). The page keeps a Look among what it knows of
// how it is looked at (view.View), so that what is read is shown and what is shown is
// written.
type Look struct {
	Lines []string // what the curve draws, by name, or "all"; nil: the default lines, empty: none
	Axis  string   // of the curve: "slowdown", "time", or "" for rates
	// the moment that the pictures mark and the map of memory shows; 0: none, and there the failure or the peak
	Playhead time.Duration
	ToPlay   bool // the step is meant to be played, which nothing does unasked
	Range         // the visible part of the step
	// what is selected, by what it is, until there is a picture to find it in; see draw.Index.Name
	Wanted string
	Chain  bool // the critical chain is shown
	Folds       // what is unfolded
	Frame  Frame
}

// Frame is how the page stands around a schedule.
type Frame struct {
	Show    []string // parts of the page in their order, by the names in Panels; nil: all
	Title   string   // instead of the network's name, in the tab and in files
	Theme   string   // "light", "dark" or empty: as the system has it
	Embed   bool     // a view in another page: without controls
	Control string   // of such a view: "budget" for a slider, or ""
	Opener  string   // who opened what such a view shows, if it was another page; no link says it
}

// Shows reports whether a part of the page is shown.
func (f *Frame) Shows(part string) bool { return f.Show == nil || slices.Contains(f.Show, part) }

// fields returns the keys of a look, in the order of links.
func (l *Look) fields() choice.Table {
	return choice.Table{
		{Key: "c", Value: (*lines)(&l.Lines)},
		{Key: "y", Value: choice.Word(&l.Axis, "rate", "rate", "slowdown", "time")},
		{Key: "at", Value: (*moment)(&l.Playhead), For: choice.Network},
		{Key: "story", Value: gone{}, For: choice.Network},
		{Key: "play", Value: (*yes)(&l.ToPlay)},
		{Key: "t", Value: &l.Range, For: choice.Network},
		{Key: "sel", Value: choice.Text(&l.Wanted), For: choice.Network},
		{Key: "chain", Value: (*yes)(&l.Chain)},
		{Key: "open", Value: &l.Folds},
		{Key: "slow", Value: gone{}},
		{Key: "show", Value: (*panels)(&l.Frame.Show)},
		{Key: "title", Value: choice.Text(&l.Frame.Title), For: choice.Network},
		{Key: "theme", Value: choice.Word(&l.Frame.Theme, "auto", "light", "dark", "auto"), For: choice.Page},
		{Key: "embed", Value: (*yes)(&l.Frame.Embed), For: choice.Embed},
		{Key: "controls", Value: choice.Word(&l.Frame.Control, "none", "budget", "none"), For: choice.Embed},
	}
}

// yes is true for every value but 0.
type yes bool

func (y *yes) String() string {
	if *y {
		return "1"
	}
	return ""
}

func (y *yes) Set(value string) error {
	*y = value != "0"
	return nil
}

// lines are names with commas between them, "all", or "none".
type lines []string

func (l *lines) String() string {
	if *l != nil && len(*l) == 0 {
		return "none"
	}
	return strings.Join(*l, ",")
}

func (l *lines) Set(value string) error {
	switch value = strings.ToLower(value); value {
	case "":
		*l = nil
	case "none":
		*l = lines{}
	default:
		*l = strings.Split(value, ",")
	}
	return nil
}

// Panels are the parts of the page that show= names.
var Panels = []string{"strip", "time", "mem", "curve", "addr", "table"}

// spoken are parts of the page as people call them.
var spoken = map[string]string{"layers": "strip", "timeline": "time", "memory": "mem", "addresses": "addr"}

// panels are some of Panels.
type panels []string

func (p *panels) String() string { return strings.Join(*p, ",") }

func (p *panels) Set(value string) (err error) {
	*p, err = known(value, "part of the page", Panels)
	return err
}

// known reads names with commas between them; of several that are the same the first
// counts.
func known(value, what string, names []string) (out []string, err error) {
	for name := range strings.SplitSeq(strings.ToLower(value), ",") {
		if own := spoken[name]; slices.Contains(names, own) {
			name = own
		}
		if !slices.Contains(names, name) {
			return nil, choice.Sentence("%q is not a %s; expected some of %s, with commas between them.", name, what,
				strings.Join(names, ", "))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// Folds are the parts of the page that a person unfolds.
type Folds struct {
	LineList  bool // the list of all lines
	LayerList bool // the table of layers
	Table     bool // the table of operations
	Sides     bool // of a comparison, the memory of A and of B, and not both in one picture
}

// fold is one of them, by its name in links.
type fold struct {
	name string
	open *bool
}

func (f *Folds) all() []fold {
	return []fold{{"lines", &f.LineList}, {"layers", &f.LayerList}, {"table", &f.Table}, {"sides", &f.Sides}}
}

// String names what is unfolded, with commas between the names.
func (f *Folds) String() string {
	var out []string
	for _, x := range f.all() {
		if *x.open {
			out = append(out, x.name)
		}
	}
	return strings.Join(out, ",")
}

// Set reads what String writes, and folds all else.
func (f *Folds) Set(value string) error {
	*f = Folds{}
	var names []string
	for _, x := range f.all() {
		names = append(names, x.name)
	}
	const old = "questions" // that the page had
	parts := slices.DeleteFunc(strings.Split(value, ","),
		func(name string) bool { return strings.EqualFold(name, old) })
	if len(parts) == 0 {
		return nil
	}
	open, err := known(strings.Join(parts, ","), "part of the page that unfolds", names)
	for _, x := range f.all() {
		*x.open = slices.Contains(open, x.name)
	}
	return err
}

// Range is a stretch of time, written "120-480.5" in milliseconds; the zero value is all
// of it.
type Range struct{ From, To time.Duration }

// String returns the form in links.
func (r *Range) String() string {
	if *r == (Range{}) {
		return ""
	}
	return formatMS(r.From) + "-" + formatMS(r.To)
}

// Set reads what String writes.
func (r *Range) Set(value string) error {
	from, to, ok := strings.Cut(value, "-")
	a, err1 := parseMS(from)
	b, err2 := parseMS(to)
	if *r = (Range{}); !ok || err1 != nil || err2 != nil || b <= a {
		return choice.Sentence("%q is not a time range; expected start-end in milliseconds, such as 120-480.", value)
	}
	*r = Range{a, b}
	return nil
}

// moment is written "412.5", in milliseconds.
type moment time.Duration

func (m *moment) String() string {
	if *m <= 0 {
		return ""
	}
	return formatMS(time.Duration(*m))
}

func (m *moment) Set(value string) error {
	d, err := parseMS(value)
	if *m = moment(d); err != nil {
		*m = 0
		return choice.Sentence("%q is not a time; expected milliseconds from the start of the step, such as 412.5.",
			value)
	}
	return nil
}

// gone is the value of a key that no longer says anything: whatever it is, it is read and
// not written.
type gone struct{}

func (gone) String() string   { return "" }
func (gone) Set(string) error { return nil }

// parseMS reads milliseconds with up to six decimals, exactly.
func parseMS(s string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > 6 || len(whole) > 12 {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 62)
	return time.Duration(n), err
}

func formatMS(d time.Duration) string {
	s := fmt.Sprintf("%d.%06d", d/time.Millisecond, d%time.Millisecond)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
