//go:build !js

package engines

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

// unsealed returns a link without its checksum.
func unsealed(link string) string {
	return regexp.MustCompile(`sum=[0-9a-f]{6}&`).ReplaceAllString(link, "")
}

// openShare opens the share dialog.
func openShare(p *Page) {
	p.t.Helper()
	p.Click(`[data-testid="share"]`)
	p.Wait(`document.activeElement?.id === "share-link"`)
}

// sharing copies the link with the button of the dialog, pastes it, and opens it in another tab, which has to
// show the same.
func sharing(p *Page) {
	const link = "#v=1&p=gpt2-medium-b4&m=70%25&s=greedy&c=none&t=100-200&sel=layer@5"
	settled(p, link)
	openShare(p)
	address := Get[string](p, `document.querySelector("#share-link").value`)
	if got := unsealed(address); got == address || got != Get[string](p, "location.href") ||
		!strings.HasSuffix(got, link) {
		p.t.Errorf("the dialog shows\n%s\nwant the address with a checksum of\n%s", address, link)
	}
	p.Click(`[data-do="share-copy"][data-arg="link"]`)
	p.Wait(text("share-note") + ` !== ""`)
	if got := p.Text("share-note"); got != "Copied." {
		p.t.Errorf("after the button that copies the dialog says %q; want \"Copied.\"", got)
	}
	p.Click("#share-title")
	p.must(p.Key(p.ctx, 'v', true))
	p.Wait(`document.querySelector("#share-title").value !== ""`)
	if got := Get[string](p, `document.querySelector("#share-title").value`); !strings.HasPrefix(address, got) ||
		len(got) < 80 && got != address {
		p.t.Errorf("what is pasted is %q; want the link %q, or the 80 characters of it that a title takes", got,
			address)
	}
	p.Quiet()

	again := p.Another()
	p.must(again.Navigate(p.ctx, address))
	again.Wait(ready + ` && ` + text("selection") + `.includes("block 4 of 24")`)
	if got := unsealed(Get[string](again, "location.hash")); got != link {
		p.t.Errorf("opened anew the address is %s; want %s", got, link)
	}
	for _, id := range []string{"step-time", "peak", "verdict", "selection"} {
		if got, want := again.Text(id), p.Text(id); got != want {
			p.t.Errorf("opened anew %s is %q; want %q", id, got, want)
		}
	}
	again.Quiet()
}

// embedding opens a page of another origin that frames a view, receives the view's messages and changes it.
func embedding(p *Page) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><meta charset="utf-8"><title>host</title><link rel="icon" href="data:,"><script>
const all = [];
addEventListener("message", (e) => all.push({origin: e.origin, ...e.data.memtide}));
const last = (type) => all.filter((m) => m.type === type).at(-1);
const say = (m) => frames[0].postMessage({memtide: m}, "*");
</script>
<iframe width="700" height="500" src="%s#embed=1&v=1&p=gpt2-medium-b4&m=70%%25&s=greedy"></iframe>`, p.URL)
	}))
	p.t.Cleanup(host.Close)
	p.must(p.Navigate(p.ctx, host.URL))
	p.Wait(`last("ready") && last("size") && last("state")?.stepMs > 1`)
	if got := Get[string](p, `last("state").origin`); got+"/" != p.URL {
		p.t.Errorf("the view's messages come from %q; want %q", got, p.URL)
	}
	if got, want := unsealed(Get[string](p, `last("state").link.split("#")[1]`)),
		"v=1&p=gpt2-medium-b4&m=70%25&s=greedy"; got != want {
		p.t.Errorf("the state's link is %s, want %s", got, want)
	}
	step := Get[float64](p, `last("state").stepMs`)
	p.Do(`say({type: "set", params: {m: "80%", sel: "layer@4"}})`)
	p.Wait(`last("state").link.includes("m=80%25") && last("select")?.name === "layer@4"`)
	if got := Get[float64](p, `last("state").stepMs`); got > step {
		p.t.Errorf("with more memory the step takes %g ms; want at most %g ms", got, step)
	}
	p.Do(`say({type: "set", params: {m: "1MiB"}})`)
	p.Wait(`last("error")?.code === "budget"`)
	p.Quiet()
}

// offline stops the server and checks that the page still opens, with another link, its workers and its charts,
// and that the documentation opens too.
func offline(p *Page) {
	settled(p, "")
	p.Do(`navigator.serviceWorker.ready.then(() => true)`)
	p.server.CloseClientConnections()
	p.server.Close()
	p.Go("?again" + small)
	p.Wait(ready + ` && ` + text("preset") + `.includes("VGG-16") && globalThis.echarts`)
	if got := p.Text("verdict"); got != checked {
		p.t.Errorf("without its server the verdict is %q; want %q", got, checked)
	}
	p.Go("docs/paper-000.html")
	p.Wait(`document.querySelector("h1")?.textContent === "Offloading to the host"`)
}
