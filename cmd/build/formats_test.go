//go:build !js

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"memtide/profiles"
)

var block = regexp.MustCompile("(?s)```(json|text)\n(.*?)```")

// TestFormatExamples checks that each file shown in docs/formats.md is read as the format of its section.
func TestFormatExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"memtide/1": "memtide", "CSV": "csv", "Hugging Face config.json": "hfconfig"}
	seen := 0
	for section := range strings.SplitSeq(string(page), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		for _, m := range block.FindAllStringSubmatch(section, -1) {
			seen++
			p, err := profiles.Decode("example", profiles.Bytes(m[2]), nil)
			switch {
			case err != nil:
				t.Errorf("the example of %s is not read: %v\n%s", title, err, m[2])
			case p.Format != want[title] || p.Chain == nil:
				t.Errorf("the example of %s is read as %s (chain: %v); want %s, a chain", title, p.Format,
					p.Chain != nil, want[title])
			}
		}
	}
	if seen != len(want) {
		t.Errorf("docs/formats.md shows %d examples; want %d", seen, len(want))
	}
}
