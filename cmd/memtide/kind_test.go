package main

import (
	"testing"

	"memtide/web/choice"
)

// TestKindOfPreset: a preset is taken as its operators, or as its layers, by naming the variant that is.
func TestKindOfPreset(t *testing.T) {
	for _, tc := range []struct{ preset, kind, want, left string }{
		{"resnet18-b8", "graph", "resnet18-graph-b8", ""},
		{"resnet18-graph-b8", "chain", "resnet18-b8", ""},
		{"resnet18-b8", "", "resnet18-b8", ""},
		{"lemma3-b1", "graph", "lemma3-b1", "graph"},
	} {
		in := &input{}
		in.link.Said = choice.Said{Preset: tc.preset, Kind: tc.kind}
		if in.takeOperators(); in.link.Preset != tc.want || in.link.Kind != tc.left {
			t.Errorf("%s as %q: got %s, %q; want %s, %q", tc.preset, tc.kind, in.link.Preset, in.link.Kind, tc.want, tc.left)
		}
	}
}
