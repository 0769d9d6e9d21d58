//go:build !js

package browsertest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// makeSnapshot defines snapshot(events), which returns a memory snapshot as PyTorch writes it, in Python's pickle
// protocol 4. It has the given number of allocations and releases, each with the stack frames of its caller.
const makeSnapshot = `
window.snapshot = (events) => {
  const text = new TextEncoder(), perEvent = 700;
  const out = new Uint8Array(events * perEvent + 4096);
  let at = 0;
  const put = (...bytes) => { for (const b of bytes) out[at++] = b; };
  const word = (s) => { const b = text.encode(s); put(0x8c, b.length); out.set(b, at); at += b.length; };
  const long = (n) => { put(0x8a, 8); let x = BigInt(n); for (let i = 0; i < 8; i++) { put(Number(x & 255n)); x >>= 8n; } };
  const pair = (key, value) => { word(key); value(); };
  put(0x80, 4, 0x7d, 0x28);
  pair("segments", () => put(0x5d));
  pair("device_traces", () => {
    put(0x5d, 0x5d, 0x28);
    const live = [];
    for (let i = 0; i < events; i++) {
      const free = live.length > 2000 || (i % 3 === 2 && live.length > 0);
      const [addr, size] = free ? live.splice((i * 7) % live.length, 1)[0] : [0x700000000 + i * 4096, 512 + (i % 8) * 512];
      if (!free) live.push([addr, size]);
      put(0x7d, 0x28);
      pair("action", () => word(free ? "free_completed" : "alloc"));
      pair("addr", () => long(addr));
      pair("size", () => long(size));
      pair("stream", () => put(0x4b, 0));
      pair("time_us", () => long(1700000000000000 + i));
      pair("frames", () => {
        put(0x5d, 0x28);
        for (let f = 0; f < 6; f++) {
          put(0x7d, 0x28);
          pair("filename", () => word("/opt/network/layer" + ((i + f) % 50) + ".py"));
          pair("line", () => put(0x4b, (i + f) % 200));
          pair("name", () => word("forward_" + ((i + f) % 90)));
          put(0x75);
        }
        put(0x65);
      });
      put(0x75);
    }
    put(0x65, 0x61);
  });
  put(0x75, 0x2e);
  return new File([out.subarray(0, at)], "snapshot.pickle");
};
window.dropFile = (file) => {
  const data = new DataTransfer();
  data.items.add(file);
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
};
window.longest = () => { // the longest pause between two frames from now on
  window.pause = 0;
  let last = performance.now();
  const tick = () => { const t = performance.now(); window.pause = Math.max(window.pause, t - last); last = t; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
};
true`

// TestLargeSnapshot checks that a large memory snapshot opens in a worker, which reads the file itself.
func TestLargeSnapshot(t *testing.T) {
	t.Parallel()
	long(t)
	events := 12_000 // 6 MB: too large for the page to read the file itself
	if n, err := strconv.Atoi(os.Getenv("MEMTIDE_EVENTS")); err == nil {
		events = n
	}
	p := settledPage(t, resnet)
	Eval[bool](p, makeSnapshot)
	size := Eval[int](p, fmt.Sprintf(`(window.big = snapshot(%d)).size`, events))
	if size < 5<<20 {
		t.Fatalf("the snapshot has %d bytes; the test needs more than 5 MiB", size)
	}
	Eval[bool](p, `longest(); dropFile(window.big); true`)
	opened := p.Wait(`document.querySelector("#app").dataset.kind === "memory"`)
	atOpen := Eval[float64](p, `window.pause`)
	placed := opened + p.Wait(`byID("outcome") && result("outcome") !== ""`)
	t.Logf("%d events, %.0f MB: open after %v, addresses after %v; longest pause %.0f ms until open, %.0f ms in all",
		events, float64(size)/1e6, opened.Round(time.Millisecond), placed.Round(time.Millisecond), atOpen,
		Eval[float64](p, `window.pause`))
	if got := result(p, "outcome"); got == "" {
		t.Error("the page says nothing of the recorded addresses")
	}
	p.Quiet()
}
