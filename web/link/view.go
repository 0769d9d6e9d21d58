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
var fields = choice.Table[Link]{
	choice.Text("c", func(l *Link) *string { return &l.Lines }),
	choice.Word("y", func(l *Link) *string { return &l.Axis }, "slowdown", "slowdown", "time", "rate"),
	field("at", choice.Network, func(l *Link) *time.Duration { return &l.Moment }, parseMoment, momentText),
	field("t", choice.Network, func(l *Link) *Range { return &l.Visible }, parseRange, rangeText),
	field("sel", choice.Network, func(l *Link) *string { return &l.Selected }, asIs, itself),
	field("chain", 0, func(l *Link) *bool { return &l.Chain }, parseFlag, flagText),
	field("open", 0, func(l *Link) *[]string { return &l.Open }, parseFolds, listText),
	field("slow", 0, func(l *Link) *int { return &l.Slowdown }, parseSlowdown, slowdownText),
	field("show", 0, func(l *Link) *[]string { return &l.Show }, parsePanels, listText),
	field("title", choice.Network, func(l *Link) *string { return &l.Title }, parseTitle, itself),
	choice.Word("theme", func(l *Link) *string { return &l.Theme }, "auto", "light", "dark", "auto").About(choice.Page),
	field("embed", choice.Embed, func(l *Link) *bool { return &l.Embed }, parseFlag, flagText),
	choice.Word("controls", func(l *Link) *string { return &l.Controls }, "none", "budget", "none").About(choice.Embed),
}

// field is a field whose values are read by one function and written by another.
func field[V any](key string, about choice.Scope, of func(*Link) *V, parse func(string) (V, error), text func(V) string) choice.Field[Link] {
	return choice.Field[Link]{Key: key, For: about,
		Get: func(l *Link) string { return text(*of(l)) },
		Set: func(l *Link, value string) (err error) { *of(l), err = parse(value); return err }}
}

func asIs(value string) (string, error)    { return value, nil }
func itself(value string) string           { return value }
func parseFlag(value string) (bool, error) { return value != "0", nil }
func listText(list []string) string        { return strings.Join(list, ",") }

func flagText(on bool) string {
	if on {
		return "1"
	}
	return ""
}

func parseTitle(value string) (string, error) {
	runes := []rune(value)
	return string(runes[:min(80, len(runes))]), nil
}

func parsePanels(value string) ([]string, error) {
	return namesOf(value, Panels, "part of the page")
}

func parseFolds(value string) ([]string, error) {
	return namesOf(value, Folds, "part of the page that unfolds")
}

// Panels are the parts of the page that show= names, Folds those that are folded
// unless open= names them.
var (
	Panels = []string{"strip", "time", "mem", "curve", "addr", "table"}
	Folds  = []string{"lines", "questions", "layers", "table"}
)

// spoken are parts of the page as people call them.
var spoken = map[string]string{"layers": "strip", "timeline": "time", "memory": "mem", "addresses": "addr"}

// namesOf reads known names with commas between them; of several that are the
// same the first counts.
func namesOf(value string, known []string, what string) (out []string, err error) {
	for _, name := range strings.Split(strings.ToLower(value), ",") {
		if own := spoken[name]; slices.Contains(known, own) {
			name = own
		}
		if !slices.Contains(known, name) {
			return nil, choice.Sentence("%q is no %s; expected some of %s, with commas between them.", name, what, strings.Join(known, ", "))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// parseSlowdown reads "7.5%", as Link.Slowdown.
func parseSlowdown(value string) (int, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), "%"), 64)
	if err != nil || !(x >= 0 && x <= 10_000) {
		return 0, choice.Sentence("%q is no slowdown; expected per cent from 0 to 10000, such as 10%%.", value)
	}
	return int(x*100+0.5) + 1, nil
}

func slowdownText(slowdown int) string {
	if slowdown <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(slowdown-1)/100, 'f', -1, 64) + "%"
}

// parseRange reads "120-480.5", in milliseconds.
func parseRange(value string) (Range, error) {
	from, to, ok := strings.Cut(value, "-")
	a, err1 := parseMS(from)
	b, err2 := parseMS(to)
	if !ok || err1 != nil || err2 != nil || b <= a {
		return Range{}, choice.Sentence("%q is no stretch of time; expected start-end in milliseconds, such as 120-480.", value)
	}
	return Range{a, b}, nil
}

func rangeText(r Range) string {
	if r == (Range{}) {
		return ""
	}
	return formatMS(r.From) + "-" + formatMS(r.To)
}

// parseMoment reads "412.5", in milliseconds.
func parseMoment(value string) (time.Duration, error) {
	d, err := parseMS(value)
	if err != nil {
		return 0, choice.Sentence("%q is no moment; expected milliseconds from the start of the step, such as 412.5.", value)
	}
	return d, nil
}

func momentText(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return formatMS(d)
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
