package link

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"memtide/web/choice"
)

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

// checkSum notes settings that do not match their checksum.
func (r *reader) checkSum(pairs []pair) {
	stated, altered := statedSum(pairs)
	if !altered {
		return
	}
	r.note("The settings of this link do not match its checksum: it was changed, or cut, on its way. They are taken as they are now; who changes a link by hand can leave out sum=%s.", clip(stated))
}

// clip shortens foreign text for a note.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
