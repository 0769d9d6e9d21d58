package choice

import (
	"encoding/json"
	"strings"
	"testing"

	"memtide/engine"
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

// TestOtherwise checks what a choice is compared with at first: a plan of another name in the same budget.
func TestOtherwise(t *testing.T) {
	of := func(preset, strategy string, policy engine.Args) Choice {
		c := Example().By(strategy, nil).Moved(Source{Preset: preset})
		if c.Strategy = strategy; policy != nil {
			c = c.Under(policy)
		}
		c.Budget = Budget{Bytes: 8 * engine.GiB}
		return c
	}
	for _, x := range []struct {
		what  string
		c     Choice
		all   engine.Bytes
		graph bool
		want  string
	}{
		{"a step", of(ExamplePreset, "pofo", nil), 9 * engine.GiB, false, "keepall ckpt=full"},
		{"a step that fits", of(ExamplePreset, "pofo", nil), 8 * engine.GiB, false, "keepall"},
		{"a policy", of(ExamplePreset, "pofo", engine.Args{"ckpt": "full"}), 9 * engine.GiB, false, "pofo"},
		{"a chain", of("resnet50-b32", "rotor", nil), 9 * engine.GiB, false, "layerwise"},
		{"a chain under the rule", of("resnet50-b32", "layerwise", nil), 9 * engine.GiB, false, DefaultStrategy},
		{"a graph", of("resnet50-graph-b32", "rotor", nil), 9 * engine.GiB, true, "dtr"},
	} {
		b := x.c.Otherwise(x.all, x.graph)
		got := b.Strategy
		if b.Policy != nil {
			got += " ckpt=" + b.Policy["ckpt"]
		}
		if got != x.want || b.Budget != x.c.Budget {
			t.Errorf("%s is compared with %s in %+v; want %s in the same budget", x.what, got, b.Budget, x.want)
		}
	}
}
