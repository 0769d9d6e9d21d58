package choice

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestKeysOfFiles checks that the keys of choices differ for different profiles but do not contain them, because
// a key is made at every change, and a profile may have megabytes.
func TestKeysOfFiles(t *testing.T) {
	profile := func(name string) json.RawMessage {
		return json.RawMessage(`{"format":"memtide/1","name":"` + name + strings.Repeat(" ", 1<<20) + `"}`)
	}
	a := Choice{Source: Source{File: "a", Profile: profile("a")}}
	again := Choice{Source: Source{File: "other name", Profile: profile("a")}}
	opened := a
	opened.Source = a.Source.Read(a.Source.Profile)
	b := Choice{Source: Source{File: "a", Profile: profile("b")}}
	if n := len(a.key()); n > 200 {
		t.Errorf("the key of a profile of %d bytes has %d; want a short one", len(a.Source.Profile), n)
	}
	if a.SettingKey() != again.SettingKey() || a.SettingKey() != opened.SettingKey() {
		t.Errorf("the same profile has the keys %q, %q and, when it was opened, %q; want one", a.SettingKey(),
			again.SettingKey(), opened.SettingKey())
	}
	if a.SettingKey() == b.SettingKey() {
		t.Errorf("two profiles have the key %q", a.SettingKey())
	}
}
