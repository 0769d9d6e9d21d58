package link

import (
	"slices"
	"strconv"
	"strings"
)

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
			return nil, sentence("%q is not a %s; expected some of %s, with commas between them.", name, what, strings.Join(known, ", "))
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
		return 0, sentence("%q is not a slowdown; expected per cent from 0 to 10000, such as 10%%.", value)
	}
	return int(x*100+0.5) + 1, nil
}

// addView writes what is unfolded and marked.
func (l *Link) addView(add func(key, value string)) {
	if l.Chain {
		add("chain", "1")
	}
	add("open", strings.Join(l.Open, ","))
	if l.Slowdown > 0 {
		add("slow", strconv.FormatFloat(float64(l.Slowdown-1)/100, 'f', -1, 64)+"%")
	}
}
