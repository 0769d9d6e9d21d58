//go:build !js

package browsertest

import "testing"

// TestWordsOfTheSentence checks that a control behind "+ more" moves into the sentence when it is used and keeps
// the focus, and that it moves back when its value is removed.
func TestWordsOfTheSentence(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet18-b32")
	const field, offered = `document.querySelector('[data-do="budget-text"]')`, `.closest("#more") !== null`
	if !Eval[bool](p, `byID("strategy")`+offered+` && `+field+offered) {
		t.Fatal("a network that fits has a plan or a budget in its sentence; want them among what can still be said")
	}
	p.Click(`[data-testid="more"]`)
	p.Wait(`byID("more").getAttribute("aria-expanded") === "true" && byID("strategy").checkVisibility()`)
	Eval[bool](p, `byID("strategy").focus(), control("strategy", "rotor"), true`)
	p.Wait(`!(byID("strategy")` + offered + `) && document.activeElement === byID("strategy") && ` + untilReady)
	Eval[bool](p, `(() => { const e = `+field+`; e.focus(); e.value = "1 GiB"; e.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	p.Wait(`!(` + field + offered + `) && document.activeElement === ` + field +
		` && location.hash.includes("m=1GiB") && ` + untilReady)
	Eval[bool](p, `byID("budget-off").focus(), byID("budget-off").click(), true`)
	p.Wait(field + offered + ` && document.activeElement === byID("more") && !location.hash.includes("&m=") && ` +
		untilReady)
	Eval[bool](p, `byID("option-optimizer").focus(), control("option-optimizer", "adamw"), true`)
	p.Wait(`location.hash.includes("p=resnet18-adamw-b32") && !(byID("option-optimizer")` + offered +
		`) && document.activeElement === byID("option-optimizer") && ` + untilReady)
	p.Quiet()
}
