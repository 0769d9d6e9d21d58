package link

import (
	"maps"
	"slices"
	"strings"
)

// Where the network of side B is, if it is not A's: Link.From of B.
const (
	FromBlob = "link" // in b.d
	FromFile = "file" // in a file that no link holds
)

// sideKeys are the keys of the other side of a comparison, behind "b.": what is
// not written of it is as in A.
var sideKeys = []string{"p", "d", "from", "kind", "dev", "m", "s", "bw", "bwd", "duplex", "xfer"}

// IsZero says whether nothing is said.
func (l *Link) IsZero() bool {
	return len(l.sidePairs()) == 0 && l.Profile == nil
}

// side takes a key of side B, given without "b."; false if it is none.
func (r *reader) side(key, value, raw string) bool {
	if !slices.Contains(sideKeys, key) && (!strings.HasPrefix(key, "s.") || key == "s.") {
		return false
	}
	if r.b == nil {
		r.b = &reader{l: &Link{}, budget: r.budget}
	}
	if key == "from" {
		from, err := oneOf(value, FromBlob, FromFile)
		if r.b.l.From = from; err != nil {
			r.b.note("from: %s. It was left out.", strings.TrimSuffix(err.Error(), "."))
		}
		return true
	}
	r.b.pair(key, value, raw)
	return true
}

// endSide puts side B into the link, unless it cannot be what was meant: then A
// is shown alone.
func (r *reader) endSide() {
	if r.b == nil {
		return
	}
	b := r.b.l
	for _, n := range r.b.notes {
		r.note("B: %s", n)
	}
	lost := r.b.sawData && b.Profile == nil // its note says why
	switch {
	case lost:
	case b.From == FromBlob && b.Profile == nil:
		lost = true
		r.note("B: This link was cut: the profile of B did not arrive.")
	case b.From == FromFile:
		r.note("B: This link compares with a file that no link can hold. Open the file as B.")
	}
	if lost {
		return
	}
	if b.Profile != nil {
		b.Preset, b.From = "", FromBlob
	}
	r.l.B = b
}

// sidePairs are the pairs of side B except for its blob.
func (l *Link) sidePairs() (out []string) {
	add := func(key, value string) {
		if value != "" {
			out = append(out, "b."+key+"="+escape(value))
		}
	}
	from := l.From
	if l.Profile == nil {
		add("p", l.Preset)
	} else if l.Profile.Chain != nil {
		from = FromBlob
	}
	add("from", from)
	add("kind", l.Kind)
	add("dev", l.Device)
	add("m", l.Budget.String())
	add("s", l.Strategy)
	for _, name := range slices.Sorted(maps.Keys(l.Args)) {
		add("s."+name, l.Args[name])
	}
	if l.ToDev > 0 {
		add("bw", rate(l.ToDev))
	}
	if l.ToHost > 0 && l.ToHost != l.ToDev {
		add("bwd", rate(l.ToHost))
	}
	add("duplex", l.Duplex)
	add("xfer", l.Transfers)
	return out
}
