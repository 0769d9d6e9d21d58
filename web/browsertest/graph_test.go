//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// skips is a graph of operations: each reads the value before it, a weight, and
// every third also an older value; then all backwards.
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

// A graph of operations that is dropped is drawn by operation, in the address, and there again
// when the reader has gone back and forth.
func TestDropGraph(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
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
	Eval[bool](p, `history.go(-2); true`) // over the choice of the strategy and the file
	p.Wait(`byID("preset").value === "resnet101" && ` + untilReady)
	Eval[bool](p, `history.go(2); true`)
	p.Wait(`byID("preset").textContent.startsWith("skips") && ` + untilReady) // from the link
	p.Quiet()
}

// Lines are chosen by their samples, kept in the address, and computed when they are drawn.
func TestLines(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
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

// Number keys choose strategies, Ctrl+Z takes that back and Ctrl+Shift+Z redoes
// it; / finds a layer.
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
	undo(ctrl) // before the first decision there is nothing: the page stays
	undo(ctrl | shift)
	p.Wait(`byID("strategy").value === "sequential" && ` + untilReady)
	p.Quiet()
}

// A link to a strategy that does not apply shows what keeping everything looks
// like, dimmed, beside the way on.
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

// The plans are one tab stop: arrows choose the next one and take the focus along, and
// the menu and the address follow.
func TestPlansByKeyboard(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=alexnet-b64&m=905MiB")
	p.Wait(`document.querySelector(".curve-status progress").hidden`) // the order is that of step times
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

// programs are the programs that a page has loaded, without what stands in their names for
// their content.
func programs(p *Page) (names []string) {
	for _, address := range p.Requests() {
		name := address[strings.LastIndexByte(address, '/')+1:]
		if stem, _, _ := strings.Cut(name, "."); strings.HasSuffix(name, ".wasm") {
			names = append(names, stem)
		}
	}
	return names
}

// The first visit to a link of a graph method loads the second program, once, and its
// workers find the schedule, the curve and what would help. One to a chain does not.
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
	chain := settledPage(t, "#v=1&p=resnet18-b32&m=80%25")
	chain.Done()
	if got := programs(chain); len(got) > 0 {
		t.Errorf("for a chain the page has loaded %q; want nothing beside its own program", got)
	}
}
