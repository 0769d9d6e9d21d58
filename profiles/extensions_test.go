package profiles

import (
	"slices"
	"testing"
)

// The list that file pickers get is that of the formats.
func TestExtensions(t *testing.T) {
	var want []string
	for _, f := range Formats() {
		want = append(want, f.Extensions...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if !slices.Equal(Extensions, want) {
		t.Errorf("Extensions is\n  %q\nwant, from the formats,\n  %q", Extensions, want)
	}
}
