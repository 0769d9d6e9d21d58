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

// After the first visit the site opens without its server, and with one that does
// not answer: the page with its workers and charts, and the documentation.
func TestOffline(t *testing.T) {
	t.Parallel()
	p := New(t)
	var mu sync.Mutex
	var gone, mute bool
	sent := map[string]int{} // to the page and its workers
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
		// The service worker has large files from the browser's cache only if they fit. While they are
		// written there the browser asks whether they have changed, which is answered without the file.
		if !strings.HasSuffix(r.Referer(), "/offline.js") && answer.status == http.StatusOK {
			mu.Lock()
			sent[r.URL.Path]++
			mu.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) }) // before the server waits for its answers
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
	p.Navigate("?graph#v=1&p=resnet50-graph-b32&s=blocks") // the second program finds it
	p.Wait(untilReady)
	p.Navigate("docs/paper-000.html")
	p.Wait(`document.querySelector("h1")?.textContent === "Offloading to the host"`)
	// A server that does not answer is not waited for.
	mu.Lock()
	gone, mute = false, true
	mu.Unlock()
	p.Navigate("?silent")
	p.Wait(untilReady)
}

// A statusWriter notes the status of the answer that is written through it.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// The service worker deletes what earlier releases of this site have kept, and
// nothing else of its origin: neither what other programs keep nor another memtide.
func TestOfflineDeletesItsOwn(t *testing.T) {
	t.Parallel()
	p := New(t)
	server := httptest.NewServer(fileserver.Handler(shared.dist))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Navigate("docs/links.html") // which keeps nothing
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
