package state

import (
	"memtide/web/link"
	"strings"
	"testing"

	"memtide/web/lookup"
	"memtide/web/tradeoff"
)

func TestShareDialog(t *testing.T) {
	p := shown(t)
	if p.play(SaveFile{Kind: "svg"}, CopyText{Field: "link"}, SetExact{}); len(p.effects) != 0 || p.Sharing != nil {
		t.Errorf("while the dialog is closed: effects %s, dialog %+v; want none", names(p.effects), p.Sharing)
	}
	p.play(ToggleHelp{}, ToggleShare{Dark: true})
	if d := p.Sharing; d == nil || !d.Exact || d.Theme != "dark" || p.View.Help {
		t.Fatalf("opened: %+v, help %t; want an exact link, dark pictures, no help", d, p.View.Help)
	}
	if p.play(SaveFile{Kind: "svg"}); last[Save](t, p).Kind != "svg" {
		t.Errorf("effects %s; want that a file is saved", names(p.effects))
	}
	if p.play(CopyText{Field: "link"}); last[Copy](t, p).Field != "link" {
		t.Errorf("effects %s; want that a text is copied", names(p.effects))
	}
	p.play(ShareNote{Text: "Copied."})
	if p.Sharing.Note != "Copied." {
		t.Errorf("the note is %q, want Copied.", p.Sharing.Note)
	}
	p.play(SetExact{On: false}, SetShareTheme{Theme: "light"})
	if d := *p.Sharing; d != (Sharing{Theme: "light"}) {
		t.Errorf("the dialog is %+v; want a link without details, light, and no note", d)
	}
	p.play(Retitle{Text: strings.Repeat("ü", 200)})
	if got := p.View.Frame.Title; got != strings.Repeat("ü", 80) || last[WriteURL](t, p).History != Replace {
		t.Errorf("the title is %q; want 80 characters, in the address", got)
	}
	p.play(Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 1}}, Dismiss{})
	if p.Sharing != nil || p.View.Selected.Kind != lookup.OnStage {
		t.Errorf("Esc: dialog %+v, selected %+v; want only the dialog closed", p.Sharing, p.View.Selected)
	}
}

// TestSelectionOfALink checks that the selection of a link is made in the first picture and stays in the link
// until then, and that a selection by the user is written into the address.
func TestSelectionOfALink(t *testing.T) {
	p := shown(t)
	link := Start{Choice: p.Choice, Look: link.Look{Wanted: "layer@2", Lines: []string{tradeoff.AllLines}}}
	link.Choice.Strategy = "greedy"
	p.play(Navigate(link))
	if got := p.View.SelectedName(p.Shown); got != "layer@2" {
		t.Errorf("before there is a picture the selection is %q, want that of the link", got)
	}
	p.play(answer(last[Solve](t, p), 10))
	if want := (lookup.Target{Kind: lookup.OnStage, Index: 2}); p.View.Selected != want ||
		p.View.SelectedName(p.Shown) != "layer@2" {
		t.Errorf("selected is %+v, %q; want layer 2", p.View.Selected, p.View.SelectedName(p.Shown))
	}
	if p.play(Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 1}}); last[WriteURL](t,
		p).History != Replace || p.View.SelectedName(p.Shown) != "layer@1" {
		t.Errorf("effects %s, selected %q; want layer 1 in the address, replaced", names(p.effects),
			p.View.SelectedName(p.Shown))
	}
	link.Wanted = "no such thing"
	p.play(Navigate(link))
	if got := p.View.SelectedName(p.Shown); got != "" && got != "layer@1" {
		t.Errorf("a selection that is not there became %q", got)
	}
}

// TestFrame checks that a view in another page computes nothing that it does not show, and that a title is
// removed when something else is opened.
func TestFrame(t *testing.T) {
	for _, c := range []struct {
		frame  link.Frame
		sweeps int
	}{
		{link.Frame{Embed: true}, 0},
		{link.Frame{Embed: true, Show: []string{"time"}}, 0},
		{link.Frame{Embed: true, Show: []string{"time", "curve"}}, 1},
		{link.Frame{}, 1},
	} {
		p := &player{State: New()}
		p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Lines: []string{tradeoff.AllLines}, Frame: c.frame}})
		p.play(opened(last[Open](t, p).ID, chain("net")))
		p.play(answer(last[Solve](t, p), 12))
		if n := count[Sweep](p); min(n, 1) != c.sweeps {
			t.Errorf("%+v: %d curves are computed, want %d", c.frame, n, c.sweeps)
		}
	}
	p := shown(t)
	p.play(Retitle{Text: "A title"}, PickPreset{ID: "net-b16"})
	if p.View.Frame.Title != "A title" {
		t.Error("the title is gone before the other network is open")
	}
	p.play(opened(last[Open](t, p).ID, chain("net")))
	if got := p.View.Frame.Title; got != "" {
		t.Errorf("the title of another network is still %q", got)
	}
	p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Frame: link.Frame{Show: []string{"table", "mem"}}}})
	if !p.View.Table || !p.View.Frame.Shows("mem") || p.View.Frame.Shows("time") {
		t.Errorf("show=table,mem: table %t, memory %t, timeline %t; want the first two", p.View.Table,
			p.View.Frame.Shows("mem"), p.View.Frame.Shows("time"))
	}
}
