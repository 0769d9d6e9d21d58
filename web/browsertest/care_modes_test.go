//go:build !js

package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"memtide/web/fileserver"
)

// prepared fails the test unless the page still shows the pictures and the numbers that were prepared when the
// site was built.
func prepared(t *testing.T, p *Page) {
	t.Helper()
	if n := Eval[int](p, `[...document.querySelectorAll(".poster svg")].filter((e) => e.checkVisibility()).length`); n < 3 {
		t.Errorf("%d prepared pictures are shown; want at least 3", n)
	}
	if got := p.Text(`[data-testid="peak"]`); !strings.Contains(got, "GiB") {
		t.Errorf("the peak is %q; want the prepared number", got)
	}
}

// TestBlockedWebAssembly checks that if a policy forbids WebAssembly, the prepared pictures stay and the page
// says what the reason is and what to do.
func TestBlockedWebAssembly(t *testing.T) {
	t.Parallel()
	p := New(t)
	site := fileserver.Handler(shared.dist)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'self' 'unsafe-inline'")
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Navigate("")
	p.Wait(`document.querySelector('#boot[role="alert"]') && !document.querySelector("#boot").hidden`)
	if got := p.Text("#boot"); !strings.Contains(got, "WebAssembly is blocked") ||
		!strings.Contains(got, "Open in a new tab") {
		t.Errorf("the page says %q; want the reason and a way out", got)
	}
	prepared(t, p)
}

// TestNoScript checks that without scripts the page shows the prepared pictures and a text that explains them.
func TestNoScript(t *testing.T) {
	t.Parallel()
	p := New(t)
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	p.do(err)
	p.Navigate("")
	if got := p.Text("noscript"); !strings.Contains(got, "prepared in advance") ||
		!strings.Contains(got, "allow JavaScript") {
		t.Errorf("the page says %q; want what it is and what to do", got)
	}
	if !Eval[bool](p, `document.querySelector("noscript").checkVisibility()`) {
		t.Error("the text is hidden")
	}
	prepared(t, p)
}

// TestNoWorkers checks that without workers the prepared pictures stay and the page says why.
func TestNoWorkers(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`delete globalThis.Worker`)
	p.Navigate("")
	p.Wait(`document.querySelector('#boot[role="alert"]') && !document.querySelector("#boot").hidden`)
	if got := p.Text("#boot"); !strings.Contains(got, "this browser has no workers") ||
		!strings.Contains(got, "Reload") {
		t.Errorf("the page says %q; want the reason and what to do", got)
	}
	prepared(t, p)
}

// TestRefusedWorkers checks that if the browser refuses to start workers, the page says that the engine cannot
// start and offers to solve in its own thread.
func TestRefusedWorkers(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`globalThis.Worker = class { constructor() { throw new DOMException("refused", "SecurityError"); } }`)
	p.Navigate("")
	p.Wait(`document.querySelector('.notice[role="alert"]:not([hidden])')`)
	Eval[bool](p, hands)
	got := Eval[string](p, `alertText()`)
	for _, want := range []string{"The engine cannot start here: refused.", "computed in workers",
		"in a window of its own", "memtide solve", "Solve here"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page says %q; want %q in it: what happened, what that means and what helps", got, want)
		}
	}
	// Every number that is missing says why.
	if got := Eval[int](p, `[...document.querySelectorAll("dl.numbers > div")].filter((e) => e.title.startsWith("There is no plan yet")).length`); got != 3 {
		t.Errorf("%d of the numbers say why they are missing; want 3", got)
	}
	p.Click(`.notice [data-do="act"]`)
	p.Wait(untilReady + ` && byID("peak").textContent.includes("GiB") && document.querySelector(".notice").hidden`)
	// The curve is computed, and meanwhile the page still responds: another strategy is answered.
	p.Wait(`document.querySelector("[data-testid=sweep]").textContent.startsWith("Point at the curve")`)
	Eval[bool](p, `control("strategy", "window"), true`)
	p.Wait(untilReady + ` && location.hash.includes("s=window")`)
}

// TestBlockedStorage checks that the page works without storage. It only forgets the theme.
func TestBlockedStorage(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
		Object.defineProperty(globalThis, name, {get() { throw new DOMException("Access is denied.", "SecurityError"); }});
	}
	Object.defineProperty(Navigator.prototype, "serviceWorker", {get() { throw new DOMException("Access is denied.", "SecurityError"); }});`)
	p.Navigate(offload)
	p.Wait(untilReady)
	Eval[bool](p, hands)
	for range 2 {
		theme := Eval[string](p, `document.documentElement.dataset.theme ?? ""`)
		p.Click(`.header [data-do="theme"]`)
		p.Wait(fmt.Sprintf(`(document.documentElement.dataset.theme ?? "") !== %q`, theme))
	}
	step := result(p, "step-time")
	Eval[bool](p, `control("strategy", "rotor"); true`)
	p.Wait(rested + fmt.Sprintf(` && result("step-time") !== %q`, step))
	for _, line := range p.Console() {
		if strings.HasPrefix(line, "exception:") {
			t.Errorf("the console says %q", line)
		}
	}
}

// deaf makes workers ignore all requests while deafened is true, so that no request of the page is ever answered.
const deaf = `(() => {
	const post = Worker.prototype.postMessage;
	Worker.prototype.postMessage = function (...all) { if (!globalThis.deafened || all[0].type !== "request") post.apply(this, all); };
})()`

// TestEverythingStops checks that whatever may take long shows that it is running and can be stopped: opening a
// file, computing a schedule or the curve, what would help, and the search for addresses.
func TestEverythingStops(t *testing.T) {
	t.Parallel()
	var big strings.Builder
	big.WriteString("name,forward_s,backward_s,output_bytes,saved_bytes\n")
	for i := range 120_000 {
		fmt.Fprintf(&big, "layer%d,0.00001,0.00002,65536,131072,%s\n", i, "")
	}
	p := New(t)
	p.Before(deaf)
	for _, c := range []struct{ name, open, start, stop string }{
		{"schedule", "", `control("strategy", "dynprog")`, `.results .working [data-do="stop"]`},
		{"file", "", fmt.Sprintf(`drop("big.csv", %q)`, big.String()), `.results .working [data-do="stop"]`},
		{"curve", "", `document.querySelector('[data-do="sweep"]').click()`, `[data-do="stop-sweep"]`},
		{"what would help", "", `(document.querySelector('[data-do="ask"][data-arg="help"]') ?? document.body).click()`, `[data-testid="stop-help"]`},
		{"addresses", `byID("places").click()`, `control("alloc", "optimal")`,
			`.places .working button, .places [data-do="stop-place"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			p.Fresh("#v=1&p=gpt2-b4&s=greedy&m=70%")
			p.Wait(untilReady)
			Eval[bool](p, hands)
			p.Wait(`document.querySelector('[data-do="stop-sweep"]').checkVisibility()`)
			Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]').click(), true`)
			p.Wait(`!document.querySelector('[data-do="stop-sweep"]').checkVisibility()`)
			if c.open != "" {
				Eval[bool](p, c.open+", true")
			}
			p.Done()
			Eval[bool](p, `globalThis.deafened = true`)
			Eval[bool](p, c.start+", true")
			shown := fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.checkVisibility({visibilityProperty: true}))`, c.stop)
			took := p.Wait(shown)
			p.Drawn()
			if !Eval[bool](p, shown) {
				t.Fatal("the button is gone although nobody has answered")
			}
			t.Logf("can be stopped after %v: %s", took.Round(time.Millisecond),
				Eval[string](p, fmt.Sprintf(`document.querySelector(%q).textContent`, c.stop)))
			Eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.checkVisibility({visibilityProperty: true})).click(), true`, c.stop))
			p.Wait("!(" + shown + ")")
		})
	}
}
