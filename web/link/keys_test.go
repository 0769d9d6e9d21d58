package link_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "memtide/engine/all" // registers the strategies that links name
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
)

// TestEveryKeyOfALook checks that the page reads every documented key of a look and writes it again. It uses the
// examples of the documentation. A link that the page writes never says that it is a view in another page,
// because only that other page decides so.
func TestEveryKeyOfALook(t *testing.T) {
	// old has links with keys that have no meaning any more. The page does not write these keys.
	old := map[string]string{"story": "v=1&p=resnet101-b32&s=pofo&story=2", "slow": "v=1&p=resnet101-b32&slow=5%25"}
	for key, words := range link.ViewWords {
		if old[key] != "" {
			words.Links = []string{old[key]}
		}
		if len(words.Links) == 0 {
			t.Errorf("the documentation has no example of %s", key)
			continue
		}
		with := words.Links[0]
		var value string
		without := strings.Join(slices.DeleteFunc(strings.Split(with, "&"), func(pair string) bool {
			name, v, _ := strings.Cut(pair, "=")
			if name == key {
				value = v
			}
			return name == key
		}), "&")
		if old[key] != "" {
			if s := lookedAt(t, with); !reflect.DeepEqual(s.View, lookedAt(t, without).View) {
				t.Errorf("%s is seen otherwise than %s", with, without)
			}
			continue
		}
		said, silent := lookedAt(t, with), lookedAt(t, without)
		if value == "" || reflect.DeepEqual(said.View.Look, silent.View.Look) {
			t.Errorf("%s: the page of %s looks like that of %s; want the key to be heard", key, with, without)
		}
		l := permalink.Of(said, link.Link{})
		written := slices.Contains(strings.Split(l.String(), "&"), key+"="+value)
		if own := link.About(key) != choice.Embed; written != own {
			t.Errorf("%s: opened with %s, the page writes %s; holds the key: %t, want %t", key, with, l.String(),
				written, own)
		}
	}
}

// lookedAt returns the state of a page that was opened with the link fragment.
func lookedAt(t *testing.T, fragment string) *state.State {
	_, start, notes := permalink.Read(fragment)
	if len(notes) > 0 {
		t.Errorf("%s: notes %q; want none", fragment, notes)
	}
	s := state.New()
	s.Update(start)
	return s
}
