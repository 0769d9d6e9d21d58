//go:build !js

package address

import (
	"strings"
	"testing"

	"memtide/engine/alloc"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// TestAddressView checks that the address view is closed at first, and that the open view shows where the bytes
// lie, for every allocator.
func TestAddressView(t *testing.T) {
	s := pagetest.First(t)
	if page := pagetest.HTML(t, &Map{S: s}); !strings.Contains(page,
		`aria-controls="places-body" aria-expanded="false"`) || strings.Contains(page, `data-testid="alloc"`) {
		t.Error("the address view is not closed at first")
	}
	pagetest.Do(t, s, state.TogglePlaces{})
	page := pagetest.HTML(t, &Map{S: s})
	pagetest.WellFormed(t, page)
	for _, id := range []string{"places", "alloc", "addresses", "map", "holes", "host", "outcome", "place-verdict"} {
		if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
			t.Errorf("data-testid %q stands %d times in the page; want once", id, n)
		}
	}
	for _, a := range alloc.Allocators() {
		pagetest.Do(t, s, state.SetAllocator{Name: a.Name})
		page := pagetest.HTML(t, &Map{S: s})
		c := Map{S: s}
		want := "✓ layout checked"
		if s.Places.Placed.Failed != nil {
			want = "checked up to the failure"
		}
		if got := c.Verdict().Text; got != want {
			t.Errorf("%s: verdict %q, want %q", a.Name, got, want)
		}
		if got := c.Outcome(); !strings.HasPrefix(got, "All buffers find room") &&
			!strings.Contains(got, ", largest hole ") || strings.Contains(got, "fit:") || c.OutcomeClass() != "" {
			t.Errorf("%s: outcome %q of class %q; want no verdict", a.Name, got, c.OutcomeClass())
		}
		if len(c.Facts()) != 6 || len(c.Params()) != len(a.Params) {
			t.Errorf("%s: %d facts, %d parameters; want 6 and %d", a.Name, len(c.Facts()), len(c.Params()),
				len(a.Params))
		}
		for _, want := range []string{`aria-controls="places-body" aria-expanded="true"`,
			"<th scope=\"col\">Address</th>", "fragmentation ", c.Doc()} {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "'", "&#39;")) {
				t.Errorf("%s: the page does not contain %q", a.Name, want)
			}
		}
	}
}

// TestAddressOrder checks that best fit offers a choice of the order of requests, which the link then contains,
// and that files about addresses, which have their own order, do not.
func TestAddressOrder(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.TogglePlaces{})
	page := pagetest.HTML(t, &Map{S: s})
	for _, want := range []string{`id="alloc-order"`, `<option selected="selected" value="as-played"`,
		`<option value="prefetch-first"`, `<option value="derivative-first"`} {
		if n := strings.Count(page, want); n != 1 {
			t.Errorf("%q stands %d times in the page; want once", want, n)
		}
	}
	m := input.Command{Do: "alloc-arg", Arg: "order", Value: "prefetch-first", Settled: true}.Message(s)
	pagetest.Do(t, s, m)
	if page = pagetest.HTML(t, &Map{S: s}); !strings.Contains(page,
		`<option selected="selected" value="prefetch-first"`) {
		t.Errorf("after %#v prefetch-first is not selected", m)
	}
	if got := permalink.Of(s, link.Link{}); got.AllocArgs["order"] != "prefetch-first" {
		t.Errorf("after %#v the link says %q", m, got.String())
	}
	s.Memory = &known.Memory{}
	if got := (&Map{S: s}).Params(); len(got) != 0 {
		t.Errorf("for a file: parameters %+v; want none", got)
	}
}

// TestAddressesBesidePreview checks that the addresses say which plan they belong to while the pointer is on the
// curve and the other pictures show a preview.
func TestAddressesBesidePreview(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.TogglePlaces{})
	c := Map{S: s}
	if got := c.Verdict().Text; c.Stale() != "false" || strings.Contains(got, "preview") {
		t.Errorf("without a preview the addresses say %q, stale %s; want nothing of one", got, c.Stale())
	}
	other := *s.Shown
	s.Preview = &other
	want := "of " + choice.PlanName(s.Shown.Choice.Strategy) + " in 2.58 GiB, not of the preview"
	if got := c.Verdict(); got.Text != want || c.Stale() != "true" || got.Class != "muted" {
		t.Errorf("beside a preview the addresses say %q, stale %s, in class %s; want %q, stale, muted", got.Text,
			c.Stale(), got.Class, want)
	}
}
