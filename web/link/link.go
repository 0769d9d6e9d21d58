// Package link encodes and parses permalinks, which hold everything that decides what the
// page shows in the fragment of its address. Browsers do not send fragments to servers.
//
//	#v=1&p=resnet101-b32&m=12GiB&s=rotor&bw=12.5GBps
//	#v=1&m=60%25&s=greedy&d=1.<base64url>
//
// The keys of a choice are in the table choice.Fields, those of a look in Look.fields.
// docs/links.md lists both, and the keys v, sum, d and b.KEY.
//
// People also write links by hand. Parse ignores order and case, keeps unknown keys, and drops a bad
// value with a note. String is canonical: it has a fixed order and only what differs from the defaults.
// Blobs come last, because a link that is cut loses its end, and a blob contains its own length.
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

// Version is the version of the links that String writes. The meaning of a key never changes
// within a version. A new version has to convert what older links say. testdata/links has
// links of every version, all of which must open for ever.
const Version = 1

// Link is the content of a permalink. Fields with zero values mean the defaults.
type Link struct {
	choice.Said // of side A of a comparison, or of the only side

	Look

	B *choice.Said // side B of a comparison, as its difference from A; nil if there is none

	Unknown []string // key=value pairs that this version does not know, unchanged
}

const (
	maxTitle = 80   // characters of a title
	maxNotes = 20   // notes that Parse returns
	maxNote  = 1000 // bytes of a note
)

// InLink reports whether a link can hold a profile: a chain, or a graph that is short
// enough. A profile with both is held as a chain.
func InLink(p *profiles.Profile) bool {
	return p != nil && (p.Chain != nil || p.Graph != nil && len(blob(p)) <= LongestGraph)
}

// HoldsOps reports whether a link can hold operators (see choice.Source) with their chain.
func HoldsOps(ops string) bool { return ops != "" && len(ops) <= longestOps }

// String returns the canonical fragment, without the #. It leaves out a profile that does not fit into a link.
func (l *Link) String() string {
	out := []string{fmt.Sprintf("v=%d", Version)}
	add := func(key, value string) { out = append(out, key+"="+EscapeValue(value)) }
	l.table().Write(func(key, value string) {
		if key != "kind" || value != "chain" { // a chain is the default
			add(key, value)
		}
	})
	if l.B != nil {
		b := *l.B
		if InLink(b.Profile) {
			b.From = choice.FromBlob // announces the blob, which is lost if the link is cut
		}
		choice.FieldsOf(&b, true).Write(func(key, value string) { add("b."+key, value) })
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

// table returns the fields of a link's choice and look.
func (l *Link) table() choice.Table {
	return append(choice.FieldsOf(&l.Said, false), l.Look.fields()...)
}

// Parse parses a fragment, with or without the leading #. The notes, for people, are about
// bad values, which it replaces by their defaults.
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
		r.note("The settings of this link do not match its checksum: it was changed, or cut, on its way. They are taken as they are now; who changes a link by hand can leave out sum=%s.", clip(stated, 60))
	}
	for _, p := range pairs {
		r.pair(p.key, p.value, p.raw)
		if r.newer {
			return Link{}, r.notes.list
		}
	}
	r.endSide()
	if title := []rune(l.Frame.Title); len(title) > maxTitle {
		l.Frame.Title = string(title[:maxTitle])
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
	if more := len(r.list) - maxNotes; more > 1 {
		r.list = append(r.list[:maxNotes], fmt.Sprintf("And %d more.", more))
	}
	return l, r.list
}

// pair handles one pair of the fragment.
func (r *reader) pair(key, value, raw string) {
	switch key {
	case "v":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			r.note("v is %q; expected a version number such as %d. It was left out.", value, Version)
		} else if r.newer = n > Version; r.newer {
			r.note("This link needs a newer version of this page (link version %d, this page reads up to %d). Reload the page.", n, Version)
		}
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

// reader is the state of Parse.
type reader struct {
	l       *Link
	a       choice.Table // the fields of l without B
	budget  *profiles.Budget
	newer   bool
	sawData bool
	notes
	b side
}

// notes collects what is wrong with a link, for people.
type notes struct{ list []string }

// note adds a note, shortened to maxNote bytes.
func (n *notes) note(format string, args ...any) {
	n.list = append(n.list, clip(fmt.Sprintf(format, args...), maxNote))
}

// bad adds a note about the value of a key if err is not nil.
func (n *notes) bad(key string, err error) {
	if err != nil {
		n.note("%s: %s. It was left out.", key, strings.TrimSuffix(err.Error(), "."))
	}
}

// data sets the profile of a side from its blob, or adds a note.
func (r *reader) data(s *choice.Said, n *notes, value string) {
	var err error
	if s.Profile, err = decodeBlob(value, r.budget); err != nil {
		n.note("%v", err)
	}
}

// side is the state of parsing side B, whose keys have the prefix "b.".
type side struct {
	said    choice.Said
	fields  choice.Table // of said
	any     bool         // the link has a known key of B
	sawData bool
	notes
}

// side handles a key of side B, given without "b.". It reports whether the key is known.
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

// endSide sets side B of the link. It leaves B out if its profile was lost.
func (r *reader) endSide() {
	b := &r.b.said
	if !r.b.any {
		return
	}
	for _, n := range r.b.list {
		r.note("B: %s", n)
	}
	lost := r.b.sawData && b.Profile == nil // a note already says why
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

// SaysNothing reports whether side B says no difference from A.
func SaysNothing(b *choice.Said) bool {
	nothing := b.Profile == nil
	choice.FieldsOf(b, true).Write(func(string, string) { nothing = false })
	return nothing
}

// Links that the page and the programs write have a checksum of their settings after the version, because a flipped bit
// would turn 12GiB into 02GiB, and a link that was cut between two settings looks whole. The checksum is optional, for
// links that are written by hand. A link with a wrong checksum is used as it is, with a note.

// summed reports whether the checksum covers a key. Blobs have their own checksum, and the
// page around a view sets the keys for views.
func summed(key string) bool {
	about := About(key)
	return key != keySum && key != "d" && key != "b.d" && about != choice.Page && about != choice.Embed
}

// sumOf returns the checksum of settings. It does not depend on their order, on the case of keys, or on escapes.
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

// Sealed returns the canonical fragment with the checksum of its settings, for sharing.
func (l *Link) Sealed() string {
	text := l.String()
	version, rest, ok := strings.Cut(text, "&")
	if !ok {
		return text // no settings
	}
	return version + "&" + keySum + "=" + sumOf(pairsOf(text)) + "&" + rest
}

// Altered reports whether a fragment has a checksum that does not match its settings.
func Altered(fragment string) bool {
	if len(fragment) > maxFragment {
		return false
	}
	_, altered := statedSum(pairsOf(strings.TrimPrefix(fragment, "#")))
	return altered
}

// statedSum returns the checksum in pairs, and whether it differs from that of their settings.
func statedSum(pairs []pair) (stated string, other bool) {
	i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == keySum })
	if i < 0 {
		return "", false
	}
	return pairs[i].value, !strings.EqualFold(pairs[i].value, sumOf(pairs))
}

// clip shortens a text to n bytes and an ellipsis.
func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// Of returns the fragment of an address from its query, "?...", and its fragment, "#...". Because some
// tools remove fragments, the settings may also be in the query, which is used if the fragment is
// empty. Keys of a query that are not a link's, such as those that count visitors, are left out.
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

// About returns the scope of a key of the look, or 0 for other keys.
func About(key string) choice.Scope {
	if f := new(Look).fields().Of(key); f != nil {
		return f.For
	}
	return 0
}
