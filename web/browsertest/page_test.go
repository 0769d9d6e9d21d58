//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const untilReady = `document.body.dataset.state === "ready" && document.querySelector(".paint canvas")`

// settledPage opens an address and waits for the first schedule.
func settledPage(t *testing.T, address string) *Page {
	t.Helper()
	p := Open(t, address)
	p.Wait(untilReady, 30*time.Second)
	return p
}

// TestShots writes pictures of the page for people to look at, to the directory
// named by MEMTIDE_SHOTS.
func TestShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	for _, c := range []struct {
		name          string
		address       string
		width, height int64
		dark          bool
	}{
		{"light", "", 1440, 1000, false},
		{"dark", "", 1440, 1000, true},
		{"offload", "#v=1&p=vgg16-b64&s=greedy&m=60%", 1440, 1000, false},
		{"small", "#v=1&p=resnet101-b32&m=100MiB", 1280, 900, false},
		{"mobile", "", 390, 1900, false},
		{"mobiledark", "", 390, 844, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(t)
			p.Viewport(c.width, c.height)
			p.Dark(c.dark)
			p.Navigate(c.address)
			p.Wait(`document.querySelector(".paint canvas") && document.querySelector(".curve-status progress").hidden`, time.Minute)
			time.Sleep(700 * time.Millisecond)
			if err := os.WriteFile(filepath.Join(dir, c.name+".png"), p.Shot(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log(p.Console())
		})
	}
}

// set moves a control as a person does and tells the page.
const scripted = `
window.control = (id, value, event) => {
	const e = document.querySelector('[data-testid="' + id + '"]');
	e.value = value;
	e.dispatchEvent(new Event(event || "change", {bubbles: true}));
};
window.result = (id) => document.querySelector('[data-testid="' + id + '"]').textContent;
window.slider = () => document.querySelector('[data-testid="budget"]');
`

// TestBudgetDrag measures how long after a movement of the slider its schedule
// is on screen, and the longest time for which input was blocked. The figures
// are logged: they belong to a report, not to a pass or fail.
func TestBudgetDrag(t *testing.T) {
	p := settledPage(t, "")
	p.Wait(`document.querySelector(".curve-status progress").hidden`, time.Minute)
	Eval[bool](p, scripted+`true`)
	type figures struct {
		Latency []float64
		Blocked float64
	}
	got := Eval[figures](p, `(async () => {
		const out = {Latency: [], Blocked: 0};
		const canvas = document.querySelector('[data-testid="memory"] canvas');
		let painted = 0;
		const paint = globalThis.memtidePaint;
		let last = performance.now(), on = true;
		(function tick() { const n = performance.now(); out.Blocked = Math.max(out.Blocked, n - last); last = n; if (on) setTimeout(tick, 0); })();
		const max = Number(slider().max);
		const peak = () => result("peak");
		for (let i = 0; i < 40; i++) {
			const at = Math.round(max * (0.25 + 0.6 * ((i * 17) % 40) / 40));
			const before = document.querySelector('[data-testid="peak"]').previousSibling, start = performance.now();
			const label = () => document.querySelector("dl.numbers dt").textContent;
			const old = label();
			control("budget", at, "input");
			while (label() === old && performance.now() - start < 2000) await new Promise(r => setTimeout(r, 1));
			out.Latency.push(performance.now() - start);
			await new Promise(r => setTimeout(r, 120));
		}
		on = false;
		return out;
	})()`)
	slices.Sort(got.Latency)
	n := len(got.Latency)
	t.Logf("budget to schedule on screen: median %.0f ms, 95th percentile %.0f ms; input blocked at most %.0f ms",
		got.Latency[n/2], got.Latency[n*95/100], got.Blocked)
}
