//go:build !js

package browsertest

import (
	"os"
	"strings"
	"testing"
)

// smallStep is a training step whose weights, gradients and optimizer state need more memory than its card has. Its
// policy makes the page open it by itself.
const smallStep = "#v=1&step=llama3.2-1b&step.ckpt=budget&step.compile=yes&step.graph=model&step.device=v100-pcie-16gb&step.seq=1024"

// whole waits for the complete answer about a step whose verdict contains the given text. If a slow machine has
// stopped at the time limit of what a link asks for, it clicks the button to go on.
func whole(p *Page, verdict string) {
	p.t.Helper()
	p.Wait(`(() => {
		if (document.body.dataset.state !== "ready") return false
		if (!byID("ended").hidden) { byID("ended").querySelector('[data-do="step-on"]').click(); return false }
		return byID("working").hidden && byID("answer-say").textContent.includes("` + verdict + `") && byID("step-changes").getAttribute("aria-busy") === "false" && byID("answer").dataset.late === "false"
	})()`)
}

// TestStep checks that a link opens a training step, that a click applies a change that makes the step fit, that
// Back undoes it, that a control changes the step, and that the schedule of the step opens as a chain.
func TestStep(t *testing.T) {
	t.Parallel()
	p := Open(t, smallStep)
	Eval[bool](p, hands)
	whole(p, "Does not fit: weights, gradients and optimizer alone need 18.4 GiB")
	asked := Eval[string](p, `location.hash`)
	const gap = `byID("step-chain").getBoundingClientRect().top - [...byID("step-changes").children].at(-1).getBoundingClientRect().bottom`
	if got := Eval[float64](p, gap); got < 8 {
		t.Errorf("the button below the changes is %.0f px from the last of them; want a gap", got)
	}
	p.Click(`[data-do="step-change"][data-arg="fix"]`)
	whole(p, "Fits: ")
	if now := Eval[string](p, `location.hash`); now == asked || !strings.Contains(now, "step=llama3.2-1b") {
		t.Errorf("after the click the address is %s; want another step of the model than %s", now, asked)
	}
	Eval[bool](p, `history.back(), true`)
	whole(p, "Does not fit: ")
	Eval[bool](p, `(() => { const e = byID("device"); e.focus(); control("device", "h100"); return true })()`)
	whole(p, "Fits: ")
	if got := Eval[string](p,
		`document.activeElement.dataset.testid + " " + document.activeElement.value`); got != "device h100" {
		t.Errorf("after the change the focus and its value are %q; want the list with what was chosen", got)
	}
	p.Click(`[data-testid="step-chain"]`)
	p.Wait(`!document.querySelector(".whole") && byID("preset").textContent.includes("Llama 3.2 1B") && byID("device").value === "h100" && byID("peak").textContent.includes("iB") && ` + untilReady)
	Eval[bool](p, `history.back(), true`)
	whole(p, "Fits: ")
	p.Quiet()
}

// TestCardsInSentence checks that the sentence of a language model chooses the number of cards, whose plan has the same
// pictures as that of one card, and a pipeline, which opens the step by itself. Back undoes both. A link to a step
// without a policy opens the same page, with everything kept.
func TestCardsInSentence(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&step=llama3.2-1b&step.seq=1024&step.gpus=2")
	Eval[bool](p, hands)
	ready := func(cards, say string) {
		p.Wait(untilReady + ` && byID("option-gpus")?.selectedOptions[0].text === "` + cards +
			`" && byID("answer-say").textContent.includes("` + say + `")`)
	}
	ready("2 ×", "no slower")
	if plan := Eval[string](p, `byID("strategy")?.value || "nothing"`); plan != "nothing" && plan != "keepall" {
		t.Errorf("the plan is %s; want that everything is kept", plan)
	}
	Eval[bool](p, `control("option-gpus", "4"), true`)
	ready("4 ×", "no slower")
	p.Click(`[data-testid="more"]`)
	p.Wait(`byID("option-pp")`)
	Eval[bool](p, `control("option-pp", "2"), true`)
	whole(p, "on rank ")
	if n := Eval[int](p, `document.querySelectorAll('[data-testid="step-ranks"] > li').length`); n != 2 {
		t.Errorf("the step shows %d ranks; want 2", n)
	}
	Eval[bool](p, `history.back(), true`)
	ready("4 ×", "no slower")
	Eval[bool](p, `history.back(), true`)
	ready("2 ×", "no slower")
	p.Quiet()
}

// TestPolicyChosen checks that a policy that is chosen among the plans is shown on the same page: in the sentence, in the
// verdict, and with its blocks, timeline and memory. Reloading keeps it, and Back undoes it.
func TestPolicyChosen(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=llama3.2-1b-step-1024tok-b1&dev=h100")
	Eval[bool](p, hands)
	p.Wait(untilReady + ` && document.querySelector("#plans-title").textContent === "Plans and policies"`)
	p.Click(`[data-do="lines-list"]`)
	const row = `[...document.querySelectorAll('[data-do="policy"]')].find((e) => e.textContent.includes("Every second product kept"))`
	p.Wait(row)
	Eval[bool](p, row+`.click(), true`)
	const chosen = untilReady + ` && byID("strategy")?.selectedOptions[0].text === "Every second product kept" && byID("answer-sub").textContent.includes("every second product kept") && byID("verdict").textContent.includes("checked") && document.querySelector('[data-do="policy"][aria-pressed="true"]') && document.querySelector(".legend").textContent.includes("computed again")`
	p.Wait(chosen)
	p.Reload()
	Eval[bool](p, hands)
	p.Wait(chosen)
	Eval[bool](p, `history.back(), true`)
	p.Wait(untilReady + ` && byID("answer-sub").textContent.includes("Nothing is computed again")`)
	p.Quiet()
}

// TestConfigHelped checks that options of the step are tried for a config.json that does not fit, and that a click on one
// plays the step again with it, on the same page. Reloading and Back show the same sentence.
func TestConfigHelped(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet50-b8&dev=rtx-4090")
	Eval[bool](p, "drop('config.json', '"+`{"model_type":"llama","hidden_size":2048,"intermediate_size":8192,"num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"vocab_size":128256,"tie_word_embeddings":true,"max_position_embeddings":131072}`+"'); true")
	p.Wait(`byID("answer-say").textContent.includes("Does not fit") && [...document.querySelectorAll(".gain")].some((e) => e.textContent.includes("8-bit moments"))`)
	Eval[bool](p, `[...document.querySelectorAll(".gain")].find((e) => e.textContent.includes("8-bit moments")).click(), true`)
	const helped = untilReady + ` && byID("option-optimizer")?.value === "adamw-8bit" && byID("answer-say").textContent.includes("fit: ")`
	p.Wait(helped)
	const words = `[byID("preset").textContent, ...[...document.querySelectorAll(".case select, .case input")].map((e) => e.value)].join(" ")`
	said := Eval[string](p, words)
	p.Reload()
	Eval[bool](p, hands)
	p.Wait(helped)
	if got := Eval[string](p, words); got != said {
		t.Errorf("after reloading: %q; want %q", got, said)
	}
	Eval[bool](p, `history.back(), true`)
	p.Wait(`byID("answer-say").textContent.includes("Does not fit") && byID("option-optimizer")?.value === "adamw"`)
	p.Quiet()
}

// TestStepForEverybody and TestPipelineForEverybody check that the page of a training step keeps axe-core's rules
// and is not wider than a phone, also for a step on a pipeline.
func TestStepForEverybody(t *testing.T) {
	t.Parallel()
	everybody(t, smallStep, "Does not fit")
}

func TestPipelineForEverybody(t *testing.T) {
	long(t)
	t.Parallel()
	everybody(t, pipelined, "Fits: ")
}

// everybody opens all parts of the page of a step, whose verdict contains the given text, and checks the page at
// several widths.
func everybody(t *testing.T, address, verdict string) {
	p := Open(t, address)
	Eval[bool](p, hands)
	whole(p, verdict)
	Eval[bool](p, `document.querySelectorAll(".whole details").forEach((e) => e.open = true), true`)
	source := axe(t)
	widths := []int64{1400, 390}
	if os.Getenv("MEMTIDE_LONG") != "" {
		widths = []int64{1400, 768, 390, 320}
	}
	for _, width := range widths {
		p.Viewport(width, 900)
		p.Drawn()
		rules := []string{"target-size", "scrollable-region-focusable"} // what depends on the width
		if width == 1400 {
			rules = nil
		}
		for _, v := range violations(p, source, rules...) {
			t.Errorf("%d px: breaks the rule %s (%s): %s\n  %s", width, v.ID, v.Impact, v.Help,
				strings.Join(v.where(), "\n  "))
		}
		for _, what := range Eval[[]string](p, tooWide) {
			t.Errorf("%d px: %s", width, what)
		}
	}
	p.Dark(true)
	p.Drawn()
	for _, v := range violations(p, source, "color-contrast", "link-in-text-block") {
		t.Errorf("dark: breaks the rule %s (%s): %s\n  %s", v.ID, v.Impact, v.Help, strings.Join(v.where(), "\n  "))
	}
}
