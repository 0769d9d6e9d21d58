package link_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "memtide/engine/all" // links name strategies
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
)

// What a link says of how a choice is looked at reaches the page, and the page writes it
// again, for every key that is documented: with the example of its documentation. That a
// page is a view in another one is decided by that one, so no link of the page says it.
func TestEveryKeyOfALook(t *testing.T) {
	// which say nothing any more
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

// lookedAt is a page that has been opened with a link.
func lookedAt(t *testing.T, fragment string) *state.State {
	_, start, notes := permalink.Read(fragment)
	if len(notes) > 0 {
		t.Errorf("%s: notes %q; want none", fragment, notes)
	}
	s := state.New()
	s.Update(start)
	return s
}
