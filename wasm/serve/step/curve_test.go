package step

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles/llm"
)

// TestCurve checks that the picture of the policies is well-formed, has a line for each strategy and a dot for
// each policy, and stays within its frame.
func TestCurve(t *testing.T) {
	a, err := llm.New(llm.Lookup("llama3-8b"), engine.Args{"gpus": "8"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Plan(nil, func(*llm.Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	svg := curve(p)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	if got, want := strings.Count(svg, "<circle"), len(p.Policies)-2+1; got != want || want < 13 {
		t.Errorf("%d dots, want %d, that of the legend among them", got, want)
	}
	for _, want := range []string{`class="recomputes"`, `class="moves"`, "card 79.6 GiB",
		"<title>full checkpointing: "} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
	if strings.Contains(svg, `="-`) || strings.Contains(svg, "NaN") {
		t.Errorf("something lies outside:\n%s", svg)
	}
	if curve(&llm.Answer{}) != "" {
		t.Error("a picture of nothing")
	}
}
