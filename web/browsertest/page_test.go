//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// untilReady is true when the schedule is shown. If a slow machine has stopped at the time limit of what an
// address asks for, it clicks "Go on".
const untilReady = `(document.querySelectorAll('[data-do="act"]').forEach((e) => e.offsetParent && e.textContent.trim() === "Go on" && e.click()),
	document.body.dataset.state === "ready") && document.querySelector(".paint canvas")`

// resnet is the address of a network that fits with everything kept and whose results the tests know. It names no
// strategy; the default is rotor. The curve has that line alone, because all lines take three times as long.
const resnet = swept + "&c=rotor"

// swept is resnet with every line of the curve.
const swept = "#v=1&p=resnet101-b32&m=60%25"

// hands defines JavaScript functions with which the tests act like a person.
const hands = `
globalThis.byID = (id) => document.querySelector('[data-testid="' + id + '"]');
globalThis.result = (id) => byID(id).textContent;
globalThis.control = (id, value, event) => {
	byID(id).value = value;
	byID(id).dispatchEvent(new Event(event || "change", {bubbles: true}));
};
globalThis.choose = (id, value) => { // where a control has no name for tests
	const e = document.getElementById(id);
	e.value = value;
	return e.dispatchEvent(new Event("change", {bubbles: true}));
};
globalThis.pick = async (id) => {
	byID("preset").click();
	while (!document.getElementById("picker-" + id)) await new Promise(requestAnimationFrame);
	document.getElementById("picker-" + id).click();
};
globalThis.drop = (name, content) => {
	const data = new DataTransfer();
	data.items.add(new File([content], name));
	for (const type of ["dragenter", "dragover", "drop"]) {
		document.body.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
	}
};
globalThis.alertText = () => {
	const e = document.querySelector('[role="alert"]:not([hidden], #boot)');
	return !e ? "" : e.textContent.replace(/\s+/g, " ").trim();
};
true`

// settledPage opens an address and waits for the first schedule.
func settledPage(t *testing.T, address string) *Page {
	t.Helper()
	p := Open(t, address)
	p.Wait(untilReady)
	Eval[bool](p, hands)
	return p
}

// result returns the text of an element of the page by its data-testid, such as a number of the result line.
func result(p *Page, id string) string { return Eval[string](p, fmt.Sprintf("result(%q)", id)) }

// curveBegun waits until the curve of the chosen strategy, which is computed first, is shown in the chart.
func curveBegun(p *Page) {
	p.Wait(`(document.querySelector(".curve-status progress").value > 40 || byID("sweep").textContent.includes("click")) && byID("tradeoff").querySelector("canvas")`)
	p.Wait(`echarts.getInstanceByDom(byID("tradeoff").querySelector(".chart")).getOption()?.series?.some((s) => s.data?.length > 5)`)
	p.frames()
}

// chartSeen scrolls the chart into view and waits until it is drawn. One that is not on the screen may be older than the
// curve.
func chartSeen(p *Page) {
	Eval[bool](p, `byID("tradeoff").scrollIntoView({block: "center"}); true`)
	p.frames()
	p.Wait(`!document.body.dataset.pending.includes("chart")`)
	p.frames()
}

// key presses a key without moving the focus.
func key(t *testing.T, p *Page, code, text string) {
	t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(p.Context(), input.DispatchKeyEvent,
			input.DispatchKeyEventParams{Type: kind, Code: code, Key: text}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFirstLoad(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`addEventListener("DOMContentLoaded", () => {
		globalThis.before = {peak: document.querySelector('[data-testid="peak"]').textContent, height: document.querySelector(".main").offsetTop,
			pictures: document.querySelectorAll(".poster svg").length};
	})`)
	p.Navigate("")
	took := p.Wait(untilReady)
	Eval[bool](p, hands)
	t.Logf("ready after %v", took)
	if got := Eval[int](p, "before.pictures"); got != 6 {
		t.Errorf("%d pictures before any script ran; want 6", got)
	}
	if before, now := Eval[string](p, "before.peak"), result(p, "peak"); before != now || before == "" {
		t.Errorf("the prepared page says a peak of %q, the live one %q; want the same", before, now)
	}
	if before, now := Eval[int](p, "before.height"),
		Eval[int](p, `document.querySelector(".main").offsetTop`); before != now {
		t.Errorf("the pictures were %d px from the top and are %d px; want no jump", before, now)
	}
	p.Wait(`document.querySelectorAll(".poster").length === 0`)
	if got := result(p, "verdict"); got != "checked" {
		t.Errorf("verdict is %q; want it checked", got)
	}
	curveBegun(p)
	if got := Eval[int](p, `byID("tradeoff").querySelectorAll("canvas").length`); got != 1 {
		t.Errorf("%d canvases of the curve; want 1", got)
	}
	p.Quiet()
}

const smallCSV = "name,forward_s,backward_s,output_bytes,saved_bytes\nconv1,0.002,0.004,1000000,3000000\nconv2,0.002,0.004,1000000,3000000\nconv3,0.003,0.005,1000000,2000000\n"

func TestDropFile(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	Eval[bool](p, fmt.Sprintf(`drop("mine.csv", %q); true`, smallCSV))
	p.Wait(`byID("preset").textContent === "mine.csv" && document.body.dataset.state === "ready"`)
	if got := strings.Join(strings.Fields(Eval[string](p, `document.querySelector(".about .facts").textContent`)),
		" "); !strings.Contains(got, "blocks 3") {
		t.Errorf("facts are %q; want 3 layers", got)
	}
	peak, hash := result(p, "peak"), Eval[string](p, "location.hash")
	if !strings.Contains(hash, "d=1.") && !strings.Contains(hash, "d=0.") {
		t.Fatalf("the address is %q; want the profile in it", hash)
	}
	again := settledPage(t, hash)
	if got := result(again, "peak"); got != peak {
		t.Errorf("opened from the link the peak is %q; want %q", got, peak)
	}
	Eval[bool](p, "history.back(); true")
	p.Wait(`byID("preset").value === "resnet101" && document.body.dataset.state === "ready"`)
	p.Quiet()
}

func TestBadFileKeepsPage(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	peak, hash := result(p, "peak"), Eval[string](p, "location.hash")
	var rows strings.Builder
	rows.WriteString("name,forward_s,backward_s,output_bytes,saved_bytes\n")
	for i := 2; i <= 20; i++ {
		seconds := "0.003"
		if i == 14 {
			seconds = "-3"
		}
		fmt.Fprintf(&rows, "layer%d,%s,0.004,1000000,3000000\n", i, seconds)
	}
	Eval[bool](p, fmt.Sprintf(`drop("bad.csv", %q); true`, rows.String()))
	p.Wait(`alertText() !== ""`)
	text := Eval[string](p, "alertText()")
	for _, want := range []string{"14", "forward_s", "-3"} {
		if !strings.Contains(text, want) {
			t.Errorf("alert %q; want %q in it", text, want)
		}
	}
	if got := result(p, "peak"); got != peak {
		t.Errorf("the peak is now %q; want what was shown before, %q", got, peak)
	}
	if got := Eval[string](p, "location.hash"); got != hash {
		t.Errorf("the address is now %q; want %q", got, hash)
	}
	p.Click(`[data-do="dismiss"]`)
	p.Wait(`alertText() === "" && document.body.dataset.state === "ready"`)
}

func TestBudgetTooSmall(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	peak := result(p, "peak")
	Eval[bool](p, `control("budget", 0); true`)
	p.Wait(`result("answer-say").startsWith("Does not fit in")`)
	if got := result(p, "peak"); got != peak {
		t.Errorf("the peak is %q; want the previous schedule's, %q", got, peak)
	}
	if got := Eval[string](p, `document.body.dataset.state`); got != "error" {
		t.Errorf("state is %q; want error", got)
	}
	p.Click(`[data-do="smallest"]`)
	p.Wait(`byID("answer").dataset.kind === "fits" && document.body.dataset.state === "ready"`)
	if got := result(p, "peak"); got == peak {
		t.Errorf("the peak is still %q; want that of the smallest budget", got)
	}
}

func TestBackUndoesStrategy(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	step := result(p, "step-time")
	Eval[bool](p, `control("strategy", "dynprog"); true`)
	p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && result("step-time") !== %q`, step))
	if got := Eval[string](p, "location.hash"); !strings.Contains(got, "s=dynprog") {
		t.Errorf("the address is %q; want s=dynprog in it", got)
	}
	if got := Eval[string](p, `byID("step-time").closest(".number").title`); strings.Contains(got, "waiting 0 ms") {
		t.Errorf("the step time is explained by %q; want waiting in a schedule that offloads", got)
	}
	if got := p.Text(`[data-testid="selection"]`); len(got) < 20 {
		t.Errorf("the selected wait is explained by %q; want a sentence", got)
	}
	Eval[bool](p, "history.back(); true")
	p.Wait(fmt.Sprintf(`byID("strategy").value === "rotor" && result("step-time") === %q`, step))
}

func TestCurveClickAdopts(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	curveBegun(p)
	// Of a curve that has only some of its points, the one that is clicked may be on the line of the budget, where
	// pressing begins a drag.
	p.Wait(`document.querySelector("[data-testid=sweep]").textContent.startsWith("Point at the curve")`)
	chartSeen(p)
	choice := Eval[string](p, "location.hash")
	type place struct{ X, Y float64 }
	at := Eval[place](p, `(() => {
		const e = byID("tradeoff").querySelector(".chart"), b = e.getBoundingClientRect(), chart = echarts.getInstanceByDom(e);
		const series = chart.getOption().series, i = series.findIndex((s) => s.data?.length > 5), data = series[i].data;
		const [x, y] = chart.convertToPixel({seriesIndex: i}, data[data.length >> 2].value);
		return {X: b.left + x, Y: b.top + y};
	})()`)
	mouse := func(kind input.DispatchMouseEventType, buttons int64) {
		params := input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y, Buttons: buttons}
		if kind != input.DispatchMouseEventTypeMouseMoved {
			params.Button, params.ClickCount = input.MouseButtonLeft, 1
		}
		if _, err := chromedp.Call(p.Context(), input.DispatchMouseEvent, params); err != nil {
			t.Fatal(err)
		}
	}
	mouse(input.DispatchMouseEventTypeMouseMoved, 0)
	p.Wait(`result("verdict").startsWith("preview")`)
	if got := Eval[string](p, "location.hash"); got != choice {
		t.Errorf("pointing at the curve changed the address to %q", got)
	}
	mouse(input.DispatchMouseEventTypeMousePressed, 1)
	mouse(input.DispatchMouseEventTypeMouseReleased, 0)
	p.Wait(fmt.Sprintf(`location.hash !== %q && location.hash.includes("m=") && !result("verdict").startsWith("preview")`, choice))
}

// TestCounterexample opens the counterexample of Lemma 3 from the list of networks.
func TestCounterexample(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, resnet)
	step := func(want string) {
		t.Helper()
		p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && byID("preset").value === "lemma3" && result("step-time") === %q`, want))
	}
	Eval[bool](p, `pick("lemma3").then(() => true)`)
	step("27 ms")
	if got := result(p, "verdict"); got != "checked" {
		t.Errorf("the verdict is %q; want a checked schedule", got)
	}
	Eval[bool](p, `control("strategy", "dynprog"); true`)
	step("30 ms")
	p.Quiet()
}

func TestKeyboardTour(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet101-b32&s=greedy&m=70%25")
	title := func() string { return p.Text("#selection-title") }
	first := title()
	if !strings.HasPrefix(first, "Why it waits ") {
		t.Fatalf("the selection says %q; want the longest wait", first)
	}
	key(t, p, "KeyN", "n")
	p.Wait(fmt.Sprintf(`document.querySelector("#selection-title").textContent !== %q`, first))
	key(t, p, "KeyI", "i")
	p.Wait(`!document.querySelector('[data-do="retrace"]').hidden`)
	key(t, p, "Backspace", "Backspace")
	p.Wait(`document.querySelector('[data-do="retrace"]').hidden`)
	key(t, p, "KeyW", "w")
	p.Wait(`location.hash.includes("t=")`)
	key(t, p, "Digit0", "0")
	p.Wait(`!location.hash.includes("t=")`)
	budget := Eval[string](p, `byID("budget").value`)
	key(t, p, "BracketRight", "]")
	p.Wait(fmt.Sprintf(`byID("budget").value !== %q`, budget))
	key(t, p, "KeyT", "t")
	p.Wait(`document.querySelectorAll("#table tbody tr").length > 10`)
	key(t, p, "Slash", "?")
	p.Wait(`!document.querySelector(".help-layer").hidden`)
	key(t, p, "Escape", "Escape")
	p.Wait(`document.querySelector(".help-layer").hidden`)
	p.Quiet()
}

func TestLinkRoundTrip(t *testing.T) {
	t.Parallel()
	link := sealed("v=1&p=vgg16-b32&m=4GiB&s=greedy&bw=6.25GBps&duplex=full&xfer=streamed&unknown=kept")
	p := settledPage(t, link)
	// Any change rewrites the address. After the change is undone, the address has to be the same as before.
	Eval[bool](p, `choose("transfers", "whole")`)
	p.Drawn()
	if got := Eval[string](p, "location.hash"); strings.Contains(got, "xfer") {
		t.Errorf("with whole transfers the address is %q; want no word about them", got)
	}
	Eval[bool](p, `choose("transfers", "streamed")`)
	p.Drawn()
	if got := Eval[string](p, "location.hash"); got != link {
		t.Errorf("the address is %q; want %q", got, link)
	}
}

func TestCutLink(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	Eval[bool](p, fmt.Sprintf(`drop("mine.csv", %q); true`, smallCSV))
	p.Wait(`location.hash.includes("d=")`)
	hash := Eval[string](p, "location.hash")
	cut := Open(t, hash[:len(hash)-9])
	cut.Wait(`document.body.dataset.state !== "solving" && document.querySelector(".paint canvas")`)
	Eval[bool](cut, hands)
	cut.Wait(`alertText() !== ""`)
	if got := Eval[string](cut, "alertText()"); !strings.Contains(got, "cut") {
		t.Errorf("a cut link says %q; want that it was cut", got)
	}
}
