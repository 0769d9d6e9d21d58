//go:build !js

package browsertest

import (
	"strings"
	"testing"
)

// TestBackKeepsWhatWasSet checks that Back restores a setting that was changed before a decision, however soon
// after it the decision was made.
func TestBackKeepsWhatWasSet(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=vgg16-b32&m=4GiB&s=greedy")
	Eval[bool](p, `choose("transfers", "streamed"), control("strategy", "dynprog"), true`)
	p.Wait(`location.hash.includes("s=dynprog")`)
	p.Back()
	p.Wait(untilReady + ` && byID("strategy").value === "greedy"`)
	if got := Eval[string](p, `location.hash`); !strings.Contains(got, "&xfer=streamed") {
		t.Errorf("Back leads to %s; want streamed transfers in it", got)
	}
	if got := Eval[string](p, `document.getElementById("transfers").value`); got != "streamed" {
		t.Errorf("back, the transfers are %s; want streamed, as they were before the decision", got)
	}
}

// TestAddressFollowsAtOnce checks that a changed setting is in the address by the next task of the page, and not
// a quarter of a second later, so that a reload loses nothing. Only further changes soon after it may wait. In
// this test timers of a tenth of a second or more never fire, and the clock goes on by a minute before the change, so
// that the last rewrite is long ago however fast the page has started.
func TestAddressFollowsAtOnce(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`{ const soon = setTimeout; globalThis.setTimeout = (f, ms, ...rest) => ms >= 100 ? 0 : soon(f, ms, ...rest); }
		{ const clock = performance.now.bind(performance); let ahead = 0; performance.now = () => clock() + ahead;
			globalThis.wind = () => ahead += 60000; }`)
	p.Navigate("#v=1&p=vgg16-b32&m=4GiB&s=greedy")
	p.Wait(untilReady)
	Eval[bool](p, hands+`; wind(); choose("transfers", "streamed")`)
	p.Wait(`location.hash.includes("xfer=streamed")`)
}
