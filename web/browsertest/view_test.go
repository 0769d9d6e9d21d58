//go:build !js

package browsertest

import (
	"fmt"
	"testing"
)

// TestAddressHoldsTheView checks that the address holds the open sections and the critical chain, and that a
// reload shows them again.
func TestAddressHoldsTheView(t *testing.T) {
	t.Parallel()
	p := settledPage(t, offload)
	for _, c := range []struct{ do, want string }{
		{`byID("layers-toggle").click()`, "open=layers"},
		{`document.querySelector('.under [data-do="table"]').click()`, "open=layers,table"},
		{`document.getElementById("stage").focus(), document.getElementById("stage").dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, code: "KeyK", key: "k"}))`, "chain=1"},
	} {
		Eval[bool](p, c.do+", true")
		p.Wait(fmt.Sprintf(`location.hash.split("&").includes(%q)`, c.want))
	}
	hash := Eval[string](p, `location.hash`)
	p.Reload()
	p.Wait(untilReady)
	Eval[bool](p, hands)
	p.Wait(`byID("layers-toggle").getAttribute("aria-expanded") === "true" && !document.querySelector("#table").hidden && !byID("chain").hidden`)
	if got := Eval[string](p, `location.hash`); got != hash {
		t.Errorf("after a reload the address is %s; want %s", got, hash)
	}
}
