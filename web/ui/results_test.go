//go:build !js

package ui

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/address"
	"memtide/web/ui/answer"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/panel"
)

// TestAddressFailure checks that the default example fits in total but not at addresses, and that the sentence
// says how much is missing.
func TestAddressFailure(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.TogglePlaces{}, state.SetAllocator{Name: "best-fit"})
	c := address.Map{S: s}
	f := s.Places.Placed.Failed
	if f == nil {
		t.Fatal("best fit serves all requests of the default example; the test needs another one")
	}
	for _, want := range []string{" needs ", "largest hole ", "free ", "would do for this schedule"} {
		if !strings.Contains(c.Outcome(), want) {
			t.Errorf("outcome %q; want %q in it", c.Outcome(), want)
		}
	}
	if f.Largest >= f.Bytes || f.Free < f.Bytes {
		t.Errorf("needs %d, largest hole %d, free %d; want a failure by fragmentation", f.Bytes, f.Largest, f.Free)
	}
	if b := s.PlacesNeed(); b < s.Places.Placed.Needs+s.Places.Placed.Resident ||
		!strings.HasPrefix(c.RaiseText(), "Set ") {
		t.Errorf("the offer is %d, %q; want at least what is needed", b, c.RaiseText())
	}
	// The page has one verdict, and what was checked is no other.
	r := Results{S: s}
	if got := r.Verdict(); got.Text != "checked" || c.Verdict().Class == "good" {
		t.Errorf("the badges are %q and %q; want the checks of sums, and none of addresses", got, c.Verdict())
	}
	pagetest.Do(t, s, state.SetAllocator{Name: "optimal"})
	if got := c.Outcome(); !strings.HasPrefix(got, "All buffers find room") {
		t.Errorf("optimal placement: %q; want that all find room", got)
	}
}

// TestCheckedIsNotOptimal checks that a badge says only what was checked. Its tooltip says whether the strategy
// claims that no schedule of its class is faster.
func TestCheckedIsNotOptimal(t *testing.T) {
	s := pagetest.First(t)
	r := Results{S: s}
	for _, optimal := range []bool{true, false} {
		s.Shown.Solved.Claim.Optimal = optimal
		title := "nothing is faster within its class, " + s.Shown.Solved.Claim.Within
		if !optimal {
			title = "does not claim that nothing is faster"
		}
		got := r.Verdict()
		if got.Text != "checked" {
			t.Errorf("optimal %t: the badge is %q; want what was checked and nothing else", optimal, got)
		}
		if !strings.Contains(got.Title, title) || !strings.Contains(got.Title, "independent checker agrees on both") {
			t.Errorf("optimal %t: the badge means %q; want %q and the checker in it", optimal, got.Title, title)
		}
	}
	s.Shown.Solved.Verdict.Verified = false
	if got := r.Verdict(); got.Text != "check failed" || got.Class != "bad" {
		t.Errorf("a refuted schedule has the badge %q; want that the check failed", got)
	}
	s.Shown.Solved.Claim.Peak = s.Shown.Solved.Trace.Peak - 1<<30
	if got, want := r.Verdict().Text, "claims 1.58 GiB, needs 2.58 GiB"; got != want {
		t.Errorf("a schedule that needs more than it claims has the badge %q; want %q", got, want)
	}
}

// TestMemoryPage checks the page of a file about addresses: it has the numbers of the file and its buffers, and a
// link without the file.
func TestMemoryPage(t *testing.T) {
	s := pagetest.First(t)
	list := []alloc.Buffer{{Name: "<a>", Bytes: 4 * engine.MiB, Start: 0, End: 4},
		{Name: "b", Bytes: 2 * engine.MiB, Start: 2, End: 9}}
	memory := &proto.Memory{Name: "mine", Buffers: &proto.Buffers{List: list, Tick: time.Microsecond},
		Peak: 6 * engine.MiB, Count: 2}
	s.Update(state.PickFile{Name: "mine.csv", Bytes: []byte("x")})
	pagetest.Do(t, s, state.Opened{ID: s.Opening.ID, Reply: &proto.Opened{Memory: memory}})
	page := pageOf(t, s)
	pagetest.WellFormed(t, page)
	for _, want := range []string{`data-kind="memory"`, "6 MiB", "peak in use", "reserved", "fragmentation",
		"&lt;a&gt;", "✓ layout checked"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	l := permalink.Of(s, link.Link{})
	if got := l.String(); got != "v=1&kind=memory&m=60%25" {
		t.Errorf("the link is %s, want v=1&kind=memory&m=60%%25", got)
	}
	var results []string
	for _, n := range (&Results{S: s}).Numbers() {
		results = append(results, n.Value)
	}
	if want := []string{"6 MiB", "6 MiB", "0 %", "0 %", "2"}; !reflect.DeepEqual(results, want) {
		t.Errorf("the result line is %q, want %q", results, want)
	}
}

func TestWorking(t *testing.T) {
	s := pagetest.First(t)
	s.Solving = &state.Solving{ID: 99, Choice: s.Choice, Best: s.Shown.Solved}
	r := Results{S: s}
	if got, want := answer.Work(s),
		"Computing the plan… best so far 182 ms"; got != want { // time of the default example, as in TestFirstView
		t.Errorf("work is %q; want %q", got, want)
	}
	if got, want := r.StopText(), "Stop and use this"; got != want {
		t.Errorf("the button says %q; want %q", got, want)
	}
	s.Solving.Best, s.Solving.Progress = nil, proto.Progress{Done: 1, Total: 4}
	if got, want := answer.Work(s), "Computing the plan… 25 %"; got != want {
		t.Errorf("work is %q; want %q", got, want)
	}
	for _, c := range []struct {
		m    state.Loading
		want string
	}{{state.Loading{ID: 99, Loading: true}, "Loading the solver…"}, {state.Loading{ID: 98}, "Loading the solver…"},
		{state.Loading{ID: 99}, "Computing the plan… 25 %"}} {
		s.Update(c.m)
		if got := answer.Work(s); got != c.want {
			t.Errorf("after %+v work is %q; want %q", c.m, got, c.want)
		}
	}
}

// TestMeasuredRange checks that the step time is marked as a lower bound, and the rate as an upper one, if measured
// steps of the kind take longer. Their range is in the title.
func TestMeasuredRange(t *testing.T) {
	for _, c := range []struct {
		low, high  time.Duration
		time, rate string
	}{{0, 0, "1 s", "5"}, {800 * time.Millisecond, 2 * time.Second, "1 s", "5"},
		{1500 * time.Millisecond, 3 * time.Second, "> 1 s", "< 5"}} {
		n := measured([]panel.Number{{}, {Value: "1 s"}, {Value: "5"}}, time.Second, c.low, c.high)
		if n[1].Value != c.time || n[2].Value != c.rate || strings.Contains(n[1].Title, "ine of ten") != (c.high > 0) {
			t.Errorf("from %v to %v: %q, %q, %q; want %q and %q", c.low, c.high, n[1].Value, n[2].Value, n[1].Title,
				c.time, c.rate)
		}
	}
}
