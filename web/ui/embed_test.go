//go:build !js

package ui

import (
	"memtide/web/link"
	"strings"
	"testing"

	"memtide/wasm/proto"
	"memtide/web/lookup"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/timeline"
)

// TestKeysThatLook checks which keys work in a view: those that look and select and, if the view has a slider,
// those that move the budget.
func TestKeysThatLook(t *testing.T) {
	for _, c := range []struct {
		key          input.Key
		look, slider bool
	}{
		{input.Key{Code: "KeyW", Key: "w"}, true, true},
		{input.Key{Code: "KeyD", Key: "d"}, true, true},
		{input.Key{Code: "ArrowRight", Key: "ArrowRight"}, true, true},
		{input.Key{Code: "ArrowDown", Key: "ArrowDown"}, true, true},
		{input.Key{Code: "Digit0", Key: "0"}, true, true},
		{input.Key{Code: "Escape", Key: "Escape"}, true, true},
		{input.Key{Code: "Backspace", Key: "Backspace"}, true, true},
		{input.Key{Code: "KeyN", Key: "n"}, true, true},
		{input.Key{Code: "KeyP", Key: "p"}, true, true},
		{input.Key{Code: "KeyI", Key: "i"}, true, true},
		{input.Key{Code: "KeyF", Key: "f"}, true, true},
		{input.Key{Code: "KeyG", Key: "g"}, true, true},
		{input.Key{Code: "BracketLeft", Key: "["}, false, true},
		{input.Key{Code: "BracketRight", Key: "}", Shift: true}, false, true},
		{input.Key{Code: "Digit1", Key: "1"}, false, false},
		{input.Key{Code: "Digit6", Key: "6"}, false, false},
		{input.Key{Code: "KeyC", Key: "c"}, false, false},
		{input.Key{Code: "KeyX", Key: "x"}, false, false},
		{input.Key{Code: "KeyK", Key: "k"}, false, false},
		{input.Key{Code: "KeyM", Key: "m"}, false, false},
		{input.Key{Code: "KeyT", Key: "t"}, false, false},
		{input.Key{Code: "KeyY", Key: "y"}, false, false},
		{input.Key{Code: "Slash", Key: "?", Shift: true}, false, false},
	} {
		a, ok := input.KeyOf(c.key)
		if !ok {
			t.Errorf("%+v is no key", c.key)
		}
		for control, want := range map[string]bool{"": c.look, "budget": c.slider} {
			if got := a.Looks(&link.Frame{Embed: true, Control: control}); got != want {
				t.Errorf("%+v with the controls %q is taken: %t, want %t", c.key, control, got, want)
			}
		}
	}
}

// TestChangedKeys checks that a wrong value and a link to something that does not exist are refused with a text,
// and that a network that no link can hold stays.
func TestChangedKeys(t *testing.T) {
	s := pagetest.First(t)
	s.View.Frame.Embed = true
	for _, c := range []struct {
		key, value, want string
	}{{"m", "a lot", "m:"}, {"s", "magic", "magic"}, {"p", "nothing-b1", "nothing-b1"}, {"dev", "abacus", "abacus"},
		{"m", "70%", ""}, {"p", "vgg16-b64", ""}} {
		_, m, notes := permalink.Changed(s, "v=1&p=resnet101-b32", map[string]string{c.key: c.value})
		if got := permalink.Refusal(notes); (got == "") != (c.want == "") || !strings.Contains(got, c.want) ||
			strings.Contains(got, "left out") {
			t.Errorf("%s=%s is refused by %q; want words about %q", c.key, c.value, got, c.want)
		}
		if c.want == "" && !m.Frame.Embed {
			t.Errorf("%s=%s makes a page of the view", c.key, c.value)
		}
	}
	g := pagetest.Graph(t, nil)
	g.View.Frame.Embed = true
	l, m, notes := permalink.Changed(g, "v=1&kind=graph&s=window", map[string]string{"m": "1GiB"})
	if len(notes) > 0 || l.Kind != "graph" || m.Choice.Source.Preset != "" || m.Choice.Budget.Bytes != 1<<30 {
		t.Errorf("1 GiB for a graph from a file: %+v, notes %q; want the graph in 1 GiB", m.Choice, notes)
	}
}

// TestCaptionOfSelection checks that the caption describes a selection of the user, and otherwise the step time.
func TestCaptionOfSelection(t *testing.T) {
	s := pagetest.First(t)
	s.View.Frame.Embed = true
	c := &Embed{S: s}
	before := c.Line()
	if !strings.Contains(before, "per step") {
		t.Fatalf("the caption is %q; want the step time", before)
	}
	s.Update(state.Select{Target: lookup.Target{Kind: lookup.OnSpan, Index: 3}})
	if got, want := c.Line(), (&timeline.Selection{S: s}).Sentence(); got != want || got == before {
		t.Errorf("with a selection the caption is %q; want %q", got, want)
	}
	s.Update(state.Dismiss{})
	if got := c.Line(); got != before {
		t.Errorf("without it the caption is %q; want %q", got, before)
	}
}

// TestEmbedKeepsItsColours checks that links of a view do not contain a theme, because the page around the view
// chooses its colours.
func TestEmbedKeepsItsColours(t *testing.T) {
	const asked = "v=1&p=vgg16-b64&m=100%25&s=keepall&theme=dark"
	l, _, _ := permalink.Embedded(link.Frame{Embed: true}, asked)
	s := pagetest.Preset(t, "vgg16-b64")
	for embed, want := range map[bool]string{true: strings.TrimSuffix(asked, "&theme=dark"), false: asked} {
		s.View.Frame = l.Frame
		s.View.Frame.Embed = embed
		of := permalink.Of(s, l)
		if got := of.String(); got != want {
			t.Errorf("embedded %t: the link is %s, want %s", embed, got, want)
		}
	}
}

// TestViewStops checks that a view has a Stop while it reads or solves, and a way to go on if that was ended.
func TestViewStops(t *testing.T) {
	s := pagetest.First(t)
	s.View.Frame.Embed = true
	hidden := func(id string) bool {
		page := pageOf(t, s)
		_, after, found := strings.Cut(page, `data-testid="`+id+`"`)
		tag, _, _ := strings.Cut(after, ">")
		if !found {
			t.Fatalf("there is no %s in\n%s", id, page)
		}
		return strings.Contains(tag, "hidden")
	}
	if !hidden("caption-stop") || !hidden("caption-act") {
		t.Error("a view at rest has a Stop, or a way on; want neither")
	}
	s.Update(state.SetStrategy{Name: "greedy"})
	if hidden("caption-stop") {
		t.Error("a view that solves has no Stop")
	}
	s.Update(state.SolveFailed{ID: s.Solving.ID,
		Failure: proto.Fail(proto.Deadline, "it was stopped")})
	if !hidden("caption-stop") || hidden("caption-act") || (&Embed{S: s}).Action() != "Go on" {
		t.Errorf("a view whose time was over has a Stop, or no way on: %q", (&Embed{S: s}).Action())
	}
}
