//go:build !js

package ui

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestLinkOfView checks that a link with everything unfolded opens the same page again, which then has the same
// link.
func TestLinkOfView(t *testing.T) {
	for _, want := range []string{
		"v=1&p=resnet101-b32&s=greedy",
		"v=1&p=resnet101-b32&s=greedy&chain=1",
		"v=1&p=resnet101-b32&s=greedy&chain=1&open=lines,layers,table,sides",
		"v=1&p=resnet101-b32&s=greedy&open=layers&show=time,table",
		"v=1&p=resnet101-b32&s=greedy&show=time,curve,mem,table,strip",
		"v=1&p=resnet101-b32&s=greedy&alloc=best-fit&at=41.25",
		"v=1&p=larger-pool-b1&alloc=best-fit&at=0.002",
	} {
		_, start, notes := permalink.Follow(want)
		if len(notes) > 0 {
			t.Errorf("%s: notes %q; want none", want, notes)
		}
		s := state.New()
		pagetest.Do(t, s, start)
		l := permalink.Of(s, link.Link{})
		if got := l.String(); got != want {
			t.Errorf("the page of %s has the link %s", want, got)
		}
	}
}

// TestBudgetOfCutLink checks that a budget in bytes, which was meant for the network of its link, is not used for
// the example that is shown in place of a profile that was cut off.
func TestBudgetOfCutLink(t *testing.T) {
	for _, text := range []string{"v=1&m=8720MiB&d=1.bQHcBT6njdWMks9rK1UUgM8", "v=1&m=8720MiB"} {
		l, notes := link.Parse(text)
		c, _ := permalink.ChoiceOf(l)
		if c.Budget != choice.Default().Budget || len(notes) == 0 {
			t.Errorf("%s: budget %+v, notes %q; want the default budget and a note", text, c.Budget, notes)
		}
	}
}

func TestLinkRoundTrip(t *testing.T) {
	s := pagetest.First(t)
	if l := permalink.Of(s, link.Link{}); l.String() != "v=1&p=resnet101-b32&m=60%25" {
		t.Errorf("link of the default is %q; want only the preset and its budget", l.String())
	}
	custom := s.Choice
	custom.Device, custom.ToDev, custom.ToHost, custom.Duplex = "", 7e9, 6e9, engine.FullDuplex
	other := card.All()[len(card.All())-1]
	device := s.Choice
	device.Device, device.ToDev, device.ToHost, device.Duplex = other.ID, other.ToDev, other.ToHost, other.Duplex
	budget := s.Choice
	budget.Budget, budget.Strategy, budget.Transfers = choice.Budget{Bytes: 123456789}, "greedy", engine.Streamed
	args := s.Choice
	args.Strategy, args.Args = argsOfSome()
	for _, c := range []state.Choice{s.Choice, custom, device, budget, args} {
		s.Choice = c
		l := permalink.Of(s, link.Link{})
		back, notes := permalink.ChoiceOf(l)
		if !back.Equal(c) || len(notes) > 0 {
			t.Errorf("%s\n is read as %+v, notes %q\n want %+v", l.String(), back, notes, c)
		}
	}
	// The page passes on the keys that nothing on it changes.
	s.Choice = budget
	want := "v=1&p=resnet101-b32&m=123456789B&s=greedy&xfer=streamed&sel=B18&title=a%20title&theme=dark&later=1"
	opened, m, _ := permalink.Follow(want)
	s.View.Frame, s.View.Wanted = m.Frame, m.Wanted // Wanted stays until there is a picture that has the selection
	if l := permalink.Of(s, opened); l.String() != want {
		t.Errorf("opened with\n%s\nthe page writes\n%s", want, l.String())
	}
}

// argsOfSome returns a strategy that has a parameter, and arguments with another value than its default.
func argsOfSome() (string, engine.Args) {
	for _, s := range engine.Strategies() {
		for _, p := range s.Params {
			for _, v := range append(p.Choices, fmt.Sprint(p.Min), fmt.Sprint(p.Max)) {
				if _, err := s.Parse(engine.Args{p.Name: v}); err == nil && v != p.Default {
					return s.Name, engine.Args{p.Name: v}
				}
			}
		}
	}
	return choice.DefaultStrategy, nil
}

// TestAddressLink checks that an allocator and its arguments are read from a link again, and that unknown ones
// give a note.
func TestAddressLink(t *testing.T) {
	for _, tc := range []struct{ in, alloc, chunk, note, out string }{
		{"v=1&p=resnet50-b8", "", "", "", "v=1&p=resnet50-b8"},
		{"v=1&p=resnet50-b8&alloc=optimal", "optimal", "", "", "v=1&p=resnet50-b8&alloc=optimal"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=2", "va", "2", "", "v=1&p=resnet50-b8&alloc=va&alloc.chunk=2"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=40", "va", "", "", "v=1&p=resnet50-b8&alloc=va"},
		{"v=1&p=resnet50-b8&alloc=va&alloc.chunk=1", "va", "", "arguments are not used", "v=1&p=resnet50-b8&alloc=va"},
		{"v=1&p=resnet50-b8&alloc=high-end&alloc.order=prefetch-first", "high-end", "", "",
			"v=1&p=resnet50-b8&alloc=high-end&alloc.order=prefetch-first"},
		{"v=1&p=resnet50-b8&alloc=best-fit&alloc.order=as-played", "best-fit", "", "",
			"v=1&p=resnet50-b8&alloc=best-fit"},
		{"v=1&p=resnet50-b8&alloc=best-fit&alloc.order=any", "best-fit", "", "arguments are not used",
			"v=1&p=resnet50-b8&alloc=best-fit"},
		{"v=1&p=resnet50-b8&alloc=worst-fit", choice.DefaultAllocator, "", "allocator worst-fit",
			"v=1&p=resnet50-b8&alloc=best-fit"},
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
