package browsertest

import (
	"fmt"
	"testing"
)

// tight is the address of a network that does not fit if it keeps everything.
const tight = "#v=1&p=llama3-8b-step-optimizer.adamw_8bit-states.bf16-on-h100-sxm-80gb-b2&dev=h100-sxm-80gb&m=73GiB&s=pofo&c=none"

// TestFades checks that a picture fades from its old content to the new one when the selection changes, except
// for readers who ask for less motion.
func TestFades(t *testing.T) {
	t.Parallel()
	long(t)
	for _, motion := range []string{"no-preference", "reduce"} {
		p := New(t)
		p.media("", "prefers-reduced-motion", motion)
		p.Before(`window.fades = []; const animate = Element.prototype.animate; Element.prototype.animate = function (...how) { fades.push(how[1]); return animate.apply(this, how) }`)
		p.Navigate(tight)
		p.Wait(untilReady)
		Eval[bool](p, hands)
		Eval[bool](p, painted)
		p.Wait(`painted("memory") > 0 && !document.querySelector(".poster")`)
		if got := Eval[int](p, `fades.length`); got != 0 {
			t.Errorf("%s: %d canvases fade before anything was done; want none", motion, got)
		}
		Eval[bool](p, `document.getElementById("stage").focus(), true`)
		key(t, p, "ArrowRight", "ArrowRight")
		p.Wait(`location.hash.includes("sel=")`)
		got, want := Eval[string](p,
			`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))).then(() => [...new Set(fades)].join(" "))`), "180"
		if motion == "reduce" {
			want = ""
		}
		if got != want {
			t.Errorf("%s: canvases fade in %q milliseconds; want %q", motion, got, want)
		}
		p.Quiet()
	}
}

// shifts finds the layout shift that the browser reports, from the start on, by its usual definition: the largest sum of
// shifts that follow each other within a second, for five seconds at most. It lists the elements that moved.
const shifts = `window.jumps = []; window.jumped = 0; let first = -1e9, last = -1e9, sum = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) {
	jumps.push(...e.sources.map((s) => e.value.toFixed(4) + " at " + Math.round(e.startTime) + " ms: " + (s.node?.className || s.node?.nodeName)));
	if (e.startTime - last > 1000 || e.startTime - first > 5000) { first = e.startTime; sum = 0 }
	last = e.startTime; sum += e.value; jumped = Math.max(jumped, sum) } }).observe({type: "layout-shift", buffered: true});`

// TestNothingJumps checks that nothing on the page jumps while it starts and while it finds out what would help, nor
// when a link asks for a training step under a policy or on a pipeline. It opens two of the links once; with
// MEMTIDE_LONG=1 it opens all of them on a computer and on a phone.
func TestNothingJumps(t *testing.T) {
	t.Parallel()
	helped := func(p *Page) {
		p.Wait(untilReady + ` && document.querySelectorAll(".gain").length > 0 && !byID("better").parentElement.textContent.includes("…")`)
	}
	known := func(p *Page) {
		whole(p, "GiB")
		if hidden := Eval[string](p,
			`[".gauge", ".numbers", ".turns"].filter((s) => getComputedStyle(document.querySelector(s)).visibility !== "visible").join(" ")`); hidden != "" {
			t.Errorf("hidden when the answer is there: %s", hidden)
		}
	}
	const policy = "#v=1&step=llama3-8b&step.ckpt=budget&step.compile=yes&step.graph=model"
	const ranks = "#v=1&step=llama3.2-1b&step.gpus=4&step.pp=4&step.accumulate=8&step.ckpt=none&step.seq=2048"
	for _, c := range []struct {
		name, link string
		width      int64
		wait       func(*Page)
		rest       bool // with MEMTIDE_LONG=1 only
	}{
		{"page", "", 1440, helped, false}, {"page on a phone", "", 390, helped, true},
		{"policy", policy, 1440, known, true}, {"policy on a phone", policy, 390, known, true},
		{"ranks", ranks, 1440, known, true}, {"ranks on a phone", ranks, 390, known, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.rest {
				long(t)
			}
			p := New(t)
			p.Viewport(c.width, 900)
			p.Before(shifts + hands)
			p.Navigate(c.link)
			c.wait(p)
			if got := Eval[float64](p, `window.jumped || 0`); got > 0.02 {
				t.Errorf("%q, %d wide: a layout shift of %.4f; want 0.02 at most: %q", c.link, c.width, got,
					Eval[[]string](p, `jumps`))
			}
		})
	}
}

// TestKnobStays checks that the bar and the pictures stay where they are when a moved budget makes the sentence above
// them longer.
func TestKnobStays(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Viewport(1440, 900)
	p.Navigate("")
	p.Done()
	const places = `JSON.stringify([byID("budget"), document.getElementById("stage")].map((e) => Math.round(e.getBoundingClientRect().top)))`
	before, tall := Eval[string](p, hands+";"+places), Eval[float64](p, `document.querySelector(".case").offsetHeight`)
	Eval[bool](p, `byID("budget").focus(), true`)
	for range 4 {
		stroke(p, "ArrowLeft", "ArrowLeft", 0)
	}
	p.Wait(`document.querySelector(".case").offsetHeight > ` + fmt.Sprint(tall))
	p.Done()
	if after := Eval[string](p, places); after != before {
		t.Errorf("knob and pictures are at %s, and with a longer sentence at %s; want the same", before, after)
	}
}
