package serve_test

import (
	"bytes"
	"os"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/web/choice"
)

// TestRecorded checks that the recorded example, which the page opens without package llm, is what that package
// computes, and that nothing else is recorded.
func TestRecorded(t *testing.T) {
	p, batch, err := preset.Parse(choice.ExamplePreset)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := native.Encode(&got, profile); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "recorded/"+choice.ExamplePreset+".json", got.Bytes())
	if list, err := os.ReadDir("recorded"); err != nil || len(list) != 1 {
		t.Errorf("%d records, %v; want the example's alone", len(list), err)
	}
}
