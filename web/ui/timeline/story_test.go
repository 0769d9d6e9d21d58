package timeline

import (
	"context"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/view"
)

// The steps of the story are one group of radio buttons with what they come to.
func TestStorySteps(t *testing.T) {
	c := choice.Default()
	c.Source, c.Device, c.Strategy, c.Args, c.Budget = state.Source{Preset: "gpt2-xl-on-h100-sxm-80gb-b8"}, "h100-sxm-80gb", "sequential", nil, choice.Budget{Bytes: 73 * engine.GiB}
	s, err := jobs.First(context.Background(), new(serve.Local), c)
	if err != nil {
		t.Fatal(err)
	}
	page := &Story{S: s}
	got := string(page.HTML())
	for _, want := range []string{"<b>Keep everything</b><span>93.1 GiB at the peak</span>", "<b>Over the line</b><span>14.4 GiB too much</span>",
		"<b>Recompute</b><span>15 again: +9.9\u00a0%</span>", " checked>", "<b>Equal segments</b>", " again: +"} {
		if !strings.Contains(got, want) {
			t.Errorf("the steps are\n%s\nwant %s in it", got, want)
		}
	}
	if n := strings.Count(got, `type="radio" name="story"`); n != 4 {
		t.Errorf("%d steps; want 4", n)
	}
	s.Update(state.SetBudget{Bytes: 70 * engine.GiB, Settled: true})
	if got := string(page.HTML()); !strings.Contains(got, "<b>Yours</b>") {
		t.Errorf("after a change the steps are\n%s\nwant Yours in it", got)
	}
	if m := (input.Command{Do: "story", Index: 2, Settled: true}).Message(s); m != (state.TellStory{Step: view.StoryOverLine}) {
		t.Errorf("the second button means %v; want step 2", m)
	}
}

// Of what fits only Play is there.
func TestNoStorySteps(t *testing.T) {
	c := choice.Default()
	c.Source, c.Device, c.Strategy, c.Args, c.Budget = state.Source{Preset: "resnet50-b8"}, "h100-sxm-80gb", "keepall", nil, choice.Budget{Share: 100 * choice.Percent}
	s, err := jobs.First(context.Background(), new(serve.Local), c)
	if err != nil {
		t.Fatal(err)
	}
	page := &Story{S: s}
	if got := page.HTML(); got != "" || page.Absent() || !strings.Contains(string(page.Button()), wordsPlay) {
		t.Errorf("steps %q, absent %v, button %q; want no steps and a button that plays", got, page.Absent(), page.Button())
	}
	s.Update(state.PlayStep{Now: 1})
	if got := string(page.Button()); !strings.Contains(got, wordsStop) || page.Playing() != "true" {
		t.Errorf("while it plays the button is %q, pressed %s; want one that stops", got, page.Playing())
	}
}

// Space plays the step.
func TestSpacePlays(t *testing.T) {
	a, ok := input.KeyOf(input.Key{Code: "Space", Key: " "})
	if !ok || !a.Plays() || !a.Walks() {
		t.Errorf("Space is %+v, known %v; want what plays, while the pictures have the focus", a, ok)
	}
}
