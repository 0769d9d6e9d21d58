//go:build !js

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memtide/web/host"
)

// After the first visit the site opens without its server: the page with its
// workers and charts, and the documentation.
func TestOffline(t *testing.T) {
	p := New(t)
	var gone bool
	site := host.Handler(shared.dist)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone {
			panic(http.ErrAbortHandler)
		}
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Navigate("")
	p.Wait(`document.body.dataset.state === "ready"`, 20*time.Second)
	Eval[bool](p, `navigator.serviceWorker.ready.then(() => { window.kept = true }), true`)
	p.Wait(`window.kept`, 20*time.Second)
	twice := map[string]int{}
	for _, address := range p.Requests() {
		if strings.HasSuffix(address, ".wasm") {
			twice[address]++
		}
	}
	for address, n := range twice {
		if n > 1 {
			t.Errorf("the page asked for %s %d times; want once", address, n)
		}
	}
	gone = true
	p.Navigate("#v=1&p=vgg16-b32&m=90%25&s=greedy")
	p.Navigate("?again#v=1&p=vgg16-b32&m=90%25&s=greedy")
	p.Wait(`document.body.dataset.state === "ready" && window.echarts !== undefined`, 20*time.Second)
	if got := Eval[string](p, `document.querySelector("[data-testid=preset]").textContent`); !strings.Contains(got, "VGG-16") {
		t.Errorf("without its server the page of a link shows %q; want VGG-16", got)
	}
	p.Navigate("docs/paper-000.html")
	p.Wait(`document.querySelector("h1")?.textContent === "Offloading to the host"`, 10*time.Second)
}
