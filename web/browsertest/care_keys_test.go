//go:build !js

package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// The modifiers of a key, as the DevTools protocol numbers them.
const (
	ctrl  = 2
	shift = 8
)

// stroke presses a key with modifiers, wherever the focus is.
func stroke(p *Page, code, text string, modifiers int64) {
	p.t.Helper()
	virtual := map[string]int64{"Tab": 9, "Enter": 13, "Escape": 27}[code]
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: kind, Code: code, Key: text, Modifiers: modifiers, WindowsVirtualKeyCode: virtual})
		p.do(err)
	}
}

// TestKeysOfHelp checks that every key that the help lists has its effect, and that the help lists all keys that
// this test presses.
func TestKeysOfHelp(t *testing.T) {
	t.Parallel()
	const (
		range0  = `(location.hash.match(/&t=[^&]*/) || [""])[0]`
		chosen  = `document.querySelector("#selection-title").textContent + byID("selection").textContent`
		budget  = `byID("budget").value`
		method  = `byID("strategy").value`
		retrace = `document.querySelector('[data-do="retrace"]').hidden`
		tabled  = `document.querySelector("#table").hidden`
		helped  = `document.querySelector(".help-layer").hidden`
		sides   = `byID("side-a").textContent`
	)
	type pressing struct {
		code, text string
		modifiers  int64
		seen       string // expression whose value the key changes
	}
	rows := []struct {
		row     string // the keys as the help writes them
		strokes []pressing
	}{
		{"N P", []pressing{{"KeyN", "n", 0, chosen}, {"KeyP", "p", 0, chosen}}},
		{"I", []pressing{{"KeyI", "i", 0, retrace}}},
		{"Backspace", []pressing{{"Backspace", "Backspace", 0, retrace}}},
		{"← →", []pressing{{"ArrowRight", "ArrowRight", 0, chosen}, {"ArrowLeft", "ArrowLeft", 0, chosen}}},
		{"↑ ↓", []pressing{{"ArrowDown", "ArrowDown", 0, chosen}, {"ArrowUp", "ArrowUp", 0, chosen}}},
		{"F", []pressing{{"KeyF", "f", 0, range0}}},
		{"0", []pressing{{"Digit0", "0", 0, range0}}},
		{"W S or + −", []pressing{{"KeyW", "w", 0, range0}, {"KeyW", "w", 0, range0}, {"KeyS", "s", 0, range0},
			{"NumpadAdd", "+", 0, range0}, {"NumpadSubtract", "-", 0, range0}}},
		{"A D or Shift ← →", []pressing{{"KeyD", "d", 0, range0}, {"KeyA", "a", 0, range0},
			{"ArrowRight", "ArrowRight", shift, range0}, {"ArrowLeft", "ArrowLeft", shift, range0}}},
		{"G", []pressing{{"KeyG", "g", 0, range0}}},
		{"Space", []pressing{{"Space", " ", 0, `location.hash`}}},
		{"T", []pressing{{"KeyT", "t", 0, tabled}, {"KeyT", "t", 0, tabled}}},
		{"K", []pressing{{"KeyK", "k", 0, `byID("chain").hidden`}, {"KeyK", "k", 0, `byID("chain").hidden`}}},
		{"[ ]", []pressing{{"BracketRight", "]", 0, budget}, {"BracketLeft", "[", 0, budget},
			{"BracketRight", "]", shift, budget}, {"BracketLeft", "[", shift, budget}}},
		{"1 … 6", []pressing{{"Digit1", "1", 0, method}, {"Digit2", "2", 0, method}, {"Digit3", "3", 0, method},
			{"Digit4", "4", 0, method}, {"Digit5", "5", 0, method}, {"Digit6", "6", 0, method}}},
		{"Ctrl Z, Ctrl Shift Z", []pressing{{"KeyZ", "z", ctrl, method}, {"KeyZ", "Z", ctrl | shift, method}}},
		{"C", []pressing{{"KeyC", "c", 0, `document.querySelector(".compare").hidden`}}},
		{"X", []pressing{{"Digit2", "2", 0, method}, {"KeyX", "x", 0, sides}}},
		{"Y", []pressing{{"KeyY", "y", 0, `document.querySelector(".header .note").textContent`}}},
		{"Ctrl S", []pressing{{"KeyS", "s", ctrl, `globalThis.saved`}}},
		{"Ctrl O", []pressing{{"KeyO", "o", ctrl, `globalThis.asked`}}},
		{"M", []pressing{{"KeyM", "m", 0, `byID("preset").getAttribute("aria-expanded")`},
			{"Escape", "Escape", 0, `byID("preset").getAttribute("aria-expanded")`}}},
		{"?", []pressing{{"Slash", "?", shift, helped}}},
		{"Esc", []pressing{{"Escape", "Escape", 0, helped}, {"ArrowRight", "ArrowRight", 0, chosen},
			{"Escape", "Escape", 0, chosen}}},
	}
	p := settledPage(t, offload)
	Eval[bool](p, `(() => { // what would leave the page for the system's windows
		addEventListener("click", (e) => { if (e.target.matches("input[type=file]")) { e.preventDefault(); globalThis.asked = true; } }, true);
		HTMLAnchorElement.prototype.click = function () { globalThis.saved = this.download; };
		return true;
	})()`)
	key(t, p, "Slash", "?") // the list exists only while the help is open
	p.Wait(`document.querySelector(".keys dt")`)
	listed := Eval[[]string](p, `[...document.querySelectorAll(".keys dt")].map((e) => e.textContent)`)
	key(t, p, "Escape", "Escape")
	p.Wait(`!document.querySelector(".keys dt")`)
	var pressed []string
	for _, row := range rows {
		pressed = append(pressed, row.row)
		for _, s := range row.strokes {
			if row.row != "M" && row.row != "Esc" {
				Eval[bool](p, `document.getElementById("stage").focus(), true`)
			}
			before := Eval[string](p, `JSON.stringify(`+s.seen+`) ?? ""`)
			stroke(p, s.code, s.text, s.modifiers)
			p.Drawn()
			if p.until(`(JSON.stringify(`+s.seen+`) ?? "") !== `+fmt.Sprintf("%q", before),
				hang/4) != nil { // some keys take effect only when a worker has answered
				t.Fatalf("the help lists %q; %s (modifiers %d) leaves %s at %s", row.row, s.code, s.modifiers, s.seen,
					before)
			}
			p.Wait(`document.body.dataset.state !== "solving"`)
		}
	}
	slices.Sort(listed)
	slices.Sort(pressed)
	if !slices.Equal(listed, pressed) {
		t.Errorf("the help lists %q; this test presses %q", listed, pressed)
	}
	if got := Eval[string](p, `globalThis.saved ?? ""`); !strings.HasSuffix(got, ".svg") {
		t.Errorf("Ctrl S saved %q; want a picture", got)
	}
}

// TestShortcutsOff checks that shortcuts of one character can be turned off, that the browser remembers this, and
// that all other keys still work.
func TestShortcutsOff(t *testing.T) {
	t.Parallel()
	p := settledPage(t, offload)
	const tabled = `document.querySelector("#table").hidden`
	Eval[bool](p, `document.querySelector('.header [data-do="help"]').click(), true`)
	p.Wait(`byID("shortcuts").checkVisibility()`)
	if !Eval[bool](p, `byID("shortcuts").checked`) {
		t.Fatal("shortcuts are off; want them on before anybody turns them off")
	}
	p.Click(`[data-testid="shortcuts"]`)
	p.Wait(`localStorage.getItem("memtide-shortcuts") === "off" && !byID("shortcuts").checked`)
	p.Reload()
	p.Wait(untilReady)
	Eval[bool](p, hands+`; document.getElementById("stage").focus(), true`)
	before := Eval[string](p, `byID("selection").textContent`)
	for _, k := range [][2]string{{"KeyT", "t"}, {"Digit2", "2"}, {"BracketLeft", "["}, {"Slash", "?"},
		{"Slash", "/"}} {
		stroke(p, k[0], k[1], 0)
	}
	stroke(p, "ArrowRight", "ArrowRight", 0)
	p.Wait(fmt.Sprintf(`byID("selection").textContent !== %q`, before))
	if !Eval[bool](p, tabled+` && document.querySelector(".help-layer").hidden && document.activeElement.id === "stage"`) {
		t.Error("a shortcut of one character works although they are off")
	}
	if got := Eval[string](p, `byID("strategy").value`); got != "greedy" {
		t.Errorf("the strategy is %s; want greedy: the key 2 is off", got)
	}
	Eval[bool](p, `document.querySelector('.header [data-do="help"]').click(), true`)
	p.Wait(`byID("shortcuts").checkVisibility()`)
	p.Click(`[data-testid="shortcuts"]`)
	p.Wait(`byID("shortcuts").checked`)
	stroke(p, "Escape", "Escape", 0)
	p.Wait(`document.querySelector(".help-layer").hidden`)
	stroke(p, "KeyT", "t", 0)
	p.Wait("!" + tabled)
}

// TestHelpOfLayout checks that the help uses the characters printed on the keys if the browser knows the
// keyboard's layout.
func TestHelpOfLayout(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`Object.defineProperty(Navigator.prototype, "keyboard", {configurable: true, get: () => ({
		getLayoutMap: async () => new Map([["KeyW", "z"], ["KeyA", "q"], ["KeyS", "s"], ["KeyD", "d"], ["BracketLeft", "^"], ["BracketRight", "$"]]),
	})})`)
	p.Navigate(offload)
	p.Wait(untilReady)
	Eval[bool](p, `document.querySelector('.header [data-do="help"]').click(), true`)
	p.Wait(`[...document.querySelectorAll(".keys dt")].some((e) => e.textContent.startsWith("Z S or"))`)
	got := Eval[[]string](p, `[...document.querySelectorAll(".keys dt")].map((e) => e.textContent)`)
	for _, want := range []string{"Q D or Shift ← →", "^ $", "Ctrl S"} {
		if !slices.Contains(got, want) {
			t.Errorf("on AZERTY the help lists %q; want %q in it", got, want)
		}
	}
}

// shownControls defines controlsShown, which returns the visible elements that a person can operate, and nameOf,
// which describes one of them.
const shownControls = `globalThis.nameOf = (e) => [e.tagName, e.id, e.dataset.do, e.dataset.arg, e.textContent.trim().slice(0, 30)].filter(Boolean).join(" ");
globalThis.controlsShown = () => [...document.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex='0']")].filter((e) =>
	!e.matches(":disabled") && e.tabIndex >= 0 && e.checkVisibility({visibilityProperty: true}) && !e.closest("[inert]")); true`

// TestTabReachesEverything checks that the key Tab reaches every control on the page, and that each of them is
// outlined while it has the focus.
func TestTabReachesEverything(t *testing.T) {
	t.Parallel()
	p := openedPage(t, offload, 1400, 900)
	Eval[bool](p, shownControls)
	Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]').click(), document.activeElement.blur(), window.reached = new Set(), window.unseen = [], true`)
	p.Wait(`document.querySelector('[data-do="stop-sweep"]').hidden`)
	want := Eval[int](p, `controlsShown().length`)
	if want < 60 {
		t.Fatalf("%d controls are shown with everything open; want at least 60", want)
	}
	for range want + 40 { // Tab also stops at regions that scroll
		stroke(p, "Tab", "Tab", 0)
		Eval[bool](p, `(() => {
			const e = document.activeElement, ring = getComputedStyle(e.matches(".sr") ? e.parentElement : e);
			if (e === document.body || reached.has(e)) return true;
			reached.add(e);
			const thumb = ring.getPropertyValue("--thumb-ring"); // of a slider, whose thumb has the ring
			if (!thumb && (ring.outlineStyle === "none" || parseFloat(ring.outlineWidth) < 2)) unseen.push(nameOf(e));
			return true;
		})()`)
	}
	if missed := Eval[[]string](p, `controlsShown().filter((e) => !reached.has(e)).map(nameOf)`); len(missed) > 0 {
		t.Errorf("Tab reaches %d controls, but not %s", want-len(missed), strings.Join(missed, "; "))
	}
	if unseen := Eval[[]string](p, `unseen`); len(unseen) > 0 {
		t.Errorf("these do not show that they have the focus: %s", strings.Join(unseen, "; "))
	}
}

// TestFocusComesBack checks that a panel takes the focus when it opens, that a dialog keeps it, and that Esc
// closes the panel and gives the focus back to the button that opened it.
func TestFocusComesBack(t *testing.T) {
	t.Parallel()
	p := settledPage(t, offload)
	for _, c := range []struct{ opener, dialog string }{
		{`[data-do="share"]`, `.share`},
		{`[data-do="help"]`, `.help-layer:not([hidden]) .help`},
		{`[data-do="picker"]`, `.picker-panel`},
	} {
		t.Run(c.opener, func(t *testing.T) {
			p.For(t)
			opener := fmt.Sprintf(`document.querySelector(':is(.header, .case) %s')`, c.opener)
			Eval[bool](p, opener+`.focus(), `+opener+`.click(), true`)
			p.Wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility() && document.querySelector(%[1]q).contains(document.activeElement)`, c.dialog))
			for range 20 {
				if c.dialog == ".picker-panel" {
					break // a list, not a dialog: Tab leaves it and closes it
				}
				stroke(p, "Tab", "Tab", 0)
				if !Eval[bool](p, fmt.Sprintf(`document.querySelector(%q).contains(document.activeElement)`,
					c.dialog)) {
					t.Fatalf("Tab leaves the dialog for %s",
						Eval[string](p, `document.activeElement.outerHTML.slice(0, 200)`))
				}
			}
			stroke(p, "Escape", "Escape", 0)
			p.Wait(opener + ` === document.activeElement`)
		})
	}
}

// TestEscapeNumber checks that Escape gives up another number, and that the focus goes back to the list.
func TestEscapeNumber(t *testing.T) {
	t.Parallel()
	p := settledPage(t, offload)
	Eval[bool](p, `(() => {
		const list = byID("option-batch");
		list.focus();
		list.selectedIndex = list.options.length - 1;
		return list.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	p.Wait(`document.activeElement.dataset.testid === "number-batch"`)
	stroke(p, "Escape", "Escape", 0)
	p.Wait(`!byID("number-batch") && document.activeElement.dataset.testid === "option-batch"`)
}
