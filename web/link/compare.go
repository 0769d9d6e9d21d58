package link

import "memtide/web/choice"

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

// SaysNothing says whether B differs from A in nothing.
func SaysNothing(b *choice.Said) bool {
	nothing := b.Profile == nil
	choice.FieldsOf(b, true).Write(func(string, string) { nothing = false })
	return nothing
}
