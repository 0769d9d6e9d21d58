package link

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/profiles/llm/ask"
	"memtide/web/choice"
	"memtide/web/format"
)

// Look is how a person looks at a choice, as far as links say it; view.View embeds it. A new
// key needs a field here, a line in fields, and words in ViewWords (words_test.go).
type Look struct {
	Lines []string // lines of the curve, by strategy or "all"; nil for the default lines, empty for none
	Axis  string   // of the curve: "slowdown", "time", or "" for rates
	// Playhead is the moment that the pictures mark and the memory map shows. If it is 0, the pictures mark none,
	// and the map shows the failure or the peak.
	Playhead time.Duration
	ToPlay   bool   // the page offers to play the step; it does not start by itself
	Range           // the visible part of the step
	Wanted   string // name of the selection, see lookup.Index.Name, until a picture is there to find it in
	Chain    bool   // the critical chain is shown
	Beside   string // the order of passes that a pipeline is compared with, or ""
	Folds           // the parts that are unfolded
	Frame    Frame
}

// Frame is how the page is laid out around a schedule.
type Frame struct {
	Show    []string // visible parts of the page in their order, by the names in Panels; nil for all
	Title   string   // instead of the network's name, in the tab and in files
	Theme   string   // "light", "dark" or "" for the system's
	Embed   bool     // the page is a view in another page, without controls
	Control string   // "budget" if a view has a slider, or ""
	Opener  string   // the page that changed what a view shows; not in links
}

// Shows reports whether a part of the page is shown.
func (f *Frame) Shows(part string) bool { return f.Show == nil || slices.Contains(f.Show, part) }

// fields returns the fields of a look in the order of links.
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
		{Key: "beside", Value: choice.Word(&l.Beside, ask.Auto, ask.Option("schedule").Choices...),
			For: choice.Network},
		{Key: "open", Value: &l.Folds},
		{Key: "slow", Value: gone{}},
		{Key: "show", Value: (*panels)(&l.Frame.Show)},
		{Key: "title", Value: choice.Text(&l.Frame.Title), For: choice.Network},
		{Key: "theme", Value: choice.Word(&l.Frame.Theme, "auto", "light", "dark", "auto"), For: choice.Page},
		{Key: "embed", Value: (*yes)(&l.Frame.Embed), For: choice.Embed},
		{Key: "controls", Value: choice.Word(&l.Frame.Control, "none", "budget", "none"), For: choice.Embed},
	}
}

// yes is a bool that is true for every value but 0.
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

// lines is a list of names, separated by commas. "none" is the empty list.
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

// Panels are the names of the parts of the page in the key show.
var Panels = []string{"strip", "time", "mem", "curve", "addr", "table"}

// spoken are other words for names in Panels and Folds.
var spoken = map[string]string{"layers": "strip", "timeline": "time", "memory": "mem", "addresses": "addr"}

// panels is a list of names in Panels.
type panels []string

func (p *panels) String() string { return strings.Join(*p, ",") }

func (p *panels) Set(value string) (err error) {
	*p, err = parseNames(value, "part of the page", Panels)
	return err
}

// parseNames parses a list of names, separated by commas, and drops repeated ones. The error
// for a name that is not in names calls it a what.
func parseNames(value, what string, names []string) (out []string, err error) {
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

// Folds says which parts of the page are unfolded.
type Folds struct {
	LineList  bool // the list of all lines
	LayerList bool // the table of layers
	Table     bool // the table of operations
	Sides     bool // in a comparison, separate pictures of the memory of A and of B
}

// foldNames are the names in links of the parts that fold.
var foldNames = []string{"lines", "layers", "table", "sides"}

// all returns pointers to the fields in the order of foldNames.
func (f *Folds) all() [4]*bool { return [...]*bool{&f.LineList, &f.LayerList, &f.Table, &f.Sides} }

// String returns the names of the unfolded parts, separated by commas.
func (f *Folds) String() string {
	var out []string
	for i, open := range f.all() {
		if *open {
			out = append(out, foldNames[i])
		}
	}
	return strings.Join(out, ",")
}

// Set unfolds the named parts and folds all others.
func (f *Folds) Set(value string) error {
	*f = Folds{}
	const old = "questions" // a part of former versions of the page
	parts := slices.DeleteFunc(strings.Split(value, ","),
		func(name string) bool { return strings.EqualFold(name, old) })
	if len(parts) == 0 {
		return nil
	}
	names, err := parseNames(strings.Join(parts, ","), "part of the page that unfolds", foldNames)
	for i, open := range f.all() {
		*open = slices.Contains(names, foldNames[i])
	}
	return err
}

// Range is an interval of time, written "120-480.5" in milliseconds. The zero value is the whole step.
type Range struct{ From, To time.Duration }

// String returns the form in links.
func (r *Range) String() string {
	if *r == (Range{}) {
		return ""
	}
	return format.Milliseconds(r.From) + "-" + format.Milliseconds(r.To)
}

// Set parses the form of String.
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

// moment is a point in time, written "412.5" in milliseconds.
type moment time.Duration

func (m *moment) String() string {
	if *m <= 0 {
		return ""
	}
	return format.Milliseconds(time.Duration(*m))
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

// gone is the value of a key that has no meaning any more. Set accepts everything, and String writes nothing.
type gone struct{}

func (gone) String() string   { return "" }
func (gone) Set(string) error { return nil }

// parseMS parses milliseconds with up to six decimals, exactly.
func parseMS(s string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > 6 || len(whole) > 12 {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 62)
	return time.Duration(n), err
}
