//go:build !js

package browsertest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests in this file measure times and log them. They do not fail on slow results, because those depend on
// the machine. `make measure` runs them.

func measuring(t *testing.T) {
	t.Helper()
	if os.Getenv("MEMTIDE_MEASURE") == "" {
		t.Skip("a measurement: make measure runs it")
	}
}

// quantiles formats the median, the 95th percentile and the maximum of times in milliseconds.
func quantiles(ms []float64) string {
	slices.Sort(ms)
	n := len(ms)
	if n == 0 {
		return "nothing measured"
	}
	return fmt.Sprintf("median %.1f ms, 95th percentile %.1f ms, most %.1f ms", ms[n/2], ms[n*95/100], ms[n-1])
}

// TestMeasureStart measures how long after its navigation the page shows a picture and the live schedule.
func TestMeasureStart(t *testing.T) {
	measuring(t)
	p := Open(t, "")
	p.Wait(untilReady)
	report := func(name string) {
		t.Logf("%s start: first paint %.0f ms, schedule ready about %.0f ms", name,
			Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`),
			Eval[float64](p, `performance.now()`))
	}
	report("cold")
	for range 3 {
		Eval[bool](p, `location.reload(); true`)
		p.rest(50 * time.Millisecond)
		p.Wait(untilReady)
		report("warm")
	}
}

// TestMeasureGraphStart measures how long after its navigation the first visit to a graph of operations shows a
// schedule.
func TestMeasureGraphStart(t *testing.T) {
	measuring(t)
	for _, strategy := range []string{"window", "blocks", "dtr"} {
		var ready []float64
		for range 5 {
			t.Run(strategy, func(t *testing.T) { // a subtest, which closes the page at its end: its curve takes long
				p := Open(t, "#v=1&p=resnet50-graph-b32&m=60%25&s="+strategy)
				p.Wait(untilReady)
				ready = append(ready, Eval[float64](p, `performance.now()`))
			})
		}
		t.Logf("%s: schedule ready %s", strategy, quantiles(ready))
	}
}

// TestMeasureGraphFirst measures how long after a click on a strategy for graphs its first schedule is on screen,
// and its last one. The first budget includes the loading of the second program; the others do not.
func TestMeasureGraphFirst(t *testing.T) {
	measuring(t)
	for _, strategy := range []string{"graphsearch", "blocks"} {
		p := Open(t, "#v=1&p=gpt2-medium-graph-b2&s=dtr&m=80%25")
		p.Wait(untilReady)
		Eval[bool](p, hands)
		Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]')?.click(); true`)
		for _, budget := range []string{"80%", "75%", "70%", "65%"} {
			Eval[bool](p, `control("strategy", "dtr"); true`)
			p.Wait(untilReady)
			Eval[bool](p, fmt.Sprintf(`(() => {
				const e = document.querySelector('[data-do="budget-text"]');
				e.value = %q;
				return e.dispatchEvent(new Event("change", {bubbles: true}));
			})()`, budget))
			p.Wait(untilReady)
			p.rest(time.Second)
			got := Eval[[]float64](p, fmt.Sprintf(`(async () => {
				const start = performance.now(), out = [];
				control("strategy", %q);
				for (let on = false; ; await new Promise(requestAnimationFrame)) {
					const state = document.body.dataset.state;
					on ||= state === "solving";
					if (!out.length && byID("verdict").textContent === "best so far") out.push(performance.now() - start);
					if (on && state !== "solving") return [...out, performance.now() - start];
				}
			})()`, strategy))
			t.Logf("%s at %s: first and last answer on screen after %.0f ms", strategy, budget, got)
		}
	}
}

// TestMeasureDrag measures how long after a movement of the slider its schedule is on screen, and for how long
// input is blocked at most, while the curve is computed and without that.
func TestMeasureDrag(t *testing.T) {
	measuring(t)
	p := settledPage(t, resnet)
	curveBegun(p)
	dragBudget(t, p, "beside the sweep", 0)
	dragFrames(t, p, "beside the sweep")
	Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]').click(); true`)
	p.Wait(`document.querySelector(".curve-status progress").hidden`)
	p.rest(time.Second) // until the stopped workers have been replaced
	dragBudget(t, p, "alone", 0.006)
	dragBudget(t, p, "alone", 0.012)
	dragFrames(t, p, "alone")
}

// dragBudget moves the slider forty times. Budgets that were solved before come from a cache, so every call needs
// a different shift.
func dragBudget(t *testing.T, p *Page, name string, shift float64) {
	t.Helper()
	type figures struct{ Latency, Blocked []float64 }
	got := Eval[figures](p, fmt.Sprintf(`(async () => {
		const out = {Latency: [], Blocked: []};
		let last = performance.now(), on = true;
		(function tick() { const n = performance.now(); out.Blocked.push(n - last); last = n; if (on) setTimeout(tick, 0); })();
		const max = Number(byID("budget").max);
		const label = () => byID("peak").textContent + byID("step-time").textContent;
		for (let i = 0; i < 40; i++) {
			const at = Math.round(max * (%g + 0.25 + 0.6 * ((i * 17) %% 40) / 40)), old = label(), start = performance.now();
			control("budget", at, "input");
			while (label() === old && performance.now() - start < 2000) await new Promise(r => setTimeout(r, 1));
			out.Latency.push(performance.now() - start);
			await new Promise(r => setTimeout(r, 120));
		}
		on = false;
		out.Blocked = out.Blocked.filter(ms => ms > 20); // the longer ones are of interest
		return out;
	})()`, shift))
	t.Logf("%s: budget to schedule on screen %s; input blocked for over 20 ms %d times: %s",
		name, quantiles(got.Latency), len(got.Blocked), quantiles(got.Blocked))
}

// dragFrames moves the slider in every frame, as a mouse does.
func dragFrames(t *testing.T, p *Page, name string) {
	t.Helper()
	type figures struct {
		Frames []float64
		Shown  int
	}
	before := p.metrics()
	got := Eval[figures](p, `(async () => {
		const out = {Frames: [], Shown: 0}, max = Number(byID("budget").max), frame = () => new Promise(requestAnimationFrame);
		let label = "", last = await frame();
		for (let i = 0; i < 180; i++) {
			control("budget", Math.round(max * (0.55 + 0.3 * Math.sin(i / 20))), "input");
			const n = await frame(), shown = byID("peak").textContent + byID("step-time").textContent;
			out.Frames.push(n - last);
			out.Shown += shown !== label;
			[last, label] = [n, shown];
		}
		return out;
	})()`)
	t.Logf("%s, the slider moved in each of %d frames: %s; %d schedules were shown%s", name, len(got.Frames),
		quantiles(got.Frames), got.Shown, p.since(before))
}

// TestMeasureSweep measures how long the curve of every strategy takes, and when its first point is shown.
func TestMeasureSweep(t *testing.T) {
	measuring(t)
	p := settledPage(t, "#v=1&p=resnet101-b32&m=60%25&c=all")
	start := time.Now()
	p.Wait(`document.querySelector(".curve-status progress").value > 0`)
	t.Logf("first points of the curve %v after the schedule", time.Since(start).Round(time.Millisecond))
	p.Wait(`document.querySelector(".curve-status progress").hidden`, 5*time.Minute)
	t.Logf("the whole curve: %v after the schedule (%s)", time.Since(start).Round(time.Millisecond),
		Eval[string](p, `byID("sweep").textContent.replace(/\s+/g, " ")`))
	p.Wait(`document.querySelector('[data-do="stop-sweep"]').hidden`, 5*time.Minute)
	t.Logf("with more time for what was not finished: %v after the schedule", time.Since(start).Round(time.Millisecond))
	// Once the workers have started: another network, from its schedule to the first points of its curve.
	took := Eval[float64](p, `(async () => {
		const start = performance.now(), progress = () => document.querySelector(".curve-status progress");
		location.hash = "#v=1&p=resnet101-b16&m=60%25&c=all";
		while (document.body.dataset.state !== "ready" || !document.title.includes("16")) await new Promise(r => setTimeout(r, 1));
		const shown = performance.now();
		while (progress().hidden || !(progress().value > 0)) await new Promise(r => setTimeout(r, 1));
		return performance.now() - shown;
	})()`)
	t.Logf("another network: first points of the curve %.0f ms after its schedule", took)
}

// manyLayers returns a profile of 19,999 layers as CSV.
func manyLayers() string {
	var csv strings.Builder
	csv.WriteString("name,forward_s,backward_s,output_bytes,saved_bytes\n")
	for i := range 19_999 {
		fmt.Fprintf(&csv, "layer%d,%.6f,%.6f,%d,%d\n", i, 1e-6*float64(50+i*7919%450), 1e-6*float64(100+i*104729%800),
			65536*(1+i%40), 131072*(1+i%40))
	}
	return csv.String()
}

// TestMeasureFrames measures how long frames take while about 80,000 slices are zoomed and panned: a chain of
// 19,999 layers whose activations are offloaded.
func TestMeasureFrames(t *testing.T) {
	measuring(t)
	p := settledPage(t, "#v=1&p=resnet50-b32&s=greedy&m=50%")
	start := time.Now()
	Eval[bool](p, fmt.Sprintf("drop('big.csv', %q); true", manyLayers()))
	p.Wait(`document.title.startsWith("big") && document.body.dataset.state === "ready"`, 2*time.Minute)
	t.Logf("19,999 layers on screen %v after they were dropped: %s", time.Since(start).Round(time.Millisecond),
		Eval[string](p, `document.querySelector('[data-testid="table"]')?.textContent ?? ""`))
	Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]')?.click(); true`)
	p.rest(time.Second)
	for _, c := range []struct{ name, step string }{
		{"zoom in and out", `wheel(i % 60 < 30 ? -120 : 120)`},
		{"pan, zoomed in", `(i === 0 && [...Array(12)].forEach(() => wheel(-120)), key(i % 40 < 20 ? "KeyD" : "KeyA"))`},
	} {
		frames := Eval[[]float64](p, fmt.Sprintf(`(async () => {
			const e = byID("timeline").querySelector(".paint"), b = e.getBoundingClientRect();
			const wheel = (dy) => e.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true, ctrlKey: true, deltaY: dy, clientX: b.left + b.width * 0.4, clientY: b.top + b.height / 2}));
			const key = (code) => document.body.dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, cancelable: true, code, key: code.slice(3).toLowerCase()}));
			const frame = () => new Promise(requestAnimationFrame);
			const out = [];
			let last = await frame();
			for (let i = 0; i < 180; i++) { %s; const n = await frame(); out.push(n - last); last = n; }
			return out;
		})()`, c.step))
		t.Logf("%s: frames %s", c.name, quantiles(frames))
	}
}

// TestMeasurePlay measures how long frames take while the step is played over all pictures, for the example that
// the bare address shows and for the network of 19,999 layers.
func TestMeasurePlay(t *testing.T) {
	measuring(t)
	for _, name := range []string{"the example", "19,999 layers"} {
		address := ""
		if name != "the example" {
			address = "#v=1&p=resnet50-b32&s=greedy&m=50%"
		}
		p := settledPage(t, address)
		if address != "" {
			Eval[bool](p, fmt.Sprintf("drop('big.csv', %q); true", manyLayers()))
			p.Wait(`document.title.startsWith("big") && document.body.dataset.state === "ready"`, 2*time.Minute)
		}
		Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]')?.click(); true`)
		p.rest(time.Second)
		frames := Eval[[]float64](p, `(async () => {
			byID("play").click();
			const frame = () => new Promise(requestAnimationFrame);
			const out = [];
			let last = await frame();
			for (let i = 0; i < 180; i++) { const n = await frame(); out.push(n - last); last = n; }
			if (byID("play").getAttribute("aria-pressed") !== "true") throw new Error("it is not played");
			byID("play").click();
			return out;
		})()`)
		t.Logf("%s is played: frames %s", name, quantiles(frames))
	}
}
