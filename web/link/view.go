package link

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/web/choice"
)

// fields is what a link says of how its choice is looked at, see package choice.
func (l *Link) fields() choice.Table {
	return choice.Table{
		{Key: "c", Value: choice.Name(&l.Lines)},
		{Key: "y", Value: choice.Word(&l.Axis, "rate", "rate", "slowdown", "time")},
		{Key: "at", Value: (*moment)(&l.Moment), For: choice.Network},
		{Key: "story", Value: (*step)(&l.Story), For: choice.Network},
		{Key: "play", Value: (*yes)(&l.Play)},
		{Key: "t", Value: &l.Visible, For: choice.Network},
		{Key: "sel", Value: (*text)(&l.Selected), For: choice.Network},
		{Key: "chain", Value: (*yes)(&l.Chain)},
		{Key: "open", Value: &list{&l.Open, Folds, "part of the page that unfolds"}},
		{Key: "slow", Value: (*slowdown)(&l.Slowdown)},
		{Key: "show", Value: &list{&l.Show, Panels, "part of the page"}},
		{Key: "title", Value: (*text)(&l.Title), For: choice.Network},
		{Key: "theme", Value: choice.Word(&l.Theme, "auto", "light", "dark", "auto"), For: choice.Page},
		{Key: "embed", Value: (*yes)(&l.Embed), For: choice.Embed},
		{Key: "controls", Value: choice.Word(&l.Controls, "none", "budget", "none"), For: choice.Embed},
	}
}

// text is kept as it was written.
type text string

func (t *text) String() string { return string(*t) }

func (t *text) Set(value string) error {
	*t = text(value)
	return nil
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

// Panels are the parts of the page that show= names, Folds those that are folded
// unless open= names them.
var (
	Panels = []string{"strip", "time", "mem", "curve", "addr", "table"}
	Folds  = []string{"lines", "questions", "layers", "table", "sides"}
)

// spoken are parts of the page as people call them.
var spoken = map[string]string{"layers": "strip", "timeline": "time", "memory": "mem", "addresses": "addr"}

// list is known names with commas between them; of several that are the same the
// first counts.
type list struct {
	names *[]string
	known []string
	what  string
}

func (l *list) String() string { return strings.Join(*l.names, ",") }

func (l *list) Set(value string) error {
	var out []string
	*l.names = nil
	for name := range strings.SplitSeq(strings.ToLower(value), ",") {
		if own := spoken[name]; slices.Contains(l.known, own) {
			name = own
		}
		if !slices.Contains(l.known, name) {
			return choice.Sentence("%q is not a %s; expected some of %s, with commas between them.", name, l.what, strings.Join(l.known, ", "))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	*l.names = out
	return nil
}

// slowdown is written "7.5%", and kept as Link.Slowdown.
type slowdown int

func (s *slowdown) String() string {
	if *s <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s-1)/100, 'f', -1, 64) + "%"
}

func (s *slowdown) Set(value string) error {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), "%"), 64)
	if *s = 0; err != nil || !(x >= 0 && x <= 10_000) {
		return choice.Sentence("%q is not a slowdown; expected per cent from 0 to 10000, such as 10%%.", value)
	}
	*s = slowdown(x*100+0.5) + 1
	return nil
}

// String is the form in links.
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
		return choice.Sentence("%q is not a time; expected milliseconds from the start of the step, such as 412.5.", value)
	}
	return nil
}

// step is one of the four steps of the story.
type step int

func (s *step) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.Itoa(int(*s))
}

func (s *step) Set(value string) error {
	n, err := strconv.Atoi(value)
	if *s = step(n); err != nil || n < 1 || n > 4 {
		*s = 0
		return choice.Sentence("%q is no step of the story; expected 1 to 4.", value)
	}
	return nil
}

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
