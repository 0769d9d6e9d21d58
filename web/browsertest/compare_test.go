//go:build !js

package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// painted defines a function that returns the length of a picture as a PNG in a data URL, or 0 if its canvas is
// empty.
const painted = `globalThis.painted = (id) => {
	const c = byID(id).querySelector("canvas.base");
	if (!c || !c.width || !c.height) return 0;
	const empty = document.createElement("canvas");
	empty.width = c.width;
	empty.height = c.height;
	const picture = c.toDataURL();
	return picture === empty.toDataURL() ? 0 : picture.length;
}; true`

const rested = `document.body.dataset.state === "ready"`

func TestCompare(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	Eval[bool](p, painted)
	alone := Eval[string](p, "location.hash")
	stepOfA := result(p, "step-time")
	key(t, p, "KeyC", "c")
	p.Wait(rested + ` && byID("delta-say").textContent.startsWith("B is ") && painted("timeline-b") > 0`)
	if hash := Eval[string](p, "location.hash"); !strings.HasSuffix(hash, "&b.s=layerwise") {
		t.Errorf("the address is %q; want a B in it", hash)
	}
	Eval[bool](p, `control("strategy", "dynprog"); true`)
	p.Wait(rested + ` && location.hash.includes("b.s=dynprog") && byID("delta").textContent.includes("waiting")`)
	for _, id := range []string{"layers", "layers-b", "timeline", "timeline-b", "memory"} {
		if Eval[int](p, fmt.Sprintf("painted(%q)", id)) == 0 {
			t.Errorf("the picture %s is empty", id)
		}
	}
	// One picture shows the memory of A and B until both are asked for side by side.
	if Eval[bool](p, `!!byID("memory-b").offsetParent`) {
		t.Error("B's memory has a picture of its own; want it in A's")
	}
	p.Click(`[data-testid="sides"]`)
	p.Wait(`painted("memory-b") > 0 && location.hash.includes("open=sides")`)
	p.Click(`[data-testid="sides"]`)
	p.Wait(`!byID("memory-b").offsetParent && !location.hash.includes("open=sides")`)
	words := result(p, "delta-words")
	if !strings.HasPrefix(words, "B takes ") || !strings.Contains(words, "computing again ") {
		t.Errorf("the sentence is %q; want what B takes", words)
	}
	// The pictures of A and B share a time axis: they have the same width and one is below the other.
	if !Eval[bool](p, `(() => {
		const a = byID("timeline").getBoundingClientRect(), b = byID("timeline-b").getBoundingClientRect();
		return a.left === b.left && a.width === b.width && a.bottom <= b.top;
	})()`) {
		t.Error("the timelines of A and B do not stand one under the other")
	}
	// The link opens the same comparison.
	hash := Eval[string](p, "location.hash")
	again := settledPage(t, hash)
	again.Wait(`byID("delta").textContent.includes("step")`)
	if got, want := again.Text(`[data-testid="delta"]`), p.Text(`[data-testid="delta"]`); got != want {
		t.Errorf("opened from the link the delta is %q; want %q", got, want)
	}
	// X swaps A and B. The buttons choose the side to which the controls belong.
	key(t, p, "KeyX", "x")
	p.Wait(`byID("side-a").textContent.includes("Offload") && byID("side-a").getAttribute("aria-pressed") === "true"`)
	p.Click(`[data-testid="side-b"]`)
	p.Wait(`byID("side-b").getAttribute("aria-pressed") === "true" && byID("strategy").value === "rotor"`)
	// Back leads to the page before the comparison.
	for range 2 {
		p.Back()
	}
	p.Wait(rested + ` && !byID("timeline-b").offsetParent`)
	if got := Eval[string](p, "location.hash"); got != alone {
		t.Errorf("back at %q; want %q", got, alone)
	}
	if got := result(p, "step-time"); got != stepOfA {
		t.Errorf("back, the step takes %q; want %q", got, stepOfA)
	}
	p.Quiet()
}

func TestCompareFiles(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, resnet)
	other := strings.ReplaceAll(smallCSV, "0.005", "0.009")
	Eval[bool](p, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%q], "one.csv"));
		data.items.add(new File([%q], "two.csv"));
		document.body.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
		return true;
	})()`, smallCSV, other))
	p.Wait(rested + ` && byID("delta").textContent.includes("computing")`)
	if got, want := p.Text(`[data-testid="delta"]`), "computing +4.00 ms"; !strings.Contains(got, want) {
		t.Errorf("the delta is %q; want %q and more", got, want)
	}
	if a, b := p.Text(`[data-testid="side-a"]`), p.Text(`[data-testid="side-b"]`); !strings.Contains(a, "one") ||
		!strings.Contains(b, "two") {
		t.Errorf("A is %q, B is %q; want one and two", a, b)
	}
	p.Wait(`location.hash.includes("&b.d=")`)
	again := settledPage(t, Eval[string](p, "location.hash"))
	again.Wait(`byID("delta").textContent.includes("computing +4.00 ms")`)
	p.Quiet()
}

// TestCompareShots writes pictures of comparisons to the directory named by MEMTIDE_SHOTS.
func TestCompareShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	for _, c := range []struct {
		name, address string
		width, height int64
		dark          bool
		script        string
	}{
		{"compare-light", "#v=1&p=resnet101-b32&m=70%25&b.s=greedy", 1440, 1500, false, hover},
		{"compare-dark", "#v=1&p=vgg16-b64&s=greedy&m=80%25&b.m=95%25&b.bw=32GBps", 1440, 1500, true,
			`byID("side-b").click()`},
		{"compare-mobile", "#v=1&p=resnet101-b32&m=70%25&b.s=greedy", 390, 2600, false, ""},
		{"compare-networks", "#v=1&p=resnet50-b32&m=70%25&b.p=resnet101-b32", 1280, 1500, false,
			`document.querySelector('[data-do="table"]').click()`},
		{"compare-misfit", "#v=1&p=resnet101-b32&m=70%25&b.m=100MiB", 1280, 1500, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(t)
			p.Viewport(c.width, c.height)
			p.Dark(c.dark)
			p.Navigate(c.address)
			p.Wait(`document.querySelector(".paint canvas") `)
			Eval[bool](p, hands)
			p.rest(6 * time.Second) // for the curve
			Eval[bool](p, c.script+"; true")
			p.rest(700 * time.Millisecond)
			if err := os.WriteFile(filepath.Join(dir, c.name+".png"), p.Shot(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log(p.Console())
		})
	}
}

// TestCompareAccessible checks that comparisons keep axe-core's rules.
func TestCompareAccessible(t *testing.T) {
	t.Parallel()
	long(t)
	source := axe(t)
	p := New(t)
	for _, c := range []struct {
		name, address string
		width         int64
		table         bool
	}{
		{"wide", "#v=1&p=resnet101-b32&m=70%25&b.s=greedy", 1400, true},
		{"phone", "#v=1&p=resnet101-b32&m=70%25&b.s=greedy", 390, false},
		{"dark", "#v=1&p=resnet101-b32&m=70%25&b.m=100MiB&theme=dark", 1400, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "wide" {
				long(t)
			}
			p.For(t)
			p.Viewport(c.width, 900)
			p.Fresh(c.address)
			p.Wait(`document.querySelector('[data-testid="delta-words"]').textContent.includes("B ")`)
			if c.table {
				p.Click(`[data-do="table"]`)
			}
			p.Drawn()
			for _, v := range violations(p, source) {
				t.Errorf("%s breaks the rule %s (%s): %s\n  %s", c.name, v.ID, v.Impact, v.Help,
					strings.Join(v.where(), "\n  "))
			}
		})
	}
}
