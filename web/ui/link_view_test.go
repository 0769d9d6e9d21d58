//go:build !js

package ui

import (
	"testing"

	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// A link with everything unfolded opens the page as it was, which has the same
// link again.
func TestLinkOfView(t *testing.T) {
	for _, want := range []string{
		"v=1&p=resnet101-b32&s=greedy",
		"v=1&p=resnet101-b32&s=greedy&chain=1",
		"v=1&p=resnet101-b32&s=greedy&chain=1&open=lines,questions,layers,table&slow=7.5%25",
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
