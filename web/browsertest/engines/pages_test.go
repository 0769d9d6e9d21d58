//go:build !js

package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memtide/web/fileserver"
)

// patience is how long a test may take before it counts as hanging.
const patience = 10 * time.Minute

// kinds lists the browsers in the order of their tests.
var kinds = []struct {
	name  string
	start func(context.Context) (Browser, error)
}{{"chromium", Chromium}, {"firefox", Firefox}, {"webkit", WebKit}}

// Page is a tab that shows the site, with a server of its own.
type Page struct {
	Tab
	t       testing.TB
	ctx     context.Context
	browser Browser
	server  *httptest.Server
	URL     string // of the site, with a slash at its end
}

// newPage opens an empty tab, which is closed when the test ends. If the test has failed, a picture of the tab is
// written to the directory named by MEMTIDE_SHOTS.
func newPage(t testing.TB, b Browser) *Page {
	t.Helper()
	server := httptest.NewServer(hearing(fileserver.Handler(site(t)), b.Ears()))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx, browser: b, server: server, URL: server.URL + "/"}
	p.open()
	return p
}

// hearing adds the script ears to every page of h, before all other scripts. If ears is empty, hearing returns h.
func hearing(h http.Handler, ears string) http.Handler {
	if ears == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ears.js" {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			fmt.Fprint(w, ears)
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/") {
			h.ServeHTTP(w, r)
			return
		}
		r.Header = http.Header{} // no conditions and encodings: the whole page, uncompressed
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		fmt.Fprint(w, strings.Replace(answer.Body.String(), "<head>", `<head><script src="ears.js"></script>`, 1))
	})
}

func (p *Page) open() {
	p.t.Helper()
	tab, err := p.browser.Open(p.ctx)
	p.must(err)
	p.Tab = tab
	p.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience) // the test's own context may have ended
		defer cancel()
		if p.t.Failed() {
			all, err := tab.Complaints(ctx)
			p.t.Logf("console (%v):\n%s", err, strings.Join(all, "\n"))
			p.shoot(ctx, tab)
		}
		if err := tab.Close(ctx); err != nil {
			p.t.Error(err)
		}
	})
}

// Another opens the same site in another tab.
func (p *Page) Another() *Page {
	p.t.Helper()
	other := *p
	other.open()
	return &other
}

func (p *Page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Go opens an address of the site: "" is the page, "#v=1&...".
func (p *Page) Go(address string) {
	p.t.Helper()
	p.must(p.Navigate(p.ctx, p.URL+address))
}

// Get evaluates an expression in the page and decodes its value.
func Get[T any](p *Page, expression string) (v T) {
	p.t.Helper()
	raw, err := p.Eval(p.ctx, expression)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		p.t.Fatalf("%s\n%v", expression, err)
	}
	return v
}

// Do evaluates an expression for its side effects.
func (p *Page) Do(expression string) {
	p.t.Helper()
	if _, err := p.Eval(p.ctx, expression); err != nil {
		p.t.Fatalf("%s\n%v", expression, err)
	}
}

// onward clicks "Go on" if the machine is so slow that it has stopped at the limit of a few seconds of what an
// address asks for.
const onward = `document.querySelectorAll('[data-do="act"], [data-do="step-on"]').forEach((e) => e.offsetParent && e.textContent.trim() === "Go on" && e.click())`

// Wait waits until an expression is true. The only limit is that of the test.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	begun := time.Now()
	err := until(p.ctx, func() error {
		raw, err := p.Eval(p.ctx, "("+onward+", Boolean("+expression+"))")
		if err == nil && string(raw) != "true" {
			err = errors.New("it is false")
		}
		return err
	})
	if err != nil {
		p.t.Fatalf("after %v it is still not true that %s (%v)", time.Since(begun).Round(time.Second), expression, err)
	}
}

// At scrolls an element to the middle of the window and returns the point at the shares x and y of its width and
// height.
func (p *Page) At(selector string, x, y float64) Point {
	p.t.Helper()
	at := Get[[2]float64](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center", behavior: "instant"});
		const b = e.getBoundingClientRect();
		return [b.left + b.width * %g, b.top + b.height * %g];
	})()`, selector, x, y))
	return Point{int(at[0]), int(at[1])}
}

// Click clicks the middle of an element with the mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.must(p.Drag(p.ctx, p.At(selector, 0.5, 0.5)))
}

// Text returns the text of the element with the given data-testid.
func (p *Page) Text(id string) string {
	p.t.Helper()
	return Get[string](p, fmt.Sprintf(`document.querySelector('[data-testid=%q]').textContent.replace(/\s+/g, " ").trim()`, id))
}

// Quiet fails the test if the console has errors or warnings.
func (p *Page) Quiet() {
	p.t.Helper()
	all, err := p.Complaints(p.ctx)
	p.must(err)
	for _, line := range all {
		p.t.Errorf("the console says %q; want nothing", line)
	}
}

// shoot writes a picture of a tab to the directory named by MEMTIDE_SHOTS, if that is set.
func (p *Page) shoot(ctx context.Context, tab Tab) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		return
	}
	png, err := tab.Shot(ctx)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(p.t.Name(), "/", "_")+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Logf("no picture: %v", err)
	}
}

// built holds the directory of the site, which is built once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// site returns the directory of the site. It builds the site if MEMTIDE_DIST is not set.
func site(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir = os.Getenv("MEMTIDE_DIST"); built.dir != "" {
			_, built.err = os.Stat(filepath.Join(built.dir, "index.html"))
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "memtide-dist-"); built.err != nil {
			return
		}
		if out, err := exec.Command("go", "run", "memtide/cmd/build", "-out", built.dir).CombinedOutput(); err != nil {
			built.err = fmt.Errorf("building the site: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}
