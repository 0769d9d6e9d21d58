package permalink

import (
	"slices"
	"strings"

	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/state"
)

// inserted returns a fragment with other values for some keys. What belongs to a value
// that is replaced goes with it: the arguments of a strategy, the other source.
func inserted(fragment string, params map[string]string) string {
	gone := func(key string) bool {
		_, same := params[key]
		_, strategy := params["s"]
		_, preset := params["p"]
		_, data := params["d"]
		_, allocator := params["alloc"]
		return same || strategy && strings.HasPrefix(key, "s.") || allocator && strings.HasPrefix(key, "alloc.") ||
			(preset || data) && (key == "p" || key == "d" || key == "ops" || link.About(key) == choice.Network)
	}
	var out []string
	for pair := range strings.SplitSeq(fragment, "&") {
		if key, _, _ := strings.Cut(pair, "="); !gone(key) {
			out = append(out, pair)
		}
	}
	keys := make([]string, 0, len(params))
	for key := range params {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if params[key] != "" {
			out = append(out, key+"="+link.EscapeValue(params[key]))
		}
	}
	return strings.Join(out, "&")
}

// WithoutEmbed returns a fragment that opens the page itself and not a view.
func WithoutEmbed(fragment string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(fragment, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return link.About(strings.ToLower(strings.TrimLeft(key, "#"))) == choice.Embed
	}), "&")
}

// Empty reports whether nothing is open yet, or that it could not be opened.
func Empty(s *state.State) bool { return s.Network == nil && s.Memory == nil && s.Step == nil }

// Refusal puts together what is wrong with a link of which nothing was taken.
func Refusal(notes []string) string {
	return strings.ReplaceAll(strings.Join(notes, "\n"), " It was left out.", "")
}

// Changed returns the message of a view's own fragment with other values for some keys.
// What is wrong with the values is said and nothing else: some of what a view shows
// is in no link, and stays.
func Changed(s *state.State, now string, params map[string]string) (link.Link, state.Start, []string) {
	_, _, before := Embedded(s.View.Frame, now)
	l, m, notes := Embedded(s.View.Frame, inserted(now, params))
	notes = slices.DeleteFunc(notes, func(note string) bool { return slices.Contains(before, note) })
	if !l.Named() && s.Network != nil {
		m.Choice.Source = s.Choice.Source
		if l.Budget.Bytes > 0 {
			m.Choice.Budget = choice.Budget{Bytes: l.Budget.Bytes}
		}
	}
	return l, m, notes
}

// Embedded returns a link's message for a view that stays what it is: in another page,
// with or without a slider. If there are notes on what is wrong with the link,
// nothing of it is to be shown: a view stands among the words of another page,
// which would be wrong about anything else.
func Embedded(f link.Frame, fragment string) (link.Link, state.Start, []string) {
	l, m, notes := Read(fragment)
	if _, _, err := preset.Parse(l.Preset); l.Preset != "" && err != nil {
		notes = append(notes, "The link names the network "+l.Preset+", which is not known here.")
	}
	m.Frame.Embed, m.Frame.Control = f.Embed, f.Control
	if m.Frame.Show == nil {
		m.Frame.Show = f.Show
	}
	return l, m, notes
}
