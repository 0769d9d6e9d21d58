package link

import (
	"fmt"
	"strings"

	"memtide/web/choice"
)

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
