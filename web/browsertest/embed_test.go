//go:build !js

package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hosting opens a page of another origin that embeds views. In html, SITE/ stands for the address of the site.
func hosting(t *testing.T, html string) *Page {
	t.Helper()
	p := New(t)
	openHost(p, p.URL, html)
	return p
}

// openHost makes a tab open such a page; site is the address of the site.
func openHost(p *Page, site, html string) {
	p.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, strings.ReplaceAll(heard+html, "SITE/", site))
	}))
	p.t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Fresh("")
}

// heard is the beginning of a host page. It collects all messages of views; last returns the last one of a type,
// and say sends one. It disables the timer after which view.js gives up on a view, 20 seconds, so that slow
// machines pass.
const heard = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script>
{ const soon = setTimeout; setTimeout = (f, ms, ...rest) => ms === 2e4 ? 0 : soon(f, ms, ...rest); }
const all = [];
addEventListener("message", (e) => all.push(e.data && e.data.memtide ? e.data.memtide : e.data));
const last = (type) => all.filter((m) => m.type === type).at(-1);
const say = (m, i = 0) => frames[i].postMessage(m.type ? {memtide: m} : m, "*");
</script>
`

const plainFrame = `<iframe width="700" height="400" src="SITE/#embed=1&v=1&p=gpt2-medium-b4&m=70%25&s=greedy"></iframe>`

// TestEmbedTalks exchanges all kinds of messages with a view in a page of another origin.
func TestEmbedTalks(t *testing.T) {
	t.Parallel()
	p := hosting(t, plainFrame)
	p.Wait(`last("ready") && last("size") && last("state")`)
	if got := Eval[float64](p, `last("size").height`); got < 400 || got > 700 {
		t.Errorf("the view wants a height of %v px; want that of three pictures", got)
	}
	if got, want := Eval[string](p, `last("state").link.split("#")[1]`+unsealed),
		"v=1&p=gpt2-medium-b4&m=70%25&s=greedy"; got != want {
		t.Errorf("the state's link is %s, want %s", got, want)
	}
	entries := Eval[int](p, `history.length`)

	Eval[bool](p, `say("PING"), true`)
	p.Wait(`all.includes("PONG")`)

	Eval[bool](p, `say({type: "set", params: {m: "80%", sel: "layer@4"}}), true`)
	p.Wait(`last("state").link.includes("m=80%25") && last("select")?.name === "layer@4"`)
	if got := Eval[string](p, `last("select").text`); !strings.Contains(got, "block 3 of 24") {
		t.Errorf("the selection is told as %q; want the third block, behind the embedding", got)
	}
	if n := Eval[int](p, `all.filter((m) => m.type === "state").length`); true {
		Eval[bool](p, `say({type: "get"}), true`)
		p.Wait(fmt.Sprintf(`all.filter((m) => m.type === "state").length > %d`, n))
	}
	if !Eval[bool](p, `(({budgetBytes, peakBytes, stepMs}) => budgetBytes > 2 ** 30 && peakBytes <= budgetBytes && stepMs > 1)(last("state"))`) {
		t.Errorf("the state's numbers are %s", Eval[string](p, `JSON.stringify(last("state"))`))
	}

	Eval[bool](p, `say({type: "set", params: {m: "1MiB"}}), true`)
	p.Wait(`last("error")?.code === "budget" && last("error").text.startsWith("Does not fit in 1 MiB")`)

	Eval[bool](p, `say({type: "open", link: "#v=1&p=vgg16-b32&m=90%25"}), true`)
	p.Wait(`last("state").link` + unsealed + `.endsWith("#v=1&p=vgg16-b32&m=90%25")`)
	Eval[bool](p, `say({type: "open", title: "Two layers", csv: "name,forward_s,backward_s,output_bytes\na,0.001,0.002,1000000\nb,0.002,0.004,2000000\nc,0.001,0.002,1000000\n"}), true`)
	p.Wait(`/&d=[01]\./.test(last("state").link)`)
	if got := Eval[string](p, `last("state").link`); !strings.Contains(got, "title=Two%20layers") {
		t.Errorf("the state's link is %s; want the title that was given", got)
	}
	Eval[bool](p, `say({type: "open", title: "As bytes", buffer: new TextEncoder().encode("name,forward_s,backward_s,output_bytes\na,0.001,0.002,1000000\nb,0.002,0.004,2000000\n").buffer}), true`)
	p.Wait(`last("state").link.includes("title=As%20bytes")`)
	json, err := os.ReadFile("../../profiles/formats/native/testdata/minimal.json")
	if err != nil {
		t.Fatal(err)
	}
	Eval[bool](p, fmt.Sprintf(`say({type: "open", title: "Outer", json: JSON.stringify({...JSON.parse(%q), name: "Inner"})}), true`, json))
	p.Wait(`last("state").link.includes("title=Outer")`)
	if got := Eval[int](p, `history.length`); got != entries {
		t.Errorf("the view made the history %d entries long; want %d as before", got, entries)
	}
}

// TestEmbedListensToItsPageOnly checks that a frame beside the view cannot change the view.
func TestEmbedListensToItsPageOnly(t *testing.T) {
	t.Parallel()
	p := hosting(t, plainFrame+`<iframe srcdoc="<script>onmessage = () => { const f = parent.frames[0]; f.postMessage('PING', '*'); f.postMessage({memtide: {type: 'set', params: {m: '80%'}}}, '*'); parent.postMessage('sent', '*'); }</script>"></iframe>`)
	p.Wait(`last("ready") && last("state")`)
	Eval[bool](p, `frames[1].postMessage("go", "*"), true`)
	p.Wait(`all.includes("sent")`)
	Eval[bool](p, `say("PING"), true`)
	p.Wait(`all.includes("PONG")`)
	asked(p)
	if got := Eval[string](p, `last("state").link`); !strings.Contains(got, "m=70%25") {
		t.Errorf("a frame that is not the page has changed the view to %s", got)
	}
}

// TestEmbedSandboxed checks that a view works in a frame that may only run scripts: it has an opaque origin, no
// storage, no workers started from an address, and no history.
func TestEmbedSandboxed(t *testing.T) {
	t.Parallel()
	p := hosting(t, strings.Replace(plainFrame, "<iframe", `<iframe sandbox="allow-scripts"`, 1))
	p.Wait(`last("ready") && last("state").stepMs > 1`)
	Eval[bool](p, `say({type: "set", params: {s: "rotor"}}), true`)
	p.Wait(`!last("state").link.includes("s=greedy")`)
	for _, line := range p.Console() {
		if strings.HasPrefix(line, "exception:") || strings.HasPrefix(line, "error:") {
			t.Errorf("the console says %q", line)
		}
	}
}

// TestEmbedLook opens a view as a page of its own and checks what it shows and how it reacts.
func TestEmbedLook(t *testing.T) {
	t.Parallel()
	rest := sealed("v=1&p=gpt2-medium-b4&m=70%25&s=greedy")[1:]
	p := Open(t, "#embed=1&controls=budget&"+rest)
	shown(p)
	for selector, want := range map[string]bool{
		".header": false, ".results": false, ".tradeoff": false, ".places": false, ".under": false, "#strategy": false,
		".caption": true, `[data-testid="layers"]`: true, `[data-testid="timeline"]`: true,
		`[data-testid="memory"]`: true, "#budget": true,
	} {
		if got := Eval[bool](p, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().height > 0`,
			selector)); got != want {
			t.Errorf("%s is visible: %t, want %t", selector, got, want)
		}
	}
	if got, want := Eval[string](p, `document.querySelector("[data-testid=open]").href`), p.URL+"#"+rest; got != want {
		t.Errorf("Open leads to %s, want %s", got, want)
	}
	if got := p.Text(`[data-testid="caption"]`); !strings.Contains(got, "per step") || !strings.Contains(got, "GiB") {
		t.Errorf("the caption is %q; want budget and step time", got)
	}
	// The background is the view's own and opaque, whatever the page around it looks like.
	for _, theme := range []string{"", "light", "dark"} {
		got := Eval[string](p, fmt.Sprintf(`(() => {
			const root = document.documentElement;
			root.dataset.framed = "";
			if (%q) root.dataset.theme = %[1]q; else delete root.dataset.theme;
			return getComputedStyle(document.body).backgroundColor;
		})()`, theme))
		if strings.HasPrefix(got, "rgba") {
			t.Errorf("the ground of a frame with the theme %q is %s; want one that nothing shines through", theme, got)
		}
	}
	Eval[bool](p, `delete document.documentElement.dataset.theme`)
	// The slider works. The address does not change, because it belongs to the page that embeds the view.
	Eval[bool](p, `(() => { const e = document.querySelector("#budget"); e.value = +e.value + 8; e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	p.Wait(fmt.Sprintf(`document.querySelector("[data-testid=open]").href !== %q && document.body.dataset.state === "ready"`, p.URL+"#"+rest))
	p.Drawn()
	if got, want := Eval[string](p, `location.hash`), "#embed=1&controls=budget&"+rest; got != want {
		t.Errorf("the view has changed its address to %s", got)
	}
	if got := Eval[string](p,
		`(() => { try { return Object.keys(localStorage).join() } catch { return "" } })()`); got != "" {
		t.Errorf("the view has stored %s", got)
	}
	if Eval[bool](p, `(() => { const e = new WheelEvent("wheel", {deltaY: 100, bubbles: true, cancelable: true}); document.querySelector(".paint").dispatchEvent(e); return e.defaultPrevented })()`) {
		t.Error("a bare wheel is taken from the page around the view")
	}
	// Files that are dropped on a view are ignored.
	drop(p, "x.csv", []byte("name,fwd_ms\na,1\n"))
	p.Drawn()
	if got := p.Text(".caption h1"); strings.Contains(got, "x.csv") {
		t.Errorf("a file that was dropped on the view was opened: %s", got)
	}
	Eval[bool](p, `document.querySelector("#stage").focus(), true`)
	keyDown(p, "Escape", "Escape")
	if !Eval[bool](p, `document.activeElement === document.body`) {
		t.Error("Esc leaves the focus in the view; want it given back")
	}
}

// TestViewScriptIsSmall checks the size of view.js, which every page with a view loads.
func TestViewScriptIsSmall(t *testing.T) {
	t.Parallel()
	New(t)
	b, err := os.ReadFile(filepath.Join(shared.dist, "view.js"))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 3300 {
		t.Errorf("view.js is %d bytes; want at most 3300", len(b))
	}
	t.Logf("view.js is %d bytes", len(b))
}
