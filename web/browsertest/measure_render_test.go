//go:build !js

package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// renders are kinds of events and the scripts that cause them again and again; i is the number of the repetition.
var renders = []struct{ name, step string }{
	{"curve pointed at", `(() => { const e = byID("tradeoff"), b = e.getBoundingClientRect(); e.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: b.left + 60 + (b.width - 90) * ((i * 7) % 20) / 20, clientY: b.top + b.height * 0.6})); })()`},
	{"timeline pointed at", `(() => { const e = byID("timeline").querySelector(".paint"), b = e.getBoundingClientRect(); e.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: b.left + b.width * ((i * 7) % 20) / 20, clientY: b.top + b.height * 0.5})); })()`},
	{"budget dragged", `control("budget", Math.round(Number(byID("budget").max) * (0.3 + 0.5 * ((i * 7) % 20) / 20)), "input")`},
	{"strategy chosen", `control("strategy", ["revolve", "greedy", "remat", "lru"][i % 4].replace("remat", byID("strategy").options[0].value), "change")`},
	{"bandwidth dragged", `control("bandwidth", Math.round(Number(byID("bandwidth").max) * (0.3 + 0.5 * ((i * 7) % 20) / 20)), "input")`},
	{"list of networks opened, closed", `document.querySelector('[data-do="picker"]').click()`},
	{"typed in the list of networks",
		`(i === 0 && document.querySelector('[data-do="picker"]').click(), setTimeout(() => typed("picker-find", ["r", "re", "res", "v", "", "gp"][i % 6]), 100))`},
	{"list of networks closed", `(i === 0 && document.querySelector('[data-do="picker"]').click())`},
	{"sharing opened, closed", `document.querySelector('[data-do="share"]').click()`},
	{"help opened, closed", `document.querySelector('[data-do="help"]').click()`},
	{"wait selected", `document.querySelector('[data-do="wait-next"]').click()`},
	{"table of operations opened, closed", `document.querySelector('[data-do="table"]').click()`},
	{"table of layers opened, closed", `document.querySelector('[data-do="layers"]').click()`},
	{"typed in the table of layers",
		`(i === 0 && document.querySelector('[data-do="layers"]').click(), setTimeout(() => typed("layers-find", ["1", "12", "c", "conv", ""][i % 5]), 100))`},
	{"layers sorted", `document.querySelectorAll('[data-do="layers-sort"]')[i % 4].click()`},
	{"table of layers closed", `(i === 0 && document.querySelector('[data-do="layers"]').click())`},
	{"addresses opened, closed", `document.querySelector('[data-do="places"]').click()`},
	{"lines opened, closed", `document.querySelector('[data-do="lines-list"]').click()`},
	{"comparison opened, closed", `document.querySelector('[data-do="compare"]').click()`},
	{"theme changed", `document.querySelector('[data-do="theme"]').click()`},
}

// TestMeasureRender measures how long the components take to be drawn after every kind of event, and how long the
// browser takes for styles and layout afterwards. A drawing is part of a task of the page's thread. The log gives
// the processor time of the longest such task beside its duration, because the task may also have waited while
// workers had all cores.
func TestMeasureRender(t *testing.T) {
	measuring(t)
	p := New(t)
	p.Before(`globalThis.memtideMeasure = true; performance.setResourceTimingBufferSize(10000)`)
	p.Navigate("")
	p.Wait(untilReady)
	t.Logf("first: %s", p.parts())
	Eval[bool](p, hands+`; globalThis.typed = (id, text) => { const e = byID(id); e.value = text; e.dispatchEvent(new Event("input", {bubbles: true})); }; true`)
	curveBegun(p)
	before := p.metrics()
	Eval[bool](p, `performance.clearMeasures(); new Promise(r => setTimeout(r, 3000, true))`)
	t.Logf("three seconds of the sweep: %s%s", p.parts(), p.since(before))
	for _, e := range renders {
		before := p.metrics()
		events := p.trace([]string{"toplevel", "blink.user_timing"}, func() {
			Eval[bool](p, fmt.Sprintf(`(async () => {
				performance.clearMeasures();
				for (let i = 0; i < 12; i++) { %s; await new Promise(r => setTimeout(r, 250)); }
				document.querySelector('[data-do="stop-sweep"]').click(); // which a decision has begun
				await new Promise(r => setTimeout(r, 100));
				return true;
			})()`, e.step))
		})
		worked, lasted := int64(0), int64(0)
		for _, task := range tasksWith(events, "memtide:settle") {
			worked, lasted = max(worked, task.Tdur), max(lasted, task.Dur)
		}
		t.Logf("%s: longest task with a drawing %.1f ms of work (%.1f ms with waiting for a core), %s%s", e.name,
			float64(worked)/1000, float64(lasted)/1000, p.parts(), p.since(before))
	}
}

// parts formats the times in milliseconds that the page has recorded: for each kind their number, median and
// maximum. A drawing of the components consists of building the tree, writing the differences, applying them, and
// settling, which sets and focuses what the differences do not describe.
func (p *Page) parts() string {
	type measure struct {
		Name     string
		Duration float64
	}
	all, sum := map[string][]float64{}, 0.0
	for _, m := range Eval[[]measure](p,
		`performance.getEntriesByType("measure").filter(m => m.name.startsWith("memtide:")).map(m => ({Name: m.name.slice(8), Duration: m.duration}))`) {
		all[m.Name] = append(all[m.Name], m.Duration)
		if sum += m.Duration; m.Name == "build" {
			sum = m.Duration
		} else if m.Name == "settle" {
			all["drawing"] = append(all["drawing"], sum)
		}
	}
	var out []string
	for _, name := range []string{"drawing", "build", "write", "apply", "settle", "option", "curve"} {
		if ms := all[name]; len(ms) > 0 {
			slices.Sort(ms)
			out = append(out, fmt.Sprintf("%s %d× %.1f (most %.1f)", name, len(ms), ms[len(ms)/2], ms[len(ms)-1]))
		}
	}
	return strings.Join(out, ", ")
}

// metrics returns the browser's counters and sums of seconds of the page's thread since the page was opened.
func (p *Page) metrics() map[string]float64 {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, performance.Enable,
		performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	p.do(err)
	got, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	p.do(err)
	out := map[string]float64{}
	for _, m := range got.Metrics {
		out[m.Name] = m.Value
	}
	return out
}

// since formats the time that styles, layout, scripts and everything together took since the metrics in before.
func (p *Page) since(before map[string]float64) string {
	now := p.metrics()
	d := func(name string) float64 { return now[name] - before[name] }
	return fmt.Sprintf("; styles %.0f ms in %.0f, layout %.0f ms in %.0f, scripts %.0f ms, all %.0f ms",
		1000*d("RecalcStyleDuration"), d("RecalcStyleCount"), 1000*d("LayoutDuration"), d("LayoutCount"),
		1000*d("ScriptDuration"), 1000*d("TaskDuration"))
}
