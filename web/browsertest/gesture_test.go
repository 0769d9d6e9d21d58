//go:build !js

package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// box is the position and size of an element in CSS pixels.
type box struct{ Left, Top, Width, Height float64 }

func boxOf(p *Page, id string) box {
	return Eval[box](p, fmt.Sprintf(`(() => {
		byID(%q).scrollIntoView({block: "center"});
		const b = byID(%q).getBoundingClientRect();
		return {Left: b.left, Top: b.top, Width: b.width, Height: b.height};
	})()`, id, id))
}

// drag presses the mouse at the first point, moves it through the others and releases it at the last. With one
// point it clicks.
func drag(t *testing.T, p *Page, points ...[2]float64) {
	t.Helper()
	send := func(kind input.DispatchMouseEventType, at [2]float64, buttons int64) {
		params := input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Buttons: buttons}
		if kind != input.DispatchMouseEventTypeMouseMoved {
			params.Button, params.ClickCount = input.MouseButtonLeft, 1
		}
		if _, err := chromedp.Call(p.Context(), input.DispatchMouseEvent, params); err != nil {
			t.Fatal(err)
		}
	}
	send(input.DispatchMouseEventTypeMouseMoved, points[0], 0)
	send(input.DispatchMouseEventTypeMousePressed, points[0], 1)
	for _, at := range points[1:] {
		send(input.DispatchMouseEventTypeMouseMoved, at, 1)
	}
	send(input.DispatchMouseEventTypeMouseReleased, points[len(points)-1], 0)
}

// visibleRange returns the visible part of the step in milliseconds, as the address says it, or zeros if the
// whole step is visible.
func visibleRange(p *Page) [2]float64 {
	p.Drawn()
	return Eval[[2]float64](p,
		`((m) => m ? [Number(m[1]), Number(m[2])] : [0, 0])(location.hash.match(/[&]t=([0-9.]+)-([0-9.]+)/))`)
}

func TestMouseZoomsAndPans(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	b := boxOf(p, "timeline")
	y := b.Top + b.Height*0.85
	at := func(share float64) [2]float64 { return [2]float64{b.Left + b.Width*share, y} }

	drag(t, p, at(0.4), at(0.5), at(0.6))
	marked := visibleRange(p)
	if !(marked[0] > 20 && marked[1] > marked[0] && marked[1]-marked[0] < 60) {
		t.Fatalf("after marking a fifth of the picture %v ms are visible; want about a fifth of the step", marked)
	}
	drag(t, p, at(0.5), at(0.45), at(0.4))
	panned := visibleRange(p)
	if !(panned[0] > marked[0]) || panned[1]-panned[0]-(marked[1]-marked[0]) > 0.01 {
		t.Errorf("after dragging to the left %v ms are visible; want a later part, as long as %v", panned, marked)
	}
	wheel := func(modifiers int64) {
		_, err := chromedp.Call(p.Context(), input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseWheel, X: at(0.5)[0], Y: y, DeltaX: 1, DeltaY: -120,
			Modifiers: modifiers})
		if err != nil {
			t.Fatal(err)
		}
	}
	wheel(0)
	if got := visibleRange(p); got != panned {
		t.Errorf("after the bare wheel %v ms are visible; want it to scroll the page, %v", got, panned)
	}
	b = boxOf(p, "timeline")
	y = b.Top + b.Height*0.85
	const ctrl = 2
	wheel(ctrl)
	if got := visibleRange(p); !(got[1]-got[0] < panned[1]-panned[0]) {
		t.Errorf("after the wheel with Ctrl %v ms are visible; want less than %v", got, panned)
	}
	key(t, p, "Digit0", "0")
	if got := visibleRange(p); got != [2]float64{} {
		t.Errorf("after 0 %v ms are visible; want all", got)
	}
	p.Quiet()
}

func TestDragBudgetLine(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	b := boxOf(p, "memory")
	before := result(p, "peak")
	// The budget's line is where the cursor becomes a double arrow.
	y := Eval[float64](p, `(() => {
		const e = byID("memory").querySelector(".paint"), b = e.getBoundingClientRect(), x = b.left + b.width / 3;
		for (let y = b.top; y < b.bottom; y += 2) {
			e.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: x, clientY: y}));
			if (e.style.cursor === "ns-resize") return y;
		}
		return 0;
	})()`)
	if y == 0 {
		t.Fatal("nowhere in the memory picture can the budget be dragged")
	}
	x := b.Left + b.Width/3
	drag(t, p, [2]float64{x, y + 1}, [2]float64{x, y + 20}, [2]float64{x, y + 40})
	p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && result("peak") !== %q`, before))
	p.Wait(`/m=[0-9]+[KM]iB/.test(location.hash)`)
}

func TestClickSelects(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	b := boxOf(p, "timeline")
	at := [2]float64{b.Left + b.Width*0.5, b.Top + 34}
	drag(t, p, at)
	p.Wait(`/^Backward of layer[0-9]/.test(result("selection"))`)
	layers := boxOf(p, "layers")
	drag(t, p, [2]float64{layers.Left + layers.Width*0.2, layers.Top + layers.Height - 25})
	p.Wait(`result("selection").includes(", block ")`)
}

func TestFingers(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Viewport(390, 844)
	if _, err := chromedp.Call(p.Context(), emulation.SetTouchEmulationEnabled,
		emulation.SetTouchEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	p.Navigate("")
	p.Wait(untilReady)
	Eval[bool](p, hands)
	b := boxOf(p, "timeline")
	y := b.Top + b.Height/2
	touch := func(kind input.DispatchTouchEventType, xs ...float64) {
		t.Helper()
		var points []*input.TouchPoint
		for i, x := range xs {
			points = append(points, &input.TouchPoint{X: b.Left + b.Width*x, Y: y, ID: new(float64(i + 1))})
		}
		if _, err := chromedp.Call(p.Context(), input.DispatchTouchEvent,
			input.DispatchTouchEventParams{Type: kind, TouchPoints: points}); err != nil {
			t.Fatal(err)
		}
		p.frames()
	}
	touch(input.DispatchTouchEventTypeTouchStart, 0.5, 0.6)
	for _, by := range []float64{0.05, 0.1, 0.15, 0.2} {
		touch(input.DispatchTouchEventTypeTouchMove, 0.5-by, 0.6+by)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	pinched, step := visibleRange(p), 1000*Eval[float64](p, `parseFloat(result("step-time"))`)
	if pinched[1] == 0 || pinched[1]-pinched[0] > step/2 {
		t.Fatalf("after spreading two fingers %v ms are visible; want less than half of the step of %v ms", pinched, step)
	}
	touch(input.DispatchTouchEventTypeTouchStart, 0.7)
	for _, x := range []float64{0.6, 0.5, 0.4} {
		touch(input.DispatchTouchEventTypeTouchMove, x)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	if got := visibleRange(p); !(got[0] > pinched[0]) {
		t.Errorf("after moving a finger to the left %v ms are visible; want a later part than %v", got, pinched)
	}

	// The tooltip of a tapped operation is shown above the finger, until the page is scrolled.
	y = b.Top + 34
	touch(input.DispatchTouchEventTypeTouchStart, 0.5)
	touch(input.DispatchTouchEventTypeTouchEnd)
	const words = `(document.querySelector(".tooltip:not([hidden])")?.textContent ?? "")`
	p.Wait(words + ` !== ""`)
	tip := Eval[box](p, `(() => { const b = document.querySelector(".tooltip").getBoundingClientRect(); return {Left: b.left, Top: b.top, Width: b.width, Height: b.height}; })()`)
	if tip.Left < 0 || tip.Top < 0 || tip.Left+tip.Width > 390 || tip.Top+tip.Height > y-10 {
		t.Errorf("what was tapped at height %g is said at %+v; want it above, inside the page", y, tip)
	}
	Eval[bool](p, `scrollBy(0, 40), true`)
	p.Wait(words + ` === ""`)
}
