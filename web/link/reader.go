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
