package browsertest

import "testing"

// story is a network that does not fit with everything kept: there is a story to tell.
const story = "#v=1&p=llama3-8b-hf-on-h100-sxm-80gb-b1&dev=h100-sxm-80gb&m=73GiB&s=pofo&c=none"

// A step of the story fades over from what was shown, a selection quickly so; nothing
// does for those who want no motion.
func TestFades(t *testing.T) {
	t.Parallel()
	for _, motion := range []string{"no-preference", "reduce"} {
		p := New(t)
		p.media("", "prefers-reduced-motion", motion)
		p.Before(`window.fades = []; const animate = Element.prototype.animate; Element.prototype.animate = function (...how) { fades.push(how[1]); return animate.apply(this, how) }`)
		p.Navigate(story)
		p.Wait(untilReady)
		Eval[bool](p, hands)
		Eval[bool](p, painted)
		p.Wait(`painted("memory") > 0 && !document.querySelector(".poster")`)
		if got := Eval[int](p, `fades.length`); got != 0 {
			t.Errorf("%s: %d canvases fade before anything was done; want none", motion, got)
		}
		p.Click(`[data-testid="story-1"]`)
		p.Wait(`result("peak").includes("108 GiB")`)
		p.Click(`[data-testid="story-4"]`)
		p.Wait(`location.hash.includes("story=4")`)
		Eval[bool](p, `(() => { const e = document.querySelector("[data-do=find]"); e.value = "block30"; return e.dispatchEvent(new Event("input", {bubbles: true})) })()`)
		p.Wait(`location.hash.includes("sel=")`)
		got, want := Eval[string](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))).then(() => [...new Set(fades)].join(" "))`), "400 180"
		if motion == "reduce" {
			want = ""
		}
		if got != want {
			t.Errorf("%s: canvases fade in %q milliseconds; want %q", motion, got, want)
		}
		p.Quiet()
	}
}

// Nothing on the page jumps while it starts, while it finds out what would help, or
// while the story is told.
func TestNothingJumps(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1440, 390} {
		p := New(t)
		p.Viewport(width, 900)
		p.Before(`window.jumps = []; new PerformanceObserver((list) => { for (const e of list.getEntries()) jumps.push(...e.sources.map((s) => e.value.toFixed(4) + " " + (s.node?.className || s.node?.nodeName))); window.jumped = (window.jumped || 0) + list.getEntries().reduce((sum, e) => sum + e.value, 0) }).observe({type: "layout-shift", buffered: true})`)
		p.Navigate("")
		p.Wait(untilReady)
		Eval[bool](p, hands)
		p.Wait(`document.querySelectorAll(".gain").length > 0 && !byID("better").parentElement.textContent.includes("…")`)
		for _, step := range []string{"1", "2", "4"} {
			p.Click(`[data-testid="story-` + step + `"]`)
			p.Wait(`location.hash.includes("story=` + step + `")`)
		}
		if got := Eval[float64](p, `window.jumped || 0`); got > 0.02 {
			t.Errorf("%d wide: a layout shift of %.4f; want 0.02 at most: %q", width, got, Eval[[]string](p, `jumps`))
		}
	}
}
