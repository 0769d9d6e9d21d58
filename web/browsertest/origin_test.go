//go:build !js

package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// stranger opens a page of another origin and another site that collects all messages it receives. In html, SITE/
// stands for the address of the site.
func stranger(t *testing.T, html string) *Page {
	t.Helper()
	p := New(t)
	site := p.URL
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, strings.ReplaceAll(heard+html, "SITE/", site))
	}))
	t.Cleanup(server.Close)
	p.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/"
	p.Navigate("")
	return p
}

// memtide returns the window or frame with memtide in it that the stranger's page p has opened.
func (p *Page) memtide() *Page {
	p.t.Helper()
	own := chromedp.FromContext(p.ctx).Target.TargetID
	var of *target.Info
	for start := time.Now(); of == nil && time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		all, err := chromedp.Targets(p.ctx)
		p.do(err)
		for _, i := range all {
			if strings.HasPrefix(i.URL, shared.url) && (i.OpenerID == own || string(i.ParentFrameID) == string(own)) {
				of = i
			}
		}
	}
	if of == nil {
		p.t.Fatal("no window and no frame has memtide in it")
	}
	ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(of.TargetID))
	p.t.Cleanup(cancel)
	// The connection lives as long as the context of the first call, so that is the test's context.
	p.do(chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void]("0")))
	if of.Type == "page" { // a window of its own: without the focus it is hidden and draws nothing
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		p.do(err)
	}
	return &Page{t: p.t, ctx: ctx, URL: shared.url}
}

// secret is a file that a person opens and that no other page may see.
const secret = "name,forward_s,backward_s,output_bytes\nSecretOne,0.001,0.002,1000000\nSecretTwo,0.002,0.004,2000000\nSecretThree,0.001,0.002,1000000\n"

// openSecret drops the secret file on the page and waits until the address holds it.
func openSecret(p *Page) {
	p.t.Helper()
	p.Wait(`document.body?.dataset.state === "ready"`, 60*time.Second)
	drop(p, "secret.csv", []byte(secret))
	p.Wait(`/[&#]d=/.test(location.hash) && document.body.dataset.state === "ready"`, time.Minute)
}

// settledAfter waits until memtide has processed the messages that were sent to it before. Memtide handles events
// in order, so the test clicks the button for the theme and waits for the change. Then memtide sends the message
// "after" to the window that to names, and the test waits until the stranger p has received it.
func settledAfter(p, memtide *Page, to string) {
	p.t.Helper()
	Eval[bool](memtide, `(() => { globalThis.themeBefore = document.documentElement.dataset.theme ?? ""; document.querySelector("[data-do=theme]").click(); return true })()`)
	memtide.Wait(`(document.documentElement.dataset.theme ?? "") !== themeBefore`, 20*time.Second)
	Eval[bool](memtide, to+`.postMessage("after", "*"), true`)
	p.Wait(`all.includes("after")`, 20*time.Second)
}

// everyMessage is a JavaScript list of messages to which a view replies, some of them with an error.
const everyMessage = `["PING", {memtide: {type: "get"}}, {memtide: {type: "set", params: {m: "80%"}}}, {memtide: {type: "set", params: {m: "nonsense"}}},
	{memtide: {type: "theme", value: "auto"}}, {memtide: {type: "nonsense"}}, {memtide: {type: "open"}}, {memtide: {type: "open", link: "#v=1&p=nonsense"}}, {memtide: {type: "get"}}]`

// ask makes the stranger p send everyMessage to memtide, and waits until all of them have arrived there.
func ask(p, memtide *Page, window string) {
	p.t.Helper()
	Eval[bool](memtide, `(() => { globalThis.arrived = 0; addEventListener("message", () => arrived++); return true })()`)
	n := Eval[int](p, `(() => { const all = `+everyMessage+`; for (const m of all) `+window+`.postMessage(m, "*"); return all.length })()`)
	memtide.Wait(fmt.Sprintf("arrived >= %d", n), 20*time.Second)
}

// nothingHeard fails the test if the stranger p has received any message except those that the test itself sent.
func nothingHeard(p *Page, what string) {
	p.t.Helper()
	got := Eval[string](p, `JSON.stringify(all.filter((m) => m !== "after"))`)
	if got != "[]" {
		p.t.Errorf("%s has heard %s; want nothing", what, got)
	}
}

// TestOriginsApart checks that pages of another origin cannot learn the profile that a person has opened: neither
// the page that opened memtide, nor the page that frames it, also if they try to turn the page into a view.
func TestOriginsApart(t *testing.T) {
	const (
		button = `<button onclick="globalThis.w = window.open('SITE/')">go</button>`
		frame  = `<iframe width="1200" height="800" src="SITE/"></iframe>`
	)
	t.Run("opener", func(t *testing.T) {
		p := stranger(t, button)
		p.Click("button")
		m := p.memtide()
		openSecret(m)
		if !Eval[bool](m, `opener !== null`) {
			t.Fatal("the window has no opener: the test would see nothing")
		}
		ask(p, m, "w")
		settledAfter(p, m, "opener")
		nothingHeard(p, "the page that opened memtide")
		if got := Eval[string](m, `location.hash`); strings.Contains(got, "m=80") {
			t.Errorf("the page that opened memtide has changed its budget: %s", got)
		}
	})
	t.Run("opener of a view", func(t *testing.T) {
		long(t)
		p := stranger(t, strings.Replace(button, "SITE/", "SITE/#embed=1&v=1&p=vgg16-b32", 1))
		p.Click("button")
		m := p.memtide()
		m.Wait(`document.body?.dataset.state === "ready"`, 60*time.Second)
		ask(p, m, "w")
		settledAfter(p, m, "opener")
		nothingHeard(p, "the page that opened a view in a window")
	})
	t.Run("parent", func(t *testing.T) {
		p := stranger(t, frame)
		m := p.memtide()
		openSecret(m)
		ask(p, m, "frames[0]")
		settledAfter(p, m, "parent")
		nothingHeard(p, "the page that frames memtide")
	})
	t.Run("parent, a view by a later link", func(t *testing.T) {
		long(t)
		p := stranger(t, frame)
		m := p.memtide()
		m.Wait(`document.body?.dataset.state === "ready"`, 60*time.Second)
		Eval[bool](p, `frames[0].location = document.querySelector("iframe").src + "#embed=1&v=1&p=vgg16-b32", true`)
		m.Wait(`document.body.dataset.state === "ready" && document.title.includes("VGG")`, time.Minute)
		openSecret(m)
		ask(p, m, "frames[0]")
		settledAfter(p, m, "parent")
		nothingHeard(p, "the page that made a view of memtide by a link")
	})
	// Unknown keys of a link are not kept when a file is opened later. Otherwise going back in the history could
	// load an address that turns the page into a view.
	t.Run("parent, a view by going back", func(t *testing.T) {
		p := stranger(t, frame)
		m := p.memtide()
		m.Wait(`document.body?.dataset.state === "ready"`, 60*time.Second)
		Eval[bool](p, `frames[0].location = document.querySelector("iframe").src + "#v=1&p=vgg16-b32&m=3500MiB&zz?embed=1", true`)
		m.Wait(`document.body.dataset.state === "ready" && document.title.includes("VGG")`, time.Minute)
		openSecret(m)
		if got := Eval[string](m, `location.hash`); strings.Contains(got, "embed=1") {
			t.Errorf("the address is %s; want nothing of the key that was not known", got)
		}
		Eval[bool](p, `frames[0].location = document.querySelector("iframe").src + "?elsewhere#v=1&p=vgg16-b64", true`)
		m.Wait(`location.search === "?elsewhere" && document.body?.dataset.state === "ready"`, time.Minute)
		Eval[bool](p, `history.back(), true`)
		m.Wait(`location.search === "" && /[&#]d=/.test(location.hash) && document.body?.dataset.state === "ready"`,
			time.Minute)
		ask(p, m, "frames[0]")
		settledAfter(p, m, "parent")
		nothingHeard(p, "the page that went back to where a file was open")
	})
}

// TestViewTakesNoFiles drops, pastes and chooses a file in a view. A view must not open it, because its host may
// ask what is open.
func TestViewTakesNoFiles(t *testing.T) {
	p := stranger(t, plainFrame)
	p.Wait(`last("ready") && last("state")`, 60*time.Second)
	m := p.memtide()
	before := Eval[string](p, `last("state").link`)
	drop(m, "secret.csv", []byte(secret))
	text, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	Eval[bool](m, fmt.Sprintf(`(async () => {
		const data = new DataTransfer(), text = new DataTransfer();
		data.items.add(new File([%s], "secret.csv"));
		text.setData("text", %[1]s);
		for (const clipboardData of [data, text]) document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
		const field = document.querySelector("input[data-do=file]");
		field.files = data.files;
		field.dispatchEvent(new Event("change", {bubbles: true}));
		await new File(["the page would have read its files by then"], "x").arrayBuffer();
		return true;
	})()`, text))
	settledAfter(p, m, "parent")
	m.Wait(`document.body.dataset.state === "ready"`, time.Minute) // no file is being opened
	n := Eval[int](p, `all.filter((m) => m.type === "state").length`)
	Eval[bool](p, `say({type: "get"}), true`)
	p.Wait(fmt.Sprintf(`all.filter((m) => m.type === "state").length > %d`, n), 20*time.Second)
	if got := Eval[string](p, `last("state").link`); got != before || !strings.Contains(got, "p=gpt2-medium-b4") {
		t.Errorf("after a file was dropped, pasted and chosen the view tells %s, want %s as before", got, before)
	}
	for _, word := range []string{"secret", "Secret", "&d="} {
		if got := Eval[string](p, `JSON.stringify(all)`); strings.Contains(got, word) {
			t.Errorf("the host of the view has heard %q in %s", word, got)
		}
	}
}
