//go:build !js

package ui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/panel"
)

func pageOf(t *testing.T, s *state.State) string {
	t.Helper()
	var b strings.Builder
	if err := StaticPage(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPlacesOfPictures checks that every picture of the time axis has a place on the page, and one for side B.
func TestPlacesOfPictures(t *testing.T) {
	page := pageOf(t, pagetest.First(t))
	for pic := range draw.NumPictures {
		for _, id := range []string{pic.Name(), pic.Name() + "-b"} {
			if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
				t.Errorf("%s: data-testid %q stands %d times in the page; want once", pic.Title(), id, n)
			}
		}
	}
}

func TestFirstView(t *testing.T) {
	page := pageOf(t, pagetest.First(t))
	for _, id := range []string{"peak", "step-time", "rate", "verdict", "budget", "strategy", "preset",
		"bandwidth", "device", "share", "file", "tradeoff", "selection"} {
		if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
			t.Errorf("data-testid %q stands %d times in the page; want once", id, n)
		}
	}
	for _, want := range []string{`id="app"`, `role="alert"`, "<dl", "it stays in this browser", ">checked<",
		"Does it train in this much GPU memory, and how much slower?", `<fieldset class="controls" disabled`, "starting…"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if !regexp.MustCompile(`<button[^>]* value="resnet101"[^>]*>ResNet-101<`).MatchString(page) {
		t.Error("the button of the networks does not name the preset of the example")
	}
	// Every picture is there for wide and for narrow pages, except the life of a graph's value.
	if n, want := strings.Count(page, `<svg xmlns`), 2*(int(draw.NumPictures)-1); n != want {
		t.Errorf("%d inline pictures; want %d", n, want)
	}
	for _, bad := range []string{"<style", "<script", "javascript:", "onclick"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q, which its policy forbids", bad)
		}
	}
	pagetest.WellFormed(t, page)
}

// ownElements is the largest number of elements of the page, without those of the entries that register
// themselves. A new button takes one.
const ownElements = 395

// TestTreeIsSmall checks that the tree is small, because all of it is built and compared at every drawing, and
// that no content is long, because a content that has changed is sent as a whole.
func TestTreeIsSmall(t *testing.T) {
	s := pagetest.First(t)
	s.View.Table, s.View.Help = true, true
	s.Alert = &state.Alert{Text: "a", Lines: []string{"b", "c"}, Action: "d"}
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	results := env.RunBuild(&Root{S: s})
	elements := 0
	var visit func(n *vugu.VGNode)
	visit = func(n *vugu.VGNode) {
		if n.Component != nil {
			visit(results.ResultFor(n.Component).Out[0])
			return
		}
		if n.Type == vugu.ElementNode && n.Data != "" { // vg-template has no Data
			elements++
		}
		if n.InnerHTML != nil && len(*n.InnerHTML) > 15<<10 {
			t.Errorf("the content of a %s is %d bytes long; want at most 15 KiB", n.Data, len(*n.InnerHTML))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(results.Out.Out[0])
	// Entries that register themselves add elements: a picture has a place on each of two sides, a strategy a
	// line among the plans, and a card a line in the list of cards.
	most := cardElements() + ownElements + 2*int(draw.NumPictures) + len(engine.Strategies())
	if elements > most { // building takes 1.5 ms, comparing 0.4 ms
		t.Errorf("the page has %d elements; want at most %d", elements, most)
	}
	t.Logf("%d elements of %d", elements, most)
}

// cardElements returns the number of elements of the list of cards, without cards that are no longer listed.
func cardElements() (n int) {
	for _, g := range panel.Cards("") {
		n += 1 + len(g.Options)
	}
	return n
}

// TestShowAnyway checks that the page of a step that no plan makes fit is marked, and has its pictures when asked.
func TestShowAnyway(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-2048tok-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "8gib"})
	const marked, button = `data-hopeless="true"`, "Show them anyway"
	if page := pageOf(t, s); !strings.Contains(page, marked) || !strings.Contains(page, button) {
		t.Errorf("a card of 8 GiB for 18 GiB of states: the page lacks %q or %q", marked, button)
	}
	pagetest.Do(t, s, state.ToggleAnyway)
	if page := pageOf(t, s); strings.Contains(page, marked) || !strings.Contains(page, "Hide them") {
		t.Errorf("shown anyway, the page still has %q, or no button that hides them", marked)
	}
}

func TestNotices(t *testing.T) {
	s := pagetest.First(t)
	s.OverBudget = &state.OverBudget{Budget: 3 << 30, Smallest: 3<<30 + 400<<20}
	page := pageOf(t, s)
	for _, want := range []string{"Does not fit in 3 GiB: ", "Recompute needs 3.4 GiB at least.", "Set 3.4 GiB",
		"The pictures show 2.58 GiB.", `data-stale="true"`, "plan for 2.58 GiB"} {
		if !strings.Contains(page, want) {
			t.Errorf("a budget that is too small: the page does not contain %q", want)
		}
	}
	// The page names the strategy, or the network, of the pictures if they are not of the one that was asked for.
	s.Choice.Strategy = "keepall"
	if page, want := pageOf(t, s), "The pictures show Recompute in 2.58 GiB."; !strings.Contains(page, want) {
		t.Errorf("another strategy does not fit: the page does not contain %q", want)
	}
	s.OverBudget, s.Alert = nil, &state.Alert{Text: "This strategy does not apply."}
	other := *s.Network
	s.Network = &other
	if page, want := pageOf(t, s),
		"The pictures show Recompute in 2.58 GiB for ResNet-101, batch 32."; !strings.Contains(page, want) {
		t.Errorf("another network, without a schedule: the page does not contain %q", want)
	}
	s = pagetest.First(t)
	s.Alert = &state.Alert{Text: "Line 14: fwd_ms is <b>-3</b>."}
	if page = pageOf(t, s); !strings.Contains(page, "Line 14: fwd_ms is &lt;b&gt;-3&lt;/b&gt;.") {
		t.Error("the text of an alert is not shown as it is")
	}
}

// TestOpenTreeIsSmall checks that the tree with everything open is small enough to be drawn within a frame.
func TestOpenTreeIsSmall(t *testing.T) {
	s := pagetest.Small(t)
	pagetest.Ask(t, s)
	s.Update(state.ToggleLayers)
	s.Update(state.ToggleChain)
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	results := env.RunBuild(&Root{S: s})
	elements := 0
	var visit func(n *vugu.VGNode)
	visit = func(n *vugu.VGNode) {
		if n.Component != nil {
			visit(results.ResultFor(n.Component).Out[0])
			return
		}
		if n.Type == vugu.ElementNode && n.Data != "" { // vg-template has no Data
			elements++
		}
		if n.InnerHTML != nil && len(*n.InnerHTML) > 15<<10 {
			t.Errorf("the content of a %s is %d bytes long; want at most 15 KiB", n.Data, len(*n.InnerHTML))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(results.Out.Out[0])
	if most := 495 + cardElements(); elements > most {
		t.Errorf("with answers and layers open the page has %d elements; want at most %d", elements, most)
	}
	t.Logf("%d elements", elements)
}
