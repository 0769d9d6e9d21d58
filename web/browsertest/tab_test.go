//go:build !js

package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Page is a tab with its own storage. Its console and requests are recorded from the first request on.
type Page struct {
	t   testing.TB
	ctx context.Context
	URL string // of the site, with a slash at its end

	line *line // made by SlowNetwork; otherwise nil

	mu       sync.Mutex
	console  []string
	requests []string
}

// New opens an empty tab. It is closed when the test ends. If the test has failed, its console is logged, and a
// picture of it is written to the directory named by MEMTIDE_SHOTS, if that is set.
func New(t testing.TB) *Page {
	t.Helper()
	need(t)
	tab, closeTab := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithCancel(tab)
	p := &Page{t: t, ctx: ctx, URL: shared.url}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("console:\n%s", strings.Join(p.Console(), "\n"))
			p.shootFailure()
		}
		cancel()
		closeTab()
	})
	p.do(chromedp.Listen(ctx, p.note))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.do(err)
	// Every tab has the focus, also while tabs of other tests are open.
	_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.do(err)
	return p
}

// hang is how long the tests wait for something before they fail. It is no measure of speed: a machine that is
// twenty times slower than usual passes.
const hang = 3 * time.Minute

// Open opens an address of the site in a new tab: "" is the page, others are "?selftest" and "#v=1&...".
func Open(t testing.TB, address string) *Page {
	t.Helper()
	p := New(t)
	p.Navigate(address)
	return p
}

// Navigate opens another address of the site.
func (p *Page) Navigate(address string) {
	p.t.Helper()
	p.act("opening "+address, chromedp.Navigate(p.URL+address))
}

// Fresh opens an address of the site in a new document, whatever the tab shows. This costs half as much as a new
// tab. What the site has stored and what the tab emulates stays.
func (p *Page) Fresh(address string) {
	p.t.Helper()
	p.act("leaving the page", chromedp.Navigate("about:blank"))
	p.mu.Lock()
	p.console, p.requests = nil, nil
	p.mu.Unlock()
	p.Navigate(address)
}

// For makes a subtest use the tab: until the subtest ends, failures are reported to it.
func (p *Page) For(t testing.TB) {
	was := p.t
	p.t = t
	t.Cleanup(func() { p.t = was })
}

// Back goes back by one entry of the history.
func (p *Page) Back() {
	p.t.Helper()
	was := Eval[string](p, `location.href`)
	Eval[bool](p, `history.back(), true`)
	p.Wait(fmt.Sprintf(`location.href !== %q`, was))
}

// Context returns the tab's context, for actions for which this package has no function.
func (p *Page) Context() context.Context { return p.ctx }

// act performs an action in the browser, which may have to wait, such as a click for its element. It fails the
// test if the action has not ended within hang.
func (p *Page) act(what string, action chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, hang)
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *Page) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// note records requests and messages of the console. It runs in the goroutine that reads the connection.
func (p *Page) note(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		var text []string
		for _, a := range e.Args {
			text = append(text, argument(a))
		}
		p.console = append(p.console, string(e.Type)+": "+strings.Join(text, " "))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console,
			"exception: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *cdplog.EventEntryAdded:
		p.console = append(p.console, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
	}
}

func argument(a *runtime.RemoteObject) string {
	var s string
	if json.Unmarshal(a.Value, &s) == nil {
		return s
	}
	if a.Description != "" {
		return a.Description
	}
	return string(a.Value)
}

// Console returns what the console has shown so far: "log: ...", "warning: ...", "error: ...", "exception: ...".
// Violations of the content security policy are errors.
func (p *Page) Console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.console...)
}

// Requests returns the addresses that the page has requested so far.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Quiet fails the test if the console has shown warnings or errors, or if the page has sent a request to another
// host.
func (p *Page) Quiet() {
	p.t.Helper()
	for _, line := range p.Console() {
		if !strings.HasPrefix(line, "log:") && !strings.HasPrefix(line, "info:") && !strings.HasPrefix(line, "debug:") {
			p.t.Errorf("the console says %q; want nothing", line)
		}
	}
	for _, address := range p.Requests() {
		if !strings.HasPrefix(address, p.URL) && !strings.HasPrefix(address, "data:") &&
			!strings.HasPrefix(address, "blob:"+p.URL) {
			p.t.Errorf("the page asked for %s; want nothing outside %s", address, p.URL)
		}
	}
}

// Eval runs a script in the page and decodes what it returns. Promises are awaited.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	v, err := TryEval[T](p, script)
	if err != nil {
		p.t.Fatalf("%s\n%v", script, err)
	}
	return v
}

// TryEval is like Eval, for scripts that may throw.
func TryEval[T any](p *Page, script string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, hang)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// Wait waits until an expression is true and returns how long that took. The test fails after hang, or after
// limit if that is longer.
func (p *Page) Wait(expression string, limit ...time.Duration) time.Duration {
	p.t.Helper()
	guard := hang
	for _, l := range limit {
		guard = max(guard, l)
	}
	start := time.Now()
	err := p.until(expression, guard)
	if err != nil {
		p.t.Fatalf("after %v it is still not true that %s (%v)", time.Since(start).Round(time.Millisecond),
			expression, err)
	}
	return time.Since(start)
}

// waiting is a script that waits in the page until an expression is true, for at most two seconds, because by
// then the tab may show another page.
const waiting = `new Promise((done) => {
	const end = performance.now() + 2000;
	const look = () => {
		let found = false, why = "";
		try { found = Boolean(%s) } catch (e) { why = String(e) }
		if (found || performance.now() > end) done(found ? "true" : why || "false");
		else setTimeout(look, 20);
	};
	look();
})`

// until waits until an expression is true, for at most guard.
func (p *Page) until(expression string, guard time.Duration) error {
	ctx, cancel := context.WithTimeout(p.ctx, guard)
	defer cancel()
	script := fmt.Sprintf(waiting, expression)
	for {
		said, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
		if err == nil && said == "true" {
			return nil
		}
		if err == nil {
			err = errors.New(said)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond): // a page that is being left fails at once
		}
	}
}

// Drawn waits until the page has drawn its state and written its address. It then waits for two frames, in which
// the browser reports changed sizes, and until their changes are drawn. Workers may still be busy.
func (p *Page) Drawn() {
	p.t.Helper()
	const drawn = `!/components|pictures|address/.test(document.body.dataset.pending ?? "")`
	p.Wait(drawn)
	p.frames()
	p.Wait(drawn)
}

// Done waits until the page is idle: no worker has a request, the curve is complete, and all charts are drawn.
func (p *Page) Done() {
	p.t.Helper()
	const done = `document.body.dataset.pending === ""`
	p.Wait(done)
	p.frames()
	p.Wait(done)
}

// frames waits until the page has drawn two frames.
func (p *Page) frames() {
	p.t.Helper()
	Eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// Reload reloads the page and waits until the new document is there.
func (p *Page) Reload() {
	p.t.Helper()
	Eval[bool](p, `window.isOld = true, location.reload(), true`)
	p.Wait(`!window.isOld && document.body`)
}

// rest lets time pass, in measurements and before pictures are taken. It fails any other test.
func (p *Page) rest(d time.Duration) {
	p.t.Helper()
	if os.Getenv("MEMTIDE_MEASURE") == "" && os.Getenv("MEMTIDE_SHOTS") == "" {
		p.t.Fatal("a test waits for a state, not for a time")
	}
	<-time.After(d)
}

// Click clicks the element that matches selector with the mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.act("clicking "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Text returns the text of the element that matches selector.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// Viewport sets the size of the viewport in CSS pixels.
func (p *Page) Viewport(width, height int64) {
	p.t.Helper()
	p.do(chromedp.Do(p.ctx, chromedp.EmulateViewport(width, height)))
}

// SlowCPU slows the page's thread down by a factor; 1 is normal speed. Workers are not slowed.
func (p *Page) SlowCPU(factor float64) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: factor})
	p.do(err)
}

// Dark emulates a system with dark or light colours.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}},
	})
	p.do(err)
}

// Before runs a script in every document that the tab opens from now on, before the document's own scripts.
func (p *Page) Before(script string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	p.do(err)
}

// Shot returns a PNG of the visible part of the page.
func (p *Page) Shot() []byte {
	p.t.Helper()
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.do(err)
	return b
}

func (p *Page) shootFailure() {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Logf("no picture: %v", err)
		return
	}
	file := filepath.Join(dir, strings.ReplaceAll(p.t.Name(), "/", "_")+".png")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		p.t.Logf("no picture: %v", err)
	}
}
