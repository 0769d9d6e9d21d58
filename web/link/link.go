// Package link writes and reads permalinks: everything that decides what the
// page shows, in the fragment of its address. Nothing of a fragment is ever
// sent to a server.
//
//	#v=1&p=resnet101-b32&m=12GiB&s=rotor&bw=12.5GBps
//	#v=1&m=60%25&s=greedy&d=1.<base64url>
//
// What can be said of a choice is the table choice.Fields, how it is looked at the
// table Look.fields; docs/links.md lists both, and v, sum, d and b.KEY besides.
//
// Links are written by hand, too: order and case do not matter when reading, an
// unknown key is kept, and a bad value drops only itself, with a note that says
// so. Writing is canonical: fixed order, only what differs from the defaults. A
// blob stands last, because what cuts a link cuts its end, and a blob knows its
// own length.
package link

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/web/choice"
)

// Version is the version of the links that are written. What a key means never changes:
// what shall mean something else raises the version, and what older links say is then put
// into the new words when they are read. testdata/links has links of every version, which
// have to open for ever.
const Version = 1

// Link is what a permalink says. Empty fields stand for the defaults.
type Link struct {
	choice.Said // of A, if two are compared

	Look

	B *choice.Said // the other side of a comparison: what differs from this one; nil: there is none

	Unknown []string // key=value pairs that this version does not know, kept as they came
}

// mostNotes is how many notes are told, mostNote how many bytes of one, mostTitle
// how many characters a title has.
const (
	mostTitle = 80
	mostNotes = 20
	mostNote  = 1000
)

// InLink reports whether a link holds a profile: a chain, or a graph that is short
// enough. A profile that is both is held as a chain.
func InLink(p *profiles.Profile) bool {
	return p != nil && (p.Chain != nil || p.Graph != nil && len(blob(p)) <= LongestGraph)
}

// HoldsOps reports whether operators (see choice.Source) go into a link beside their chain.
func HoldsOps(ops string) bool { return ops != "" && len(ops) <= longestOps }

// String returns the canonical fragment, without the #. A profile without a chain
// does not fit into a link and is left out.
func (l *Link) String() string {
	out := []string{fmt.Sprintf("v=%d", Version)}
	add := func(key, value string) { out = append(out, key+"="+EscapeValue(value)) }
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

// table returns all that a link says in keys of its own: of its choice, and of how it is
// looked at.
func (l *Link) table() choice.Table {
	return append(choice.FieldsOf(&l.Said, false), l.Look.fields()...)
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
	if stated, altered := statedSum(pairs); altered {
		r.note("The settings of this link do not match its checksum: it was changed, or cut, on its way. They are taken as they are now; who changes a link by hand can leave out sum=%s.", clip(stated))
	}
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
	case keySum: // see Parse
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

type reader struct {
	l       *Link
	a       choice.Table // all that l can say, but for B
	budget  *profiles.Budget
	newer   bool
	sawData bool
	notes
	b side
}

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

// data takes the blob of a side. Its errors are sentences.
func (r *reader) data(s *choice.Said, n *notes, value string) {
	var err error
	if s.Profile, err = decodeBlob(value, r.budget); err != nil {
		n.note("%v", err)
	}
}

// side is side B while it is read: its keys stand behind "b.", and what is not
// written of it is as in A.
type side struct {
	said    choice.Said
	fields  choice.Table // of said
	any     bool         // there is a B
	sawData bool
	notes
}

// side takes a key of side B, given without "b."; false if it is none.
func (r *reader) side(key, value string) bool {
	b := &r.b
	if key == "d" {
		b.any, b.sawData = true, true
		r.data(&b.said, &b.notes, value)
		return true
	}
	if b.fields == nil {
		b.fields = choice.FieldsOf(&b.said, true)
	}
	known, err := b.fields.Set(key, value)
	b.any = b.any || known
	b.bad(key, err)
	return known
}

// endSide puts side B into the link, unless it cannot be what was meant: then A
// is shown alone.
func (r *reader) endSide() {
	b := &r.b.said
	if !r.b.any {
		return
	}
	for _, n := range r.b.list {
		r.note("B: %s", n)
	}
	lost := r.b.sawData && b.Profile == nil // its note says why
	switch {
	case lost:
	case b.From == choice.FromBlob && b.Profile == nil:
		lost = true
		r.note("B: This link was cut: the profile of B did not arrive.")
	case b.From == choice.FromFile:
		r.note("B: This link compares with a file that no link can hold. Open the file as B.")
	}
	if lost {
		return
	}
	if b.Profile != nil {
		b.Preset, b.From = "", choice.FromBlob
	}
	r.l.B = b
}

// writeSide writes what is said of side B but its blob, which it announces: a link
// that is cut loses its end.
func writeSide(b *choice.Said, add func(key, value string)) {
	said := *b
	if InLink(b.Profile) {
		said.From = choice.FromBlob
	}
	choice.FieldsOf(&said, true).Write(add)
}

// SaysNothing reports whether B differs from A in nothing.
func SaysNothing(b *choice.Said) bool {
	nothing := b.Profile == nil
	choice.FieldsOf(b, true).Write(func(string, string) { nothing = false })
	return nothing
}

// Links that the page and the programs write carry a checksum of their settings
// behind the version: a flipped bit would turn 12GiB into 02GiB, and a link that
// was cut between two settings looks whole. Nobody needs one: a link that was
// written by hand is read like any other, and one that was changed by hand is
// shown as it is, with a word about it.

// summed reports whether a key is covered. Blobs have a checksum of their own, and
// what only says how a view sits in its page is put there by that page.
func summed(key string) bool {
	about := About(key)
	return key != keySum && key != "d" && key != "b.d" && about != choice.Page && about != choice.Embed
}

// sumOf returns the checksum of settings. It does not depend on their order, on
// capitals in keys, or on what is escaped.
func sumOf(pairs []pair) string {
	var lines []string
	for _, p := range pairs {
		if summed(p.key) {
			lines = append(lines, p.key+"="+p.value)
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(strings.Join(lines, "\n"))))[:6]
}

// Sealed returns the canonical fragment with the checksum of its settings: what is
// given away.
func (l *Link) Sealed() string {
	text := l.String()
	version, rest, ok := strings.Cut(text, "&")
	if !ok {
		return text // no settings
	}
	return version + "&" + keySum + "=" + sumOf(pairsOf(text)) + "&" + rest
}

// Altered reports whether a fragment has a checksum that is not that of its settings.
func Altered(fragment string) bool {
	if len(fragment) > maxFragment {
		return false
	}
	_, altered := statedSum(pairsOf(strings.TrimPrefix(fragment, "#")))
	return altered
}

// statedSum returns the checksum that pairs state, and whether they have another one.
func statedSum(pairs []pair) (stated string, other bool) {
	i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == keySum })
	if i < 0 {
		return "", false
	}
	return pairs[i].value, !strings.EqualFold(pairs[i].value, sumOf(pairs))
}

// clip shortens foreign text for a note.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// Of returns the fragment of an address whose query and fragment are given as a
// browser gives them, "?..." and "#...". Some tools cut fragments off, so a
// query is understood as well: the fragment wins, and keys of a query that are
// none of a link's, such as those that count visitors, are left out.
func Of(query, fragment string) string {
	if fragment = strings.TrimPrefix(fragment, "#"); fragment != "" {
		return fragment
	}
	var out []string
	for pair := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		key, _, _ := strings.Cut(pair, "=")
		if key = strings.ToLower(key); key == "v" || key == keySum || key == "d" || strings.HasPrefix(key, "b.") ||
			new(Link).table().Of(key) != nil {
			out = append(out, strings.ReplaceAll(pair, "+", "%20"))
		}
	}
	return strings.Join(out, "&")
}

// About says what a key of how the choice is looked at is about; 0 for other keys.
func About(key string) choice.Scope {
	if f := new(Look).fields().Of(key); f != nil {
		return f.For
	}
	return 0
}
