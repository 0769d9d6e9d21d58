//go:build !js

package browsertest

import (
	"fmt"
	"testing"
	"time"
)

// What is unfolded and the critical chain are in the address, and a reload opens
// the page with them.
func TestAddressHoldsTheView(t *testing.T) {
	p := settledPage(t, offload)
	for _, c := range []struct{ do, want string }{
		{`byID("questions").click()`, "open=questions"},
		{`byID("layers-toggle").click()`, "open=questions,layers"},
		{`document.querySelector('.under [data-do="table"]').click()`, "open=questions,layers,table"},
		{`document.getElementById("stage").focus(), document.getElementById("stage").dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, code: "KeyK", key: "k"}))`, "chain=1"},
	} {
		Eval[bool](p, c.do+", true")
		p.Wait(fmt.Sprintf(`location.hash.split("&").includes(%q)`, c.want), 5*time.Second)
	}
	hash := Eval[string](p, `location.hash`)
	Eval[bool](p, `location.reload(), true`)
	time.Sleep(100 * time.Millisecond)
	p.Wait(untilReady, 30*time.Second)
	Eval[bool](p, hands)
	p.Wait(`byID("questions").getAttribute("aria-expanded") === "true" && byID("layers-toggle").getAttribute("aria-expanded") === "true" && !document.querySelector("#table").hidden && !byID("chain").hidden`, 10*time.Second)
	if got := Eval[string](p, `location.hash`); got != hash {
		t.Errorf("after a reload the address is %s; want %s", got, hash)
	}
}
