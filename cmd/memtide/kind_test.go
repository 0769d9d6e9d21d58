package main

import (
	"testing"

	"memtide/cmd/cli"
	"memtide/web/choice"
)

// TestKindOfPreset checks that asking for a preset as its operators (graph) or as its layers (chain) selects the
// variant of the preset that is of this kind.
func TestKindOfPreset(t *testing.T) {
	for _, tc := range []struct {
		preset, kind, want string
		ok                 bool
	}{
		{"resnet18-b8", "graph", "resnet18-graph-b8", true},
		{"resnet18-graph-b8", "chain", "resnet18-b8", true},
		{"resnet18-b8", "", "resnet18-b8", true},
		{"lemma3-b1", "graph", "lemma3-b1", false},
	} {
		in := &input{}
		in.link.Said = choice.Said{Preset: tc.preset, Kind: tc.kind}
		if err := cli.Try(in.open); (err == nil) != tc.ok || in.link.Preset != tc.want {
			t.Errorf("%s as %q: got %s, %v; want %s, no error: %v", tc.preset, tc.kind, in.link.Preset, err, tc.want,
				tc.ok)
		}
	}
}
