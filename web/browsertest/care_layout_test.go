//go:build !js

package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tooWide lists elements that extend beyond the left or right edge of the window, except inside regions that
// scroll, and controls and headings whose text does not fit.
const tooWide = `(() => {
	const name = (e) => e.tagName + "." + e.className + " " + (e.dataset.do || e.dataset.testid || e.textContent.trim().slice(0, 40));
	const contained = (e) => { for (e = e.parentElement; e && e !== document.body; e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible") return true; };
	const width = document.documentElement.clientWidth, out = [];
	if (document.documentElement.scrollWidth > width) out.push("the page scrolls to " + document.documentElement.scrollWidth + " px");
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility({visibilityProperty: true}) || e.matches(".sr, .sr *, svg *, .skip")) continue;
		const b = e.getBoundingClientRect();
		if ((b.right > width + 0.5 || b.left < -0.5) && b.width > 0 && !contained(e)) out.push(name(e) + " reaches from " + b.left + " to " + b.right);
		if (e.matches("button:not(.pick), .button, dt, dd, h1, h2, h3, .verdict, .outcome, .answer") && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline") out.push(name(e) + " needs " + e.scrollWidth + " px, has " + e.clientWidth);
	}
	return out;
})()`

// TestKnobOnBar checks that the knob of the budget overlaps the lower edge of the bar at every width except on a
// phone, where it is at the bottom of the window. Below 1100 pixels the legend of the bar is between the bar and
// the numbers.
func TestKnobOnBar(t *testing.T) {
	t.Parallel()
	p := Open(t, "")
	p.Wait(untilReady)
	for _, width := range []int64{1440, 1100, 1024, 800, 640} {
		p.Viewport(width, 900)
		p.Drawn()
		got := Eval[[]float64](p, `[".answer .gauge-parts", "#budget"].flatMap((name) => {
			const at = document.querySelector(name).getBoundingClientRect();
			return [at.top, at.bottom];
		})`)
		if bar, knob := got[1], got[2:]; knob[0] >= bar || knob[1] <= bar {
			t.Errorf("at %d px the knob is from %v to %v, want it over the lower edge of the bar, %v",
				width, knob[0], knob[1], bar)
		}
	}
}

// TestNarrow checks that nothing is cut off and that the page does not scroll sideways, from the width of a
// window zoomed to 400 % up to that of a tablet. Only tables and code may scroll sideways.
func TestNarrow(t *testing.T) {
	t.Parallel()
	p := openedPage(t, offload, 320, 800)
	for _, width := range []int64{320, 350, 390, 768, 1000} {
		t.Run(fmt.Sprint("page ", width), func(t *testing.T) {
			if width == 350 || width == 768 {
				long(t)
			}
			p.For(t)
			p.Viewport(width, 800)
			p.Drawn()
			for _, what := range Eval[[]string](p, tooWide) {
				t.Error(what)
			}
			if one := Eval[bool](p, `Math.abs(document.querySelector(".side").getBoundingClientRect().left - document.querySelector(".pictures").getBoundingClientRect().left) < 1`); one != (width <= 900) {
				t.Errorf("one column: %v at %d px", one, width)
			}
			for _, dialog := range []string{"help", "share"} {
				Eval[bool](p, fmt.Sprintf(`document.querySelector('.header [data-do="%s"]').click(), true`, dialog))
				p.Wait(`[...document.querySelectorAll(".help-layer")].some((e) => !e.hidden)`)
				for _, what := range Eval[[]string](p, tooWide) {
					t.Errorf("with %s open: %s", dialog, what)
				}
				key(t, p, "Escape", "Escape")
				p.Wait(`[...document.querySelectorAll(".help-layer")].every((e) => e.hidden)`)
			}
		})
	}
	p = Open(t, "docs/")
	pages := Eval[[]string](p,
		`[...new Set([...document.querySelectorAll("header a")].map((e) => e.getAttribute("href")))].filter((h) => h.endsWith(".html") || h === "./").map((h) => "docs/" + h.replace("./", ""))`)
	if len(pages) < 8 {
		t.Fatalf("the documentation lists %d pages (%q); want at least 8", len(pages), pages)
	}
	for _, address := range pages {
		p.Navigate(address)
		for _, width := range []int64{320, 390, 768} {
			p.Viewport(width, 800)
			p.frames()
			for _, what := range Eval[[]string](p, tooWide) {
				t.Errorf("%s at %d px: %s", address, width, what)
			}
		}
	}
}

// TestHeaderIsOneRow checks that the header stays one row high when another network is shown, so that the page
// does not move.
func TestHeaderIsOneRow(t *testing.T) {
	long(t)
	t.Parallel()
	p := openedPage(t, "#v=1&p=vgg16-b64&m=5400MiB", 1440, 800)
	for _, width := range []int64{1360, 1440, 1620, 1920} {
		p.Viewport(width, 800)
		if got := Eval[float64](p, `document.querySelector(".header").getBoundingClientRect().height`); got > 60 {
			t.Errorf("%d px wide, the header of VGG-16 is %g px high; want one row", width, got)
		}
	}
}

// TestPhoneHeader checks that on a phone a long message does not shrink the button that dismisses it, and that
// the choices in the header fit into their controls.
func TestPhoneHeader(t *testing.T) {
	long(t)
	t.Parallel()
	p := openedPage(t, "#v=1&p=gpt2-medium-b4&m=60%25", 390, 844)
	if cut := Eval[[]string](p, `(() => {
		const pen = document.createElement("canvas").getContext("2d");
		return [...document.querySelectorAll(".case select")].filter((e) => e.checkVisibility()).filter((e) => {
			const style = getComputedStyle(e);
			pen.font = style.fontSize + " " + style.fontFamily;
			return pen.measureText(e.selectedOptions[0].textContent).width + 14 > e.clientWidth; // with padding and arrow
		}).map((e) => e.selectedOptions[0].textContent);
	})()`); len(cut) > 0 {
		t.Errorf("%q do not fit into their controls", cut)
	}
	Eval[bool](p, hands)
	drop(p, "bad.csv", []byte("name,forward_s,backward_s,output_bytes\na,x,1,1\n"))
	const dismiss = `document.querySelector('[data-do="dismiss"]')`
	p.Wait(dismiss + `?.checkVisibility()`)
	if got := Eval[[2]float64](p,
		`(({width, height}) => [width, height])(`+dismiss+`.getBoundingClientRect())`); got[0] < 44 || got[1] < 44 {
		t.Errorf("the button that dismisses a message is %v px; want 44 at least", got)
	}
}

// TestFourHundredPercent checks that no fixed element covers the control that has the focus. At a zoom of 400 % a
// window of 1280 by 1024 pixels has 320 by 256.
func TestFourHundredPercent(t *testing.T) {
	t.Parallel()
	long(t)
	p := openedPage(t, offload, 320, 256)
	Eval[bool](p, `document.activeElement.blur(), scrollTo(0, 0), true`)
	seen := map[string]bool{}
	for range 80 {
		key(t, p, "Tab", "Tab")
		at := Eval[struct{ Name, Over string }](p, `(() => {
			const e = document.activeElement, target = e.closest("label") ?? e, b = target.getBoundingClientRect();
			const name = (x) => x ? x.tagName.toLowerCase() + "." + x.className + " " + (x.getAttribute("data-do") ?? x.id) : "nothing";
			const x = (Math.max(b.left, 0) + Math.min(b.right, innerWidth)) / 2, y = (Math.max(b.top, 0) + Math.min(b.bottom, innerHeight)) / 2;
			const over = document.elementFromPoint(x, y);
			return {Name: name(e), Over: over && (target.contains(over) || over.contains(target)) ? "" : name(over)};
		})()`)
		if strings.HasPrefix(at.Name, "body") {
			break
		}
		seen[at.Name] = true
		if at.Over != "" {
			t.Errorf("%s has the focus and %s lies over it", at.Name, at.Over)
		}
	}
	if len(seen) < 20 {
		t.Errorf("Tab reached %d things; want at least 20", len(seen))
	}
}

// tooSmall is a function that lists the controls that are smaller than least pixels. It leaves out links in a
// line of text, which are as high as the line, and regions that scroll, which are no targets. A label counts as
// part of its control.
const tooSmall = `((least) => controlsShown().filter((e) => !e.matches("[role=region], [role=application], [role=note], p a, li a, dd a, .caption a, .origins a, .sources a, .origin a")).map((e) => {
	const target = e.closest("label") || e, b = target.getBoundingClientRect();
	return b.height + 0.5 < least || b.width + 0.5 < least ? nameOf(e) + ": " + Math.round(b.width) + " x " + Math.round(b.height) : "";
}).filter(Boolean))`

// TestTargets checks that controls are at least 24 px large for a mouse and 44 px for a finger.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int64
		touch         bool
		least         int
	}{
		{"mouse", 1400, 900, false, 24},
		{"phone", 390, 844, true, 44},
		{"tablet", 1180, 820, true, 44},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "tablet" {
				long(t)
			}
			p := New(t)
			p.Viewport(c.width, c.height)
			if c.touch {
				p.touch(c.width, c.height)
			}
			p.Navigate(offload)
			p.Wait(untilReady)
			Eval[bool](p, hands+";"+shownControls)
			if got := Eval[bool](p, `matchMedia("(pointer: coarse)").matches`); got != c.touch {
				t.Fatalf("the pointer is coarse: %v; want %v", got, c.touch)
			}
			openEverything(p)
			small := Eval[[]string](p, fmt.Sprintf(`%s(%d)`, tooSmall, c.least))
			Eval[bool](p, `document.querySelector('.header [data-do="share"]').click(), true`)
			p.Wait(`document.querySelector(".share")`)
			for _, s := range Eval[[]string](p, fmt.Sprintf(`%s(%d)`, tooSmall, c.least)) {
				if !strings.Contains(strings.Join(small, "\n"), s) {
					small = append(small, s)
				}
			}
			for _, s := range small {
				t.Errorf("%s is less than %d px", s, c.least)
			}
		})
	}
}

// TestPrint checks that the printed page has the numbers and the pictures, shows the settings as plain text, and
// has no buttons.
func TestPrint(t *testing.T) {
	t.Parallel()
	p := openedPage(t, offload, 1000, 1000)
	Eval[bool](p, shownControls)
	p.media("print")
	if left := Eval[[]string](p, `controlsShown().filter((e) => !e.matches("[role=region], [role=application], a[href]")).filter((e) => {
		const s = getComputedStyle(e);
		return s.appearance !== "none" || s.borderTopWidth !== "0px" || e.matches("[type=range], [type=search], [type=checkbox]");
	}).map(nameOf)`); len(left) > 0 {
		t.Errorf("on paper there is still %s", strings.Join(left, "; "))
	}
	for _, wanted := range []string{"dl.numbers dd", `[data-testid="timeline"]`, `[data-testid="memory"]`,
		`[data-testid="layers"]`, `[data-testid="tradeoff"]`, `[data-testid="selection"]`, "#strategy",
		`[data-do="gpu"]`, ".legend", ".sources"} {
		if !Eval[bool](p, fmt.Sprintf(`document.querySelector(%q).checkVisibility({visibilityProperty: true})`,
			wanted)) {
			t.Errorf("%s is not on paper", wanted)
		}
	}
	if order := Eval[[]string](p,
		`[".numbers", ".pictures", ".tradeoff", ".side", ".details"].toSorted((a, b) => document.querySelector(a).getBoundingClientRect().top - document.querySelector(b).getBoundingClientRect().top)`); strings.Join(order, " ") != ".numbers .pictures .side .tradeoff .details" {
		t.Errorf("on paper the order is %q; want the numbers, the pictures, the explanation, the curve, the settings",
			order)
	}
	if fixed := Eval[[]string](p,
		`[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && getComputedStyle(e).position === "fixed").map((e) => e.className)`); len(fixed) > 0 {
		t.Errorf("%q would be repeated on every sheet", fixed)
	}
}

// TestReducedMotion checks that nothing is animated or changes gradually if the reader asks for less motion, not
// even the indicator that a schedule is being computed.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.media("", "prefers-reduced-motion", "reduce")
	p.Navigate(offload)
	p.Wait(untilReady)
	Eval[bool](p, hands)
	openEverything(p)
	Eval[bool](p, `document.querySelectorAll(".working").forEach((e) => { e.hidden = false }), true`)
	moving := Eval[[]string](p, `[...document.querySelectorAll("*")].filter((e) => {
		const s = getComputedStyle(e);
		return s.transitionDuration.split(",").some((d) => parseFloat(d) > 0) || s.animationName !== "none" && s.animationDuration.split(",").some((d) => parseFloat(d) > 0) || s.scrollBehavior === "smooth";
	}).map((e) => e.tagName + "." + e.className)`)
	if len(moving) > 0 {
		t.Errorf("these move: %q", moving)
	}
	p.media("", "prefers-reduced-motion", "no-preference")
	if !Eval[bool](p, `document.getAnimations().length > 0`) {
		t.Error("nothing moves where motion is welcome either; the test sees no animation")
	}
}

// TestForcedColors checks that with forced colours every control has an edge, that pressed buttons look different
// from others, and that the pictures keep colours that contrast with their background.
func TestForcedColors(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.media("", "forced-colors", "active", "prefers-color-scheme", "dark")
	p.Navigate(offload)
	p.Wait(untilReady)
	Eval[bool](p, hands+";"+shownControls)
	openEverything(p)
	bare := Eval[[]string](p, `controlsShown().filter((e) => e.matches("button, select, input:not([type=range], [type=checkbox], .sr)") && !e.matches(".head, .fold-head *")).filter((e) => {
		const s = getComputedStyle(e);
		return s.borderTopStyle === "none" || s.borderTopWidth === "0px" || s.borderTopColor === getComputedStyle(document.body).backgroundColor;
	}).map(nameOf)`)
	if len(bare) > 0 {
		t.Errorf("these have no edge: %s", strings.Join(bare, "; "))
	}
	same := Eval[[]string](p, `[...document.querySelectorAll('[aria-pressed="true"]')].filter((e) => e.checkVisibility() && !e.disabled).filter((e) => {
		const other = e.parentElement.querySelector('[aria-pressed="false"]');
		if (!other) return false;
		const look = (e) => { const s = getComputedStyle(e); return [s.borderTopColor, s.borderTopWidth, s.backgroundColor, s.color, s.outlineStyle, s.fontWeight].join(); };
		return look(e) === look(other);
	}).map(nameOf)`)
	if len(same) > 0 {
		t.Errorf("these look the same whether they are pressed or not: %s", strings.Join(same, "; "))
	}
	colours := Eval[int](p, `(() => {
		const c = byID("timeline").querySelector("canvas.base"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Map();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) { const k = d[i] << 16 | d[i + 1] << 8 | d[i + 2]; seen.set(k, (seen.get(k) || 0) + 1); }
		return [...seen.values()].filter((n) => n > 200).length;
	})()`)
	if colours < 4 {
		t.Errorf("the time axis is painted in %d colours; want at least 4: forward, backward, recompute, transfer",
			colours)
	}
}

// TestHeadOfCurve checks that the heading of the curve stays on one line, and that the list of its axes is as wide as its
// words, on every width: the words between them give way.
func TestHeadOfCurve(t *testing.T) {
	t.Parallel()
	p := New(t)
	for _, width := range []int64{1440, 1100, 720, 390} {
		p.Viewport(width, 900)
		p.Navigate("")
		p.Done()
		const cut = `(() => {
			const title = document.getElementById("tradeoff-title"), axis = document.querySelector(".tradeoff .axis");
			const whole = axis.cloneNode(true), range = document.createRange();
			whole.style.position = "absolute";
			axis.after(whole);
			const lacks = whole.offsetWidth - axis.offsetWidth;
			whole.remove();
			range.selectNodeContents(title);
			return [range.getClientRects().length - 1, Math.max(lacks, 0), document.documentElement.scrollWidth - innerWidth];
		})()`
		if got := Eval[[]float64](p, cut); !slices.Equal(got, []float64{0, 0, 0}) {
			t.Errorf("at %d px %v: line breaks of the heading, px that the list of axes lacks and the page has too much", width,
				got)
		}
	}
}
