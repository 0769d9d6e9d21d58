//go:build !js

package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// abroad opens a page from a file. For it the site is a different site, so that its frames run in a process of
// their own.
func abroad(t *testing.T, html string) *Page {
	t.Helper()
	p := New(t)
	p.URL = hostFile(p, html)
	return p
}

// hostFile writes a page as abroad opens it and returns its address. In html, SITE/ stands for the address of the
// site.
func hostFile(p *Page, html string) string {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "host.html")
	p.do(os.WriteFile(file, []byte(strings.ReplaceAll(heard+html, "SITE/", p.URL)), 0o600))
	return "file://" + file
}

// asked asks a view for its state twice and each time waits for the answer and for two frames. Afterwards
// everything that was sent to the view earlier has had its effect.
func asked(p *Page) {
	p.t.Helper()
	for range 2 {
		n := Eval[int](p, `all.filter((m) => m.type === "state").length`)
		Eval[bool](p, `say({type: "get"}), true`)
		p.Wait(fmt.Sprintf(`all.filter((m) => m.type === "state").length > %d`, n))
		p.frames()
	}
}

// mouse sends a mouse event to the tab.
func mouse(p *Page, e input.DispatchMouseEventParams) {
	p.t.Helper()
	_, err := chromedp.Call(p.Context(), input.DispatchMouseEvent, e)
	p.do(err)
}

// documentedHeights returns the heights of the frames in the snippets of docs/embedding.md and of the share
// dialog.
func documentedHeights(t *testing.T) (out []float64) {
	t.Helper()
	found := func(text string) {
		for _, m := range regexp.MustCompile(`width="100%",? height="?(\d+)`).FindAllStringSubmatch(text, -1) {
			h, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, h)
		}
	}
	doc, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	found(string(doc))
	n := len(out)
	p := Open(t, "#v=1&p=vgg16-b32&m=3500MiB")
	shown(p)
	openShare(p)
	found(Eval[string](p, `document.querySelector("#share-iframe").value`))
	if n < 3 || len(out) != n+1 {
		t.Fatalf("%d heights are documented and %d in the dialog; want at least 3 and 1", n, len(out)-n)
	}
	return out
}

// TestFrameFitsAndWheelPasses checks that a view fits into a frame of the documented height without a scroll bar,
// also when something is selected in it, and that a wheel over it scrolls the page around it.
func TestFrameFitsAndWheelPasses(t *testing.T) {
	t.Parallel()
	least := 1e9
	for _, h := range documentedHeights(t) {
		least = min(least, h)
	}
	p := New(t)
	site := p.URL
	widths := []int{390}
	if os.Getenv("MEMTIDE_LONG") != "" {
		widths = []int{720, 390}
	}
	for _, width := range widths {
		for _, link := range []string{"v=1&p=resnet101-b32&m=60%25", "v=1&p=vgg16-b64&m=80%25&s=greedy",
			"v=1&p=gpt2-medium-b4&m=70%25&s=greedy",
			"v=1&p=llama3-8b-step-program.torchtune-lora.16-on-rtx-4090-b1&dev=rtx-4090&s=pofo", "controls=budget&v=1&p=vgg16-b64&m=80%25&s=greedy"} {
			least := least
			if strings.HasPrefix(link, "controls=budget") { // docs/embedding.md says so
				least += 40
			}
			p.URL = hostFile(p, fmt.Sprintf(`<body style="margin:0"><iframe style="border:0;display:block" width="%d" height="%g" src="SITE/#embed=1&%s"></iframe><div style="height:3000px"></div>`, width, least, link))
			p.Viewport(720, 640)
			p.Navigate("")
			p.URL = site
			p.Wait(`last("ready") && last("size") && last("state")`)
			if got := Eval[float64](p, `last("size").height`); got > least {
				t.Errorf("%s in a frame %d px wide is %g px high; frames are documented to be %g", link, width, got,
					least)
			}
			Eval[bool](p, `say({type: "set", params: {sel: "B3"}}), true`)
			p.Wait(`last("select")`)
			asked(p)
			if got := Eval[float64](p, `last("size").height`); got > least {
				t.Errorf("%s in a frame %d px wide is %g px high with a selection; frames are documented to be %g",
					link, width, got, least)
			}
			t.Logf("%d px wide: %v px high: %s", width,
				Eval[[]int](p, `all.filter((m) => m.type === "size").map((m) => m.height)`), link)
			mouse(p, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 200, Y: 300,
				DeltaX: 0.01, DeltaY: 240})
			p.Wait(`scrollY > 200`)
		}
	}
}

// TestEmbedIsReadOnly checks that keys in a view only change what is visible and what is selected, and change the
// budget only if the view has a slider for it.
func TestEmbedIsReadOnly(t *testing.T) {
	t.Parallel()
	const link = "v=1&p=gpt2-medium-b4&m=70%25&s=greedy"
	p := abroad(t, `<body style="margin:0"><iframe style="border:0" width="700" height="600" src="SITE/#embed=1&`+link+`"></iframe>`)
	p.Navigate("")
	p.Wait(`last("ready") && last("state")?.stepMs > 1`)
	at := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, X: 350, Y: 62,
		Button: input.MouseButtonLeft, ClickCount: 1}
	mouse(p, at)
	at.Type = input.DispatchMouseEventTypeMouseReleased
	mouse(p, at)
	stroke(p, "Escape", "Escape", 0)
	p.Wait(`last("escape")`)
	mouse(p, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, X: 350, Y: 62,
		Button: input.MouseButtonLeft, ClickCount: 1})
	mouse(p, at)
	stroke(p, "KeyN", "n", 0)
	p.Wait(`/^gap|wait/.test(last("select")?.name ?? "")`)
	before := Eval[string](p, `last("state").link`)
	for _, k := range []struct {
		code, text string
		modifiers  int64
	}{
		{"Digit1", "1", 0}, {"Digit2", "2", 0}, {"Digit3", "3", 0}, {"Digit6", "6", 0}, {"KeyC", "c", 0},
		{"KeyX", "x", 0}, {"KeyK", "k", 0}, {"KeyT", "t", 0},
		{"KeyM", "m", 0}, {"BracketLeft", "[", 0}, {"BracketRight", "]", shift}, {"KeyZ", "z", ctrl},
		{"Slash", "/", 0}, {"Slash", "?", shift}, {"KeyY", "y", 0},
	} {
		stroke(p, k.code, k.text, k.modifiers)
	}
	asked(p)
	if got := Eval[string](p, `last("state").link`); got != before {
		t.Errorf("keys have changed the view from\n%s to\n%s", before, got)
	}
	stroke(p, "NumpadAdd", "+", 0)
	Eval[bool](p, `say({type: "get"}), true`)
	p.Wait(`last("state").link.includes("&t=")`)

	// The line of the budget can be dragged, and the keys of the budget work, only if there is a slider.
	for controls, want := range map[string]bool{"": false, "controls=budget&": true} {
		p := Open(t, "#embed=1&"+controls+link)
		shown(p)
		grip := Eval[bool](p, `(() => {
			const paint = document.querySelector('[data-testid="memory"] .paint'), b = paint.getBoundingClientRect();
			for (let y = b.top; y <= b.bottom; y++) {
				paint.dispatchEvent(new PointerEvent("pointermove", {clientX: b.left + b.width / 2, clientY: y, bubbles: true}));
				if (paint.style.cursor === "ns-resize") return true;
			}
			return false;
		})()`)
		if grip != want {
			t.Errorf("with %q the line of the budget can be taken: %t, want %t", controls, grip, want)
		}
		Eval[bool](p, `document.querySelector("#stage").focus(), true`)
		keyDown(p, "]", "BracketRight")
		p.Drawn()
		if got := Eval[string](p, `document.querySelector("[data-testid=open]").href`); strings.Contains(got,
			"&m=70%25&") == want {
			t.Errorf("with %q a key for the budget leads to %s; changed: want %t", controls, got, want)
		}
		// The caption describes the selection.
		Eval[bool](p, `document.querySelector("#stage").focus(), true`)
		keyDown(p, "n", "KeyN")
		p.Wait(`document.querySelector("[data-testid=caption]").textContent.includes(" waits ")`)
		keyDown(p, "Escape", "Escape")
		p.Wait(`document.querySelector("[data-testid=caption]").textContent.includes("per step")`)
	}
}

// TestEmbedAnswersErrors checks that a view answers a message that it cannot accept with an error, and that what
// it shows stays.
func TestEmbedAnswersErrors(t *testing.T) {
	t.Parallel()
	p := hosting(t, plainFrame)
	p.Wait(`last("ready") && last("state")?.stepMs > 1`)
	before := Eval[string](p, `last("state").link`)
	for _, c := range []struct{ message, code, text string }{
		{`{type: "set", params: {m: "a lot"}}`, "open", "m:"},
		{`{type: "set", params: {s: "magic"}}`, "open", "magic"},
		{`{type: "set", params: {p: "nothing-b1"}}`, "open", "nothing-b1"},
		{`{type: "set", params: {p: "vgg16-b32", m: "a lot"}}`, "open", "m:"},
		{`{type: "set"}`, "message", "params"},
		{`{type: "set", params: "m=1GiB"}`, "message", "params"},
		{`{type: "dance"}`, "message", "dance"},
		{`{type: "theme", value: "pink"}`, "message", "pink"},
		{`{type: "open"}`, "message", "link, json, csv or buffer"},
		{`{type: "open", link: "#v=1&p=nothing-b1&title=Wrong"}`, "open", "nothing-b1"},
		{`{type: "open", link: "#v=1&d=1.bQHcBT6njdWMks9rK1UUgM8&title=Wrong"}`, "open", ""},
		{`{type: "open", link: "#v=1&m=60%25&title=Wrong"}`, "open", "names no profile"},
		{`{type: "open", link: "#v=99&p=vgg16-b64"}`, "open", ""},
	} {
		Eval[bool](p, `all.length = 0, say(`+c.message+`), true`)
		p.Wait(`last("error")`)
		if got := Eval[[]string](p, `[last("error").code, last("error").text]`); got[0] != c.code ||
			!strings.Contains(got[1], c.text) || got[1] == "" || strings.Contains(got[1], "left out") ||
			strings.Contains(got[1], "is shown instead") {
			t.Errorf("%s is answered by %q; want the code %s and words about %q", c.message, got, c.code, c.text)
		}
		Eval[bool](p, `say({type: "get"}), true`)
		p.Wait(`last("state")`)
		if got := Eval[string](p, `last("state").link`); got != before {
			t.Errorf("%s has changed the view to\n%s; want\n%s", c.message, got, before)
		}
	}
}

// TestEmbedOfBadLink checks that a frame whose link is cut, damaged or too new shows what is wrong with the link
// and no schedule, until it is given something else to show.
func TestEmbedOfBadLink(t *testing.T) {
	t.Parallel()
	p := New(t)
	site := p.URL
	for fragment, want := range map[string]string{
		"embed=1&title=Mine&v=1&p=nothing-b1": "nothing-b1", "embed=1&v=1&d=1.bQHcBT6njdWMks9rK1UUgM8": "",
		"v=99&p=vgg16-b64&embed=1": "newer",
		"embed=1&v=1&m=60%25":      "names no profile", "embed=1&v=1&p=vgg16-b64&m=a%20lot": "m:",
	} {
		openHost(p, site, `<iframe width="700" height="600" src="SITE/#`+fragment+`"></iframe>`)
		p.Wait(`last("ready") && last("error")`)
		if got := Eval[[]string](p, `[last("error").code, last("error").text]`); got[0] != "open" ||
			!strings.Contains(got[1], want) || strings.Contains(got[1], "is shown instead") {
			t.Errorf("%s: the view says %q; want words about %q", fragment, got, want)
		}
		if got := Eval[int](p, `all.filter((m) => m.type === "state").length`); got != 0 {
			t.Errorf("%s: the view tells the state of a schedule", fragment)
		}
		if got := Eval[float64](p, `last("size").height`); got > 120 {
			t.Errorf("%s: the view is %g px high; want a line of words", fragment, got)
		}
		Eval[bool](p, `say({type: "set", params: {p: "vgg16-b32", m: "80%"}}), true`)
		p.Wait(`last("state")?.link` + unsealed + `.endsWith("#v=1&p=vgg16-b32&m=80%25") && last("size").height > 400`)
	}
}

// TestBadLinkKeepsThePage checks that after a bad link the page keeps showing what it showed before.
func TestBadLinkKeepsThePage(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=vgg16-b64&m=80%25")
	shown(p)
	name := Eval[string](p, `document.title`)
	Eval[bool](p, `location.hash = "#v=1&d=1.bQHcBT6njdWMks9rK1UUgM8", true`)
	p.Wait(`document.body.dataset.state === "error" && document.body.textContent.includes("What was shown stays.")`)
	if got := Eval[string](p, `document.title`); got != name {
		t.Errorf("after a damaged link the page shows %s; want %s as before", got, name)
	}
}
