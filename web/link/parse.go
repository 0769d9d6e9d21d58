package link

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a fragment, with or without the leading #. The notes say what was
// wrong with it, for people; what they are about has been left at its default.
func Parse(fragment string) (l Link, notes []string) {
	fragment = strings.TrimPrefix(fragment, "#")
	if fragment == "" {
		return l, nil
	}
	if len(fragment) > maxFragment {
		return l, []string{fmt.Sprintf("This link is %d characters long; at most %d are read. Open the file itself instead.", len(fragment), maxFragment)}
	}
	r := reader{l: &l, budget: newBudget(), a: l.table()}
	pairs := pairsOf(fragment)
	r.checkSum(pairs)
	for _, p := range pairs {
		r.pair(p.key, p.value, p.raw)
		if r.newer {
			return Link{}, r.notes.list
		}
	}
	r.endSide()
	if title := []rune(l.Frame.Title); len(title) > mostTitle {
		l.Frame.Title = string(title[:mostTitle])
	}
	switch {
	case l.Named() || r.sawData:
	case l.Kind == "memory":
		r.note("This link is about addresses from a file, which no link can hold. Open the file itself.")
	case l.Kind == "graph":
		r.note("This link is about a graph of operations that is too long for a link. Open the file itself.")
	default:
		r.note("This link names no profile; it may have been cut.")
	}
	if more := len(r.list) - mostNotes; more > 1 {
		r.list = append(r.list[:mostNotes], fmt.Sprintf("And %d more.", more))
	}
	return l, r.list
}

// pair takes one key and value. A bad value is noted and dropped.
func (r *reader) pair(key, value, raw string) {
	switch key {
	case "v":
		r.version(value)
		return
	case keySum: // see checkSum
		return
	case "d":
		r.sawData = true
		r.data(&r.l.Said, &r.notes, value)
		return
	}
	known, err := r.a.Set(key, value)
	r.bad(key, err)
	if known {
		return
	}
	if name, ok := strings.CutPrefix(key, "b."); !ok || !r.side(name, value) {
		r.l.Unknown = append(r.l.Unknown, raw)
	}
}

func (r *reader) version(value string) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 1:
		r.note("v is %q; expected a version number such as %d. It was left out.", value, Version)
	case n > Version:
		r.newer = true
		r.note("This link needs a newer version of this page (link version %d, this page reads up to %d). Reload the page.", n, Version)
	}
}
