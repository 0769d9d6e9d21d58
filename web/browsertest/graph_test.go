//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// skips returns a profile of a graph of operations. Each forward operation reads the value before it and a
// weight, and every third also a value made three operations earlier. The backward operations follow in reverse
// order.
func skips() string {
	const n = 18
	var values, ops []string
	value := func(role string, mib int) int {
		values = append(values, fmt.Sprintf(`{"id":%d,"name":"v%d","bytes":%d,"role":"%s"}`, len(values), len(values),
			mib<<20, role))
		return len(values) - 1
	}
	op := func(name, pass, in string, out int) {
		ops = append(ops, fmt.Sprintf(`{"name":"%s","pass":"%s","time_s":0.004,"in":[%s],"out":[%d]}`, name, pass,
			in, out))
	}
	made := []int{value("input", 64)}
	reads := make([]string, n+1)
	for k := 1; k <= n; k++ {
		reads[k] = fmt.Sprintf("%d,%d", made[k-1], value("weight", 16))
		if k%3 == 0 {
			reads[k] += fmt.Sprintf(",%d", made[k-3])
		}
		made = append(made, value("activation", 64))
		op(fmt.Sprint("mix", k), "forward", reads[k], made[k])
	}
	last := made[n]
	for k := n; k >= 1; k-- {
		grad := value("gradient", 64)
		op(fmt.Sprint("mix", k, " back"), "backward", reads[k]+fmt.Sprint(",", last), grad)
		last = grad
	}
	return `{"format":"memtide/1","kind":"graph","name":"skips","batch":4,"values":[` + strings.Join(values, ",") +
		`],"ops":[` + strings.Join(ops, ",") + `]}`
}

// TestDropGraph checks that a dropped graph of operations is shown, that the address holds it, and that it is
// shown again after going back and forth in the history.
func TestDropGraph(t *testing.T) {
	t.Parallel()
	p := settledPage(t, swept)
	Eval[bool](p, fmt.Sprintf(`drop("skips.json", %q); true`, skips()))
	p.Wait(`byID("strategy").value === "keepall" && ` + untilReady)
	Eval[bool](p, `(() => {
		const e = document.querySelector('[data-do="budget-text"]');
		e.value = "75%";
		return e.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	p.Wait(`location.hash.includes("m=75%25")`)
	Eval[bool](p, `control("strategy", "window"); true`)
	p.Wait(`byID("strategy").value === "window" && ` + untilReady)
	if got := strings.Join(strings.Fields(Eval[string](p, `document.querySelector(".about .facts").textContent`)),
		" "); !strings.Contains(got, "operations 36") {
		t.Errorf("facts are %q; want 36 operations", got)
	}
	if got := result(p, "verdict"); !strings.Contains(got, "checked") {
		t.Errorf("verdict is %q; want it checked", got)
	}
	if got := Eval[string](p, "location.hash"); !strings.HasPrefix(got,
		sealed("v=1&kind=graph&m=75%25&s=window")+"&d=1.") {
		t.Errorf("the address is %q; want the graph in it", got)
	}
	Eval[bool](p, `history.go(-2); true`) // before the choice of the strategy and the drop of the file
	p.Wait(`byID("preset").value === "resnet101" && ` + untilReady)
	Eval[bool](p, `history.go(2); true`)
	p.Wait(`byID("preset").textContent.startsWith("skips") && ` + untilReady) // read from the address
	p.Quiet()
}

// TestLines checks that buttons choose the lines of the curve, that the address keeps the choice, and that a line
// is computed when it is chosen.
func TestLines(t *testing.T) {
	t.Parallel()
	p := settledPage(t, swept)
	p.Wait(`byID("sweep").textContent.includes("click")`)
	p.Click(`[data-testid="lines-list"]`)
	p.Wait(`document.querySelector('.line-of[data-arg="greedy"]')`)
	p.Click(`.line-of[data-arg="greedy"]`)
	p.Wait(`location.hash.includes("c=dynprog,greedy,pofo,rotor,sequential")`)
	p.Wait(`byID("tradeoff").getAttribute("aria-label").includes("Greedy offload from")`)
	Eval[bool](p, `control("axis", "time"); true`)
	p.Wait(`location.hash.includes("y=time") && document.querySelector("#tradeoff-title").textContent.includes("Step time")`)
	again := settledPage(t, Eval[string](p, "location.hash"))
	if got := Eval[string](again,
		`String(!!document.querySelector('.plan-pick[data-arg="greedy"] svg, .line-of[data-arg="greedy"][aria-pressed="true"]'))`); got != "true" {
		t.Errorf("opened from the link the line is drawn: %s; want true", got)
	}
	if got := Eval[string](again, `byID("axis").value`); got != "time" {
		t.Errorf("opened from the link the axis is %q; want time", got)
	}
	p.Quiet()
}

// TestStrategyKeysAndUndo checks that number keys choose strategies, that Ctrl+Z takes the choice back, and that
// Ctrl+Shift+Z makes it again.
func TestStrategyKeysAndUndo(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	key(t, p, "Digit3", "3")
	p.Wait(`byID("strategy").value === "sequential" && ` + untilReady)
	const ctrl, shift = 2, 8
	undo := func(modifiers int64) {
		t.Helper()
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown,
			input.DispatchKeyEventTypeKeyUp} {
			if _, err := chromedp.Call(p.Context(), input.DispatchKeyEvent,
				input.DispatchKeyEventParams{Type: kind, Code: "KeyZ", Key: "z", Modifiers: modifiers}); err != nil {
				t.Fatal(err)
			}
		}
	}
	undo(ctrl)
	p.Wait(`byID("strategy").value === "rotor" && ` + untilReady)
	undo(ctrl) // nothing comes before the first decision: the page stays
	undo(ctrl | shift)
	p.Wait(`byID("strategy").value === "sequential" && ` + untilReady)
	p.Quiet()
}

// TestStandIn checks that a link to a strategy that does not apply shows the dimmed pictures of keeping
// everything, and a button that chooses a strategy that applies.
func TestStandIn(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=resnet101-b32&m=60%25&s=nonpersistent")
	p.Wait(`document.querySelector('.app[data-stale="true"] .paint canvas')`)
	Eval[bool](p, hands)
	if got := Eval[string](p, `alertText() + result("answer-sub")`); !strings.Contains(got,
		"39 layers and the loss") || !strings.Contains(got, "The pictures show Keep everything") {
		t.Errorf("the notice is %q; want the number of layers, and what is shown", got)
	}
	p.Click(`.notice [data-do="act"]`)
	p.Wait(`byID("strategy").value === "rotor" && ` + untilReady)
	p.Quiet()
}

// TestPlansByKeyboard checks that the list of plans is one tab stop, that arrow keys choose the next plan and
// move the focus to it, and that the menu and the address follow.
func TestPlansByKeyboard(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=alexnet-b64&m=905MiB")
	p.Wait(`document.querySelector(".curve-status progress").hidden`) // then the plans are sorted by step time
	const checked = `document.querySelector('.plan-pick[aria-checked="true"]')`
	first := Eval[string](p, checked+`.focus(), `+checked+`.dataset.arg`)
	key(t, p, "ArrowDown", "ArrowDown")
	p.Wait(fmt.Sprintf(`%[1]s.dataset.arg !== %[2]q && document.activeElement === %[1]s && byID("strategy").value === %[1]s.dataset.arg && location.hash.includes("s=" + %[1]s.dataset.arg)`, checked, first))
	key(t, p, "ArrowUp", "ArrowUp")
	p.Wait(fmt.Sprintf(`%[1]s.dataset.arg === %[2]q && document.activeElement === %[1]s`, checked, first))
	if got := Eval[int](p, `document.querySelectorAll('.plan-pick[tabindex="0"]').length`); got != 1 {
		t.Errorf("%d plans are tab stops; want one", got)
	}
	p.Quiet()
}

// programs returns the names of the programs that a page has loaded in addition to its own, without the hashes in
// their file names.
func programs(p *Page) (names []string) {
	for _, address := range p.Requests() {
		name := address[strings.LastIndexByte(address, '/')+1:]
		if stem, _, _ := strings.Cut(name, "."); strings.HasSuffix(name, ".wasm") {
			names = append(names, stem)
		}
	}
	return names
}

// TestGraphMethods checks that the first visit to a link of a graph method loads the second program once, and
// that its workers compute the schedule, the curve and what would help. A visit to a chain does not load it.
func TestGraphMethods(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet18-graph-b32&m=80%25&s=blocks")
	if got := result(p, "verdict"); !strings.Contains(got, "checked") {
		t.Errorf("verdict is %q; want it checked", got)
	}
	curveBegun(p)
	p.Click(`.plan-pick[data-arg="dtr"]`)
	p.Wait(`byID("strategy").value === "dtr" && ` + untilReady)
	p.Wait(`document.querySelector(".curve-status progress").hidden`)
	if got := Eval[string](p, alertText); got != "" {
		t.Errorf("in the end the page says %q; want nothing", got)
	}
	if got := strings.Join(programs(p), " "); got != "second" {
		t.Errorf("the page has loaded %q beside its own program; want second, once", got)
	}
	p.Quiet()
	chain := settledPage(t, "#v=1&p=resnet18-b32&m=80%25&c=rotor")
	chain.Done()
	if got := programs(chain); len(got) > 0 {
		t.Errorf("for a chain the page has loaded %q; want nothing beside its own program", got)
	}
}
