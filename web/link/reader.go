package link

import (
	"fmt"
	"strings"

	"memtide/profiles"
	"memtide/web/choice"
)

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
