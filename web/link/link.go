package link

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"memtide/profiles"
	"memtide/web/choice"
)

// Version is the version of the links that are written. What a key means never changes:
// what shall mean something else raises the version, and what older links say is then put
// into the new words when they are read. testdata/links has links of every version, which
// have to open for ever.
const Version = 1

// maxFragment is the longest fragment that is read, in characters.
const maxFragment = 64 << 10

// Link is what a permalink says. Empty fields stand for the defaults.
type Link struct {
	choice.Said // of A, if two are compared

	Lines string // what the curve draws: "all", "none", or names with commas
	Axis  string // of the curve: "slowdown", "time", "rate" or ""

	Moment   time.Duration // that all pictures mark and the map of memory shows; 0: none, and there the failure or the peak
	Story    int           // the step of the story that is shown, 1 to 4; 0: none was chosen
	Play     bool          // a step is to be played, which nobody does unasked
	Visible  Range
	Selected string   // by what it is, see draw.Model.Name
	Open     []string // what is unfolded, in the order of Folds
	Chain    bool     // the critical chain is shown
	Slowdown int      // that the question about the smallest budget accepts: one more than its hundredths of a per cent; 0: the default
	Show     []string // the panels that are shown, in their order; nil: all
	Title    string
	Theme    string
	Embed    bool   // a view in another page: without controls
	Controls string // of such a view: "budget" or ""

	B *choice.Said // the other side of a comparison: what differs from this one; nil: there is none

	Unknown []string // key=value pairs that this version does not know, kept as they came
}

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
	if title := []rune(l.Title); len(title) > mostTitle {
		l.Title = string(title[:mostTitle])
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

// mostNotes is how many notes are told, mostNote how many bytes of one, mostTitle
// how many characters a title has.
const (
	mostTitle = 80
	mostNotes = 20
	mostNote  = 1000
)

// notes say what is wrong with a link, for people.
type notes struct{ list []string }

func (n *notes) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > mostNote {
		text = strings.ToValidUTF8(text[:mostNote], "") + "…"
	}
	n.list = append(n.list, text)
}

// bad notes a value that makes no sense.
func (n *notes) bad(key string, err error) {
	if err != nil {
		n.note("%s: %s. It was left out.", key, strings.TrimSuffix(err.Error(), "."))
	}
}

type reader struct {
	l       *Link
	a       choice.Table // all that l can say, but for B
	budget  *profiles.Budget
	newer   bool
	sawData bool
	notes
	b side
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

// data takes the blob of a side. Its errors are sentences.
func (r *reader) data(s *choice.Said, n *notes, value string) {
	var err error
	if s.Profile, err = decodeBlob(value, r.budget); err != nil {
		n.note("%v", err)
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

// String is the canonical fragment, without the #. A profile without a chain
// does not fit into a link and is left out.
func (l *Link) String() string {
	out := []string{fmt.Sprintf("v=%d", Version)}
	add := func(key, value string) { out = append(out, key+"="+escape(value)) }
	l.table().Write(func(key, value string) {
		if key != "kind" || value != "chain" { // which is what it is taken for
			add(key, value)
		}
	})
	if l.B != nil {
		writeSide(l.B, func(key, value string) { add("b."+key, value) })
	}
	out = append(out, l.Unknown...)
	if InLink(l.Profile) {
		out = append(out, "d="+blob(l.Profile))
	}
	if l.B != nil && InLink(l.B.Profile) {
		out = append(out, "b.d="+blob(l.B.Profile))
	}
	return strings.Join(out, "&")
}

// table is all that a link says in keys of its own: of its choice, and of how it is
// looked at.
func (l *Link) table() choice.Table { return append(choice.FieldsOf(&l.Said, false), l.fields()...) }

// InLink says whether a link holds a profile: a chain, or a graph that is short
// enough. A profile that is both is held as a chain.
func InLink(p *profiles.Profile) bool {
	return p != nil && (p.Chain != nil || p.Graph != nil && len(blob(p)) <= LongestGraph)
}

// HoldsOps says whether operators (see choice.Source) go into a link beside their chain.
func HoldsOps(ops string) bool { return ops != "" && len(ops) <= longestOps }

// escape leaves readable what may stand in a fragment and in chat messages.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~@:,/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
