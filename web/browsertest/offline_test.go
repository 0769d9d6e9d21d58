//go:build !js

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"memtide/web/fileserver"
)

// TestOffline checks that after the first visit the site opens without its server, and with a server that does
// not answer: the page with its workers and charts, and the documentation.
func TestOffline(t *testing.T) {
	t.Parallel()
	p := New(t)
	var mu sync.Mutex
	var gone, mute bool
	sent := map[string]int{} // number of complete responses to the page and its workers, by path
	over := make(chan struct{})
	site := fileserver.Handler(shared.dist)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		off, still := gone, mute
		mu.Unlock()
		if still {
			<-over
			return
		}
		if off {
			panic(http.ErrAbortHandler)
		}
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		site.ServeHTTP(answer, r)
		// Requests of the service worker are not counted: it takes large files from the browser's cache only if
		// they fit there. While the browser is still writing a file to its cache, it asks whether the file has
		// changed. The answer has no content, and is not counted either.
		if !strings.HasSuffix(r.Referer(), "/offline.js") && answer.status == http.StatusOK {
			mu.Lock()
			sent[r.URL.Path]++
			mu.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) }) // runs before server.Close, which waits for open responses
	p.URL = server.URL + "/"
	p.Navigate("")
	p.Wait(untilReady)
	Eval[bool](p, `navigator.serviceWorker.ready.then(() => { window.kept = true }), true`)
	p.Wait(`window.kept`)
	mu.Lock()
	gone = true
	programs := 0
	for path, n := range sent {
		if strings.HasSuffix(path, ".wasm") {
			if programs++; n > 1 {
				t.Errorf("%s was sent %d times; want once", path, n)
			}
		}
	}
	mu.Unlock()
	if programs == 0 {
		t.Errorf("no program was sent: %v", sent)
	}
	p.Navigate("#v=1&p=vgg16-b32&m=90%25&s=greedy")
	p.Navigate("?again#v=1&p=vgg16-b32&m=90%25&s=greedy")
	p.Wait(untilReady + ` && window.echarts !== undefined`)
	if got := Eval[string](p, `document.querySelector("[data-testid=preset]").textContent`); !strings.Contains(got,
		"VGG-16") {
		t.Errorf("without its server the page of a link shows %q; want VGG-16", got)
	}
	p.Navigate("?graph#v=1&p=resnet50-graph-b32&s=blocks") // computed by the second program
	p.Wait(untilReady)
	p.Navigate("docs/paper-000.html")
	p.Wait(`document.querySelector("h1")?.textContent === "Offloading to the host"`)
	// The page does not wait for a server that does not answer.
	mu.Lock()
	gone, mute = false, true
	mu.Unlock()
	p.Navigate("?silent")
	p.Wait(untilReady)
}

// TestOfflineLine checks that without a network one line in the footer's place says that all works, and that the footer
// comes back with the network.
func TestOfflineLine(t *testing.T) {
	t.Parallel()
	p := Open(t, "")
	p.Wait(untilReady)
	for _, c := range []struct{ online, event, want string }{{"false", "offline", "Offline. All works"}, {"true", "online", "Docs"}} {
		got := Eval[string](p, `Object.defineProperty(navigator, "onLine", {value: `+c.online+`, configurable: true}),
			dispatchEvent(new Event("`+c.event+`")),
			[...document.querySelectorAll(".foot > *")].filter((e) => e.checkVisibility()).map((e) => e.textContent).join("|")`)
		if !strings.HasPrefix(got, c.want) || c.event == "offline" && strings.Contains(got, "|") {
			t.Errorf("%s: the footer says %q; want %q", c.event, got, c.want)
		}
	}
}

// A statusWriter records the status of the response that is written through it.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// TestOfflineDeletesItsOwn checks that the service worker deletes the caches of earlier releases of this site and
// no others of its origin: neither those of other programs nor those of another memtide.
func TestOfflineDeletesItsOwn(t *testing.T) {
	t.Parallel()
	long(t)
	p := New(t)
	server := httptest.NewServer(fileserver.Handler(shared.dist))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Navigate("docs/links.html") // this page caches nothing
	Eval[bool](p, `(async () => {
		for (const name of ["other-app-v1", "bbbbbbbbbbbb", "memtide " + location.origin + "/other/ aaaaaaaaaaaa"]) await caches.open(name);
		for (const name of ["aaaaaaaaaaaa", "memtide " + location.origin + "/ aaaaaaaaaaaa"]) await (await caches.open(name)).put("/memtide.webmanifest", new Response("{}"));
		window.made = true;
	})(), true`)
	p.Wait(`window.made`)
	p.Navigate("")
	p.Wait(`document.body.dataset.state === "ready"`)
	Eval[bool](p, `navigator.serviceWorker.ready.then((r) => { window.kept = r.active }), true`)
	p.Wait(`window.kept?.state === "activated"`)
	Eval[bool](p, `caches.keys().then((all) => { window.names = all.map((n) => n.replaceAll(location.origin, "").replace(/^(memtide \/ )(?!a{12})[0-9a-f]{12}$/, "$1RELEASE")).sort().join(", ") }), true`)
	p.Wait(`window.names`)
	if got, want := Eval[string](p, `names`),
		"bbbbbbbbbbbb, memtide / RELEASE, memtide /other/ aaaaaaaaaaaa, other-app-v1"; got != want {
		t.Errorf("after the first visit there are the caches %s; want %s", got, want)
	}
}
