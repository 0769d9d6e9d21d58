//go:build !js

package step

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestBeside compares a pipeline with another order of its passes: what is asked for and said, the picture, the axes
// that both share, and the end of the comparison, which "Compare" is too.
func TestBeside(t *testing.T) {
	args := engine.Args{"gpus": "4", "pp": "4", "accumulate": "8", "schedule": "1f1b", "seq": "1024", "ckpt": "full"}
	s := pagetest.Step(t, "llama3.2-1b", args)
	page := func() string { return pagetest.HTML(t, &View{S: s}) }
	if got := page(); !strings.Contains(got, `data-testid="beside"`) || strings.Contains(got, "passes-b") {
		t.Errorf("a page with one order has %s; want a list of orders and no second picture", got)
	}
	alone := s.Passes().End()
	pagetest.Do(t, s, state.SetBeside{Order: "gpipe"})
	b, x, failed := s.Beside()
	if b == nil || x == nil || failed != "" {
		t.Fatalf("the order beside has the answer %v, the passes %v and the failure %q", b, x, failed)
	}
	a := s.Step.Shown
	if b.Time != a.Time {
		t.Fatalf("GPipe takes %v and 1F1B %v; want the same", b.Time, a.Time)
	}
	for _, want := range []string{"B, GPipe, takes as long as A; ", `data-testid="passes-b"`,
		`<option value="gpipe" selected`} {
		if !strings.Contains(page(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if b.Ranks[b.Full].High <= a.Ranks[a.Full].High {
		t.Fatal("GPipe needs no more memory: the test would see nothing of the axis")
	}
	if more := format.BytesChange(b.Ranks[b.Full].High - a.Ranks[a.Full].High); !strings.Contains(page(), more) {
		t.Errorf("the page does not say %s, how much more memory GPipe needs", more)
	}
	pagetest.Do(t, s, state.SetBeside{Order: "zb-h2"})
	b, _, _ = s.Beside()
	if share := format.Percent(format.Longer(b.Time, a.Time)); !strings.Contains(page(), fmt.Sprintf(
		"B, ZB-H2, takes %s, %s less than A; ", format.Duration(b.Time), strings.TrimPrefix(share, "−"))) {
		t.Errorf("the page does not say that ZB-H2 takes %s of time", share)
	}
	v := draw.View{Width: 900, Cursor: draw.NoCursor}
	_, x, _ = s.Beside()
	if x.End() >= alone {
		t.Fatal("ZB-H2 takes no less time: the test would see nothing of the axis")
	}
	for name, y := range map[string]*draw.Passes{"A: 1F1B": s.Passes(), "B: ZB-H2": x} {
		if y.Title != name {
			t.Errorf("a picture is called %q; want %q", y.Title, name)
		}
		if got := y.TimeAt(v, 1e9); got != alone {
			t.Errorf("the axis of %s ends at %v; want %v, as that of the longer order", name, got, alone)
		}
	}
	pagetest.Do(t, s, state.ToggleCompare{})
	if got := s.Passes().Title; got != draw.PassLanes.Title() {
		t.Errorf("without a comparison the picture is called %q", got)
	}
	if b, _, _ := s.Beside(); b != nil || s.View.Beside != "" || strings.Contains(page(), "passes-b") {
		t.Errorf("after Compare %q stands beside; want nothing", s.View.Beside)
	}
	pagetest.Do(t, s, state.ToggleCompare{})
	if _, x, _ := s.Beside(); x == nil || s.View.Beside != s.OtherOrders()[0] {
		t.Errorf("after Compare %q stands beside; want %q, the first of the list", s.View.Beside, s.OtherOrders()[0])
	}
	pagetest.Do(t, s, state.SetBeside{Order: "1f1b"})
	if _, x, _ := s.Beside(); x != nil {
		t.Error("an order is compared with itself")
	}
	pagetest.Do(t, s, state.SetBeside{Order: "dualpipe"})
	if _, x, failed := s.Beside(); x == nil && !strings.Contains(page(), "There is no answer to B: "+failed) {
		t.Errorf("the page does not say why there is no order beside: %q", failed)
	}
}
