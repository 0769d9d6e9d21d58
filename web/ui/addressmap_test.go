//go:build !js

package ui

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
)

// carryOut does what the state asks for, as the browser side would, except for
// curves.
func carryOut(t *testing.T, s *state.State, messages ...state.Message) {
	t.Helper()
	ctx, pool := context.Background(), new(serve.Local)
	for len(messages) > 0 {
		effects := s.Update(messages[0])
		messages = messages[1:]
		for _, e := range effects {
			switch e := e.(type) {
			case state.Open:
				messages = append(messages, jobs.Open(ctx, pool, e, func(state.Message) {}))
			case state.Solve:
				messages = append(messages, jobs.Solve(ctx, pool, e, func(state.Message) {}))
			case state.Place:
				messages = append(messages, jobs.Place(ctx, pool, e, func(state.Message) {}))
			case state.Examine:
				messages = append(messages, jobs.Examine(ctx, pool, e))
			}
		}
	}
}

// The address view is closed at first and then says where the bytes lie, for
// every allocator.
func TestAddressView(t *testing.T) {
	s := first(t)
	if page := pageOf(t, s); !strings.Contains(page, `aria-controls="places-body" aria-expanded="false"`) || strings.Contains(page, `data-testid="alloc"`) {
		t.Error("the address view is not closed at first")
	}
	carryOut(t, s, state.TogglePlaces{})
	page := pageOf(t, s)
	wellFormed(t, page)
	for _, id := range []string{"places", "alloc", "addresses", "map", "holes", "host", "outcome", "place-verdict", "density", "compression"} {
		if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
			t.Errorf("data-testid %q stands %d times in the page; want once", id, n)
		}
	}
	for _, a := range alloc.Allocators() {
		carryOut(t, s, state.SetAllocator{Name: a.Name})
		page := pageOf(t, s)
		c := Addressmap{S: s}
		want := "✓ layout checked"
		if s.Places.Placed.Failed != nil {
			want = "checked up to the failure"
		}
		if got := c.Verdict(); got != want {
			t.Errorf("%s: verdict %q, want %q", a.Name, got, want)
		}
		if got := c.Outcome(); !strings.HasPrefix(got, "All buffers find room") && !strings.HasPrefix(got, "Does not fit: ") {
			t.Errorf("%s: outcome %q", a.Name, got)
		}
		if len(c.Facts()) != 7 || len(c.Params()) != len(a.Params) {
			t.Errorf("%s: %d facts, %d parameters; want 7 and %d", a.Name, len(c.Facts()), len(c.Params()), len(a.Params))
		}
		for _, want := range []string{`aria-controls="places-body" aria-expanded="true"`, "<th scope=\"col\">Address</th>", "fragmentation ", c.Doc()} {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "'", "&#39;")) {
				t.Errorf("%s: the page does not contain %q", a.Name, want)
			}
		}
	}
}

// Best fit lets choose what is asked for first, and the request says so; files
// about addresses have their own order.
func TestAddressOrder(t *testing.T) {
	s := first(t)
	carryOut(t, s, state.TogglePlaces{})
	page := pageOf(t, s)
	for _, want := range []string{`id="alloc-order"`, `<option selected="selected" value="as-played"`, `<option value="prefetch-first"`, `<option value="derivative-first"`} {
		if n := strings.Count(page, want); n != 1 {
			t.Errorf("%q stands %d times in the page; want once", want, n)
		}
	}
	m := Command{Do: "alloc-arg", Arg: "order", Value: "prefetch-first", Settled: true}.Message(s)
	carryOut(t, s, m)
	if page = pageOf(t, s); !strings.Contains(page, `<option selected="selected" value="prefetch-first"`) {
		t.Errorf("after %#v prefetch-first is not selected", m)
	}
	if got := permalink.Of(s, link.Link{}); got.AllocArgs["order"] != "prefetch-first" {
		t.Errorf("after %#v the link says %q", m, got.String())
	}
	s.Memory = &state.Memory{}
	if got := (&Addressmap{S: s}).Params(); len(got) != 0 {
		t.Errorf("for a file: parameters %+v; want none", got)
	}
}

// While the pointer is on the curve the other pictures show a preview; the addresses
// say that they are not of it, and whose they are.
func TestAddressesBesidePreview(t *testing.T) {
	s := first(t)
	carryOut(t, s, state.TogglePlaces{})
	c := Addressmap{S: s}
	if got := c.Verdict(); c.Stale() != "false" || strings.Contains(got, "preview") {
		t.Errorf("without a preview the addresses say %q, stale %s; want nothing of one", got, c.Stale())
	}
	other := *s.Shown
	s.Preview = &other
	want := "of " + choice.PlanName(s.Shown.Choice.Strategy) + " in 2.58 GiB, not of the preview"
	if got := c.Verdict(); got != want || c.Stale() != "true" || c.VerdictClass() != "muted" {
		t.Errorf("beside a preview the addresses say %q, stale %s, in class %s; want %q, stale, muted", got, c.Stale(), c.VerdictClass(), want)
	}
}

// The story of the default example: in total it fits exactly, at addresses it
// does not, and the sentence says by how much.
func TestAddressFailure(t *testing.T) {
	s := first(t)
	carryOut(t, s, state.TogglePlaces{}, state.SetAllocator{Name: "best-fit"})
	c := Addressmap{S: s}
	f := s.Places.Placed.Failed
	if f == nil {
		t.Fatal("best fit serves all requests of the default example; the test needs another one")
	}
	for _, want := range []string{"Does not fit: ", " needs ", "largest hole ", "free ", "would do for this schedule"} {
		if !strings.Contains(c.Outcome(), want) {
			t.Errorf("outcome %q; want %q in it", c.Outcome(), want)
		}
	}
	if f.Largest >= f.Bytes || f.Free < f.Bytes {
		t.Errorf("needs %d, largest hole %d, free %d; want a failure by fragmentation", f.Bytes, f.Largest, f.Free)
	}
	if b := raise(s); b < s.Places.Placed.Needs+s.Places.Placed.Resident || !strings.HasPrefix(c.RaiseText(), "Set ") {
		t.Errorf("the offer is %d, %q; want at least what is needed", b, c.RaiseText())
	}
	// What stands beside the numbers does not vouch for what is denied here.
	r := Results{S: s}
	if got, class, title := r.Verdict(), r.VerdictClass(), r.VerdictTitle(); got != "addresses do not fit" || class != "bad" || !strings.Contains(title, c.Outcome()) || c.VerdictClass() == "good" {
		t.Errorf("the badges are %q (%s, %q) and %q (%s); want that the addresses do not fit, and why", got, class, title, c.Verdict(), c.VerdictClass())
	}
	carryOut(t, s, state.SetAllocator{Name: "optimal"})
	if got := c.Outcome(); !strings.HasPrefix(got, "All buffers find room") {
		t.Errorf("optimal placement: %q; want that all find room", got)
	}
	if got, class := r.Verdict(), r.VerdictClass(); got != "checked" || class != "good" {
		t.Errorf("where all find room the badge is %q (%s); want that time and peak are checked", got, class)
	}
	carryOut(t, s, state.SetAllocator{Name: "best-fit"}, state.TogglePlaces{})
	if got := r.Verdict(); got != "checked" {
		t.Errorf("with the address view closed the badge is %q; want what is checked: no allocator was asked for", got)
	}
}

// A badge says what was checked; whether something faster exists is said apart, by
// whom, and among what.
func TestCheckedIsNotOptimal(t *testing.T) {
	s := first(t)
	r := Results{S: s}
	for _, optimal := range []bool{true, false} {
		s.Shown.Solved.Claim.Optimal = optimal
		title := "nothing is faster within its class, " + s.Shown.Solved.Claim.Within
		if !optimal {
			title = "does not claim that nothing is faster"
		}
		if got := r.Verdict(); got != "checked" || strings.Contains(got, "optimal") {
			t.Errorf("optimal %t: the badge is %q; want what was checked and nothing else", optimal, got)
		}
		if !strings.Contains(r.VerdictTitle(), title) || !strings.Contains(r.VerdictTitle(), "independent checker agrees on both") {
			t.Errorf("optimal %t: the badge means %q; want %q and the checker in it", optimal, r.VerdictTitle(), title)
		}
	}
	s.Shown.Solved.Verdict.Verified = false
	if got := r.Verdict(); got != "check failed" || r.VerdictClass() != "bad" {
		t.Errorf("a refuted schedule has the badge %q (%s); want that the check failed", got, r.VerdictClass())
	}
	s.Shown.Solved.Claim.Peak = s.Shown.Solved.Trace.Peak - 1<<30
	if got, want := r.Verdict(), "claims 1.58 GiB, needs 2.58 GiB"; got != want {
		t.Errorf("a schedule that needs more than it claims has the badge %q; want %q", got, want)
	}
}

func TestAddressCommands(t *testing.T) {
	s := first(t)
	s.Choice.Alloc = "va"
	for _, c := range []struct {
		in   Command
		want state.Message
	}{
		{Command{Do: "places", Settled: true}, state.TogglePlaces{}},
		{Command{Do: "places-stop", Settled: true}, state.StopPlacing{}},
		{Command{Do: "places-again", Settled: true}, state.PlaceAgain{}},
		{Command{Do: "alloc", Value: "optimal", Settled: true}, state.SetAllocator{Name: "optimal"}},
		{Command{Do: "alloc", Value: "optimal"}, nil},
		{Command{Do: "alloc-arg", Arg: "chunk", Value: "4", Settled: true}, state.SetAllocArg{Name: "chunk", Value: "4"}},
		{Command{Do: "alloc-arg", Arg: "chunk", Value: "4"}, state.Type{Field: "alloc-arg:chunk", Text: "4"}},
		{Command{Do: "density", Value: "40", Settled: true}, state.SetDensity{Percent: 40}},
		{Command{Do: "density", Value: "4"}, state.Type{Field: "density", Text: "4"}},
		{Command{Do: "alive", Arg: "1", Settled: true}, state.SortAlive{By: draw.ByAddress}},
		{Command{Do: "alive", Arg: "9", Settled: true}, nil},
	} {
		if got := c.in.Message(s); got != c.want {
			t.Errorf("%+v: message %#v; want %#v", c.in, got, c.want)
		}
	}
	for _, c := range []Command{{Do: "density", Value: "101", Settled: true}, {Do: "alloc-arg", Arg: "chunk", Value: "1", Settled: true}} {
		if got, ok := c.Message(s).(state.Refuse); !ok || got.Text == "" {
			t.Errorf("%+v: message %#v; want a refusal", c, c.Message(s))
		}
	}
}

// An allocator and its arguments come back from a link; what is not known is said.
func TestAddressLink(t *testing.T) {
	for _, tc := range []struct{ in, alloc, chunk, note, out string }{
		{"v=1&p=resnet50-b8", "", "", "", "v=1&p=resnet50-b8"},
		{"v=1&p=resnet50-b8&alloc=optimal", "optimal", "", "", "v=1&p=resnet50-b8&alloc=optimal"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=2", "va", "2", "", "v=1&p=resnet50-b8&alloc=va&alloc.chunk=2"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=40", "va", "", "", "v=1&p=resnet50-b8&alloc=va"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=1", "va", "", "arguments are not used", "v=1&p=resnet50-b8&alloc=va"},
		{"v=1&p=resnet50-b8&alloc=high-end&alloc.order=prefetch-first", "high-end", "", "", "v=1&p=resnet50-b8&alloc=high-end&alloc.order=prefetch-first"},
		{"v=1&p=resnet50-b8&alloc=best-fit&alloc.order=as-played", "best-fit", "", "", "v=1&p=resnet50-b8&alloc=best-fit"},
		{"v=1&p=resnet50-b8&alloc=best-fit&alloc.order=any", "best-fit", "", "arguments are not used", "v=1&p=resnet50-b8&alloc=best-fit"},
		{"v=1&p=resnet50-b8&alloc=worst-fit", choice.DefaultAllocator, "", "allocator worst-fit", "v=1&p=resnet50-b8&alloc=best-fit"},
	} {
		l, _ := link.Parse(tc.in)
		c, notes := permalink.ChoiceOf(l)
		if c.Alloc != tc.alloc || c.AllocArgs["chunk"] != tc.chunk {
			t.Errorf("%s: allocator %q %v, want %q with chunk %q", tc.in, c.Alloc, c.AllocArgs, tc.alloc, tc.chunk)
		}
		if all := strings.Join(notes, "\n"); tc.note == "" && all != "" || !strings.Contains(all, tc.note) {
			t.Errorf("%s: notes %q, want %q", tc.in, all, tc.note)
		}
		s := state.New()
		s.Choice = c
		again := permalink.Of(s, link.Link{})
		if got := again.String(); got != tc.out {
			t.Errorf("%s: written as %s, want %s", tc.in, got, tc.out)
		}
	}
}

// A file about addresses: its numbers, no strategies, and every allocator.
func TestMemoryPage(t *testing.T) {
	s := first(t)
	list := []alloc.Buffer{{Name: "<a>", Bytes: 4 * engine.MiB, Start: 0, End: 4}, {Name: "b", Bytes: 2 * engine.MiB, Start: 2, End: 9}}
	memory := &proto.Memory{Name: "mine", Buffers: &proto.Buffers{List: list, Tick: time.Microsecond}, Peak: 6 * engine.MiB, Count: 2}
	s.Update(state.PickFile{Name: "mine.csv", Bytes: []byte("x")})
	carryOut(t, s, state.Opened{ID: s.Opening.ID, Reply: &proto.Opened{Format: "minimalloc", Memory: memory}})
	page := pageOf(t, s)
	wellFormed(t, page)
	for _, want := range []string{`data-kind="memory"`, "6 MiB", "peak in use", "reserved", "fragmentation", "&lt;a&gt;", "✓ layout checked"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	l := permalink.Of(s, link.Link{})
	if got := l.String(); got != "v=1&kind=memory" {
		t.Errorf("the link is %s, want v=1&kind=memory", got)
	}
	var results []string
	for _, n := range (&Results{S: s}).Numbers() {
		results = append(results, n.Value)
	}
	if want := []string{"6 MiB", "6 MiB", "0 %", "0 %", "2"}; !reflect.DeepEqual(results, want) {
		t.Errorf("the result line is %q, want %q", results, want)
	}
}

// The tooltip names the buffer, or says how the memory is used at that moment.
func TestAddressTip(t *testing.T) {
	s := first(t)
	carryOut(t, s, state.TogglePlaces{}, state.SetAllocator{Name: "optimal"})
	m := s.PlacesModel()
	if got := TipOfPlaces(m, draw.AddressTime, draw.Target{Kind: draw.OnBuffer, Index: s.Places.Placed.Pieces[3].Buffer}, time.Millisecond); !strings.Contains(got, ", at ") {
		t.Errorf("over a block: %q, want its address", got)
	}
	if got := TipOfPlaces(m, draw.AddressTime, draw.Target{}, time.Millisecond); !strings.Contains(got, "largest hole") {
		t.Errorf("over nothing: %q, want the holes", got)
	}
	if got := TipOfPlaces(m, draw.AddressMap, draw.Target{}, draw.NoCursor); got != "" {
		t.Errorf("over a hole of the map: %q, want nothing", got)
	}
}
