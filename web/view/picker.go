package view

import (
	"slices"
	"strings"

	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
)

// Picker is the list of networks to choose from.
type Picker struct {
	Open   bool
	Query  string // the text in the search field
	Active string // id of the entry that Enter chooses, see Entries; empty if none matches
}

// StepEntry is the prefix of the ids of entries that are the whole training step of a model.
const StepEntry = "step/"

// Steps returns the models that match the query, by their own titles or by those of others of the same architecture,
// first those that have its words side by side, then usual ones. Words that say nothing about the architecture, such as
// "instruct", need not match. An empty query matches only the usual ones.
func (p Picker) Steps() []*ask.Known {
	named := ask.Named(p.Query)
	if named != nil && strings.Contains(p.Query, "/") { // a repository of Hugging Face
		return []*ask.Known{named}
	}
	var beside, usual, other []*ask.Known
	words := ask.Told(strings.Fields(strings.ToLower(p.Query)))
	list := slices.Concat(ask.Models, ask.Others, ask.Diffusers)
	for i := range list {
		m := &list[i]
		kind := " llm language"
		if ask.Pictures(m.ID) {
			kind = " diffusion picture video"
			if m.ID == "sd-1.5" || strings.HasPrefix(m.ID, "sdxl") { // later ones are transformers
				kind += " unet u-net"
			}
		}
		titles := written(m.Title, m.Also...)
		in := m.ID + " " + titles + kind + " transformer whole training step"
		switch {
		case !holdsAll(in, words):
		case len(words) > 1 && strings.Contains(strings.ReplaceAll(titles, "\n", " "), strings.Join(words, " ")+" "):
			beside = append(beside, m)
		case m.Usual:
			usual = append(usual, m)
		case len(words) > 0:
			other = append(other, m)
		}
	}
	if len(usual)+len(other) == 0 && named != nil {
		usual = append(usual, named)
	}
	return slices.Concat(beside, usual, other)
}

// written returns titles in lower case as people write them: as they are, without spaces, and with dashes.
func written(title string, more ...string) string {
	text := strings.ToLower(strings.Join(append([]string{title}, more...), "\n"))
	return text + "\n" + strings.ReplaceAll(text, " ", "") + "\n" + strings.ReplaceAll(text, " ", "-")
}

// Called returns the title of another model with m's architecture by which the query finds m, or "" if it finds m by
// its own title.
func (p Picker) Called(m *ask.Known) string {
	words := ask.Told(strings.Fields(strings.ToLower(p.Query)))
	if holdsAll(m.ID+" "+written(m.Title), words) {
		return ""
	}
	i := slices.IndexFunc(m.Also, func(title string) bool { return holdsAll(written(title), words) })
	if i < 0 {
		return ""
	}
	return m.Also[i]
}

// Entries returns the ids of all entries that match the query, in the order of the list: whole steps, then presets.
func (p Picker) Entries() []string {
	ids, _ := p.entries()
	return ids
}

func (p Picker) entries() (ids, titles []string) {
	for _, m := range p.Steps() {
		ids, titles = append(ids, StepEntry+m.ID), append(titles, m.Title)
	}
	for _, m := range p.Matches() {
		ids, titles = append(ids, m.ID), append(titles, m.Title)
	}
	return ids, titles
}

// holdsAll reports whether text contains every word.
func holdsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// Matches returns the presets whose title, id and heading match the query or, if there are
// none, those whose title, heading and description do. Networks that train on sequences come
// first; otherwise the order is that of the catalogue.
func (p Picker) Matches() []*preset.Preset {
	words := strings.Fields(strings.ToLower(p.Query))
	named := found(words, func(q *preset.Preset) string {
		text := q.Title + " " + q.ID + " " + q.Group
		if q.Sequences() {
			text += " LLM transformer"
		}
		return text
	})
	if len(named) > 0 {
		return named
	}
	return found(words, func(q *preset.Preset) string { return q.Title + " " + q.Group + " " + q.Doc })
}

// found returns the presets whose text contains every word. It leaves out the networks of models,
// which Steps returns, so that a network is in the list once.
func found(words []string, text func(*preset.Preset) string) []*preset.Preset {
	var sequences, other []*preset.Preset
	for _, p := range preset.Presets() {
		switch {
		case p.Model() != nil || !holdsAll(strings.ToLower(text(p)), words):
		case p.Sequences():
			sequences = append(sequences, p)
		default:
			other = append(other, p)
		}
	}
	return append(sequences, other...)
}

// Best returns the id of the entry that Enter chooses after typing: the first whose title or id
// begins with the query, or else the first match. It is empty if nothing matches.
func (p Picker) Best() string {
	query := strings.ToLower(strings.TrimSpace(p.Query))
	ids, titles := p.entries()
	begins := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), query) }
	for i, id := range ids {
		if begins(titles[i]) || begins(strings.TrimPrefix(id, StepEntry)) {
			return id
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// Step returns the id of the entry by rows after the active one, or of the first or last entry
// if there are not as many rows.
func (p Picker) Step(by int) string {
	all := p.Entries()
	if len(all) == 0 {
		return ""
	}
	at := max(slices.Index(all, p.Active), 0)
	return all[min(max(at+by, 0), len(all)-1)]
}
