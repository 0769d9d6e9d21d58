//go:build !js

package browsertest

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
)

// openSnapshot opens a small memory snapshot in which an allocation on one device failed, and waits until the
// page has examined it.
func openSnapshot(p *Page) {
	p.t.Helper()
	data, err := os.ReadFile("../../cmd/memtide/testdata/snapshot.pickle")
	if err != nil {
		p.t.Fatal(err)
	}
	Eval[bool](p, makeSnapshot)
	Eval[bool](p, fmt.Sprintf(`dropFile(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], "snapshot.pickle")); true`, base64.StdEncoding.EncodeToString(data)))
	p.Wait(`!!document.querySelector("[data-testid=remedy-line]")?.textContent`)
	p.Done()
}

// TestDoctor checks that the second program examines a small snapshot: the diagnosis, the buffers beside the
// hole, the replays, and the flame graph with keys and at a moment that is clicked.
func TestDoctor(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	openSnapshot(p)
	for id, want := range map[string]string{
		"doctor-say":  "Ran out of memory: 30 MiB was asked for, and 54 MiB was free in 3 holes, the largest 24 MiB.",
		"remedy-line": "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		"growth":      "2 MiB more with each of 5 steps.",
	} {
		if got := result(p, id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if n := Eval[int](p, `byID("replays").querySelectorAll(".gain").length`); n != 11 {
		t.Errorf("there are %d settings; want 11", n)
	}
	const ink = `(() => { const c = byID("flame").querySelector("canvas.base"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4); })()`
	if share := Eval[float64](p, ink); share < 0.5 {
		t.Errorf("%.0f %% of the flame graph is painted; want most of it", 100*share)
	}
	p.Click(`[data-do="show-buffer"]`)
	p.Done()
	if seen := Eval[bool](p,
		`(() => { const b = byID("map").getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; })()`); !seen {
		t.Error("a buffer beside the hole is shown, but the memory map is not on screen")
	}
	Eval[bool](p, `document.getElementById("flame").focus(); true`)
	key(t, p, "ArrowDown", "ArrowDown")
	p.Wait(`document.getElementById("flame").getAttribute("aria-label").includes("net.py:41 forward: 20 MiB")`)
	key(t, p, "Enter", "Enter")
	key(t, p, "ArrowDown", "ArrowDown")
	p.Wait(`document.getElementById("flame").getAttribute("aria-label").includes("scaled_dot_product_attention: 20 MiB")`)
	Eval[bool](p, `(() => { const e = byID("addresses").querySelector(".paint"), b = e.getBoundingClientRect(), at = {clientX: b.left + b.width / 3, clientY: b.top + 60, bubbles: true, pointerId: 1, button: 0};
		e.setPointerCapture = () => {};
		e.dispatchEvent(new PointerEvent("pointerdown", at)); e.dispatchEvent(new PointerEvent("pointerup", at)); })(); true`)
	p.Wait(`byID("usage-at")`)
	p.Wait(`byID("flame-moment").textContent.includes("at event ")`)
	if got := result(p, "flame-moment"); strings.Contains(got, "failed") {
		t.Errorf("the flame graph is of %q; want the moment that was clicked", got)
	}
	p.Quiet()
}
