//go:build !js

package browsertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// shown waits until the page shows what its address asks for.
func shown(p *Page) {
	p.t.Helper()
	p.Wait(`document.body && document.body.dataset.state === "ready" && document.querySelector(".paint")`)
}

// keyDown sends a keydown event to the element that has the focus.
func keyDown(p *Page, key, code string) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, code: %q, bubbles: true, cancelable: true}))`, key, code))
}

// unsealed is a JavaScript method call that removes the checksum from a link.
const unsealed = `.replace(/sum=[0-9a-f]{6}&(amp;)?/, "")`

const shareLink = `document.querySelector("#share-link")`

func openShare(p *Page) {
	p.t.Helper()
	p.Click(`[data-testid="share"]`)
	p.Wait(shareLink + ` && document.activeElement === ` + shareLink)
}

// TestShareDialog opens the dialog, checks its texts, and closes it.
func TestShareDialog(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=gpt2-medium-b4&m=70%25&s=greedy&t=100-200")
	shown(p)
	Eval[bool](p, `document.querySelector("#stage").focus(), true`)
	keyDown(p, "n", "KeyN")
	p.Wait(`location.hash.includes("sel=wait@")`)
	openShare(p)
	address := Eval[string](p, `location.href`)
	if got := Eval[string](p, shareLink+`.value`); got != address {
		t.Errorf("the link of the dialog is\n%s\nwant that of the address bar\n%s", got, address)
	}
	if !Eval[bool](p, shareLink+`.selectionStart === 0 && `+shareLink+`.selectionEnd === `+shareLink+`.value.length`) {
		t.Error("the link is not selected; want it ready to be copied")
	}
	if got := p.Text(`[data-testid="share-verdict"]`); !strings.Contains(got, "fits everywhere") ||
		!strings.HasPrefix(got, fmt.Sprint(len(address))) {
		t.Errorf("verdict %q; want %d characters that fit everywhere", got, len(address))
	}
	// Leave zoom and selection out, and set a title.
	p.Click(`[data-do="share-exact"]`)
	p.Wait(`!` + shareLink + `.value.includes("sel=") && !` + shareLink + `.value.includes("t=100")`)
	Eval[bool](p, `(() => { const e = document.querySelector("#share-title"); e.focus(); e.value = "Greedy & <b>"; e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	p.Wait(shareLink + `.value.includes("title=Greedy%20%26%20%3Cb%3E") && document.title.startsWith("Greedy & <b> ")`)
	for id, want := range map[string]string{
		"markdown": `[Greedy & \<b>](` + p.URL + `#v=1`,
		"iframe":   `#embed=1&amp;theme=light&amp;v=1&amp;p=gpt2-medium-b4`,
		"element":  `<memtide-view title="Greedy &amp; &lt;b&gt;" link="v=1&amp;p=`,
	} {
		if got := Eval[string](p, `document.querySelector("#share-`+id+`").value`+unsealed); !strings.Contains(got,
			want) {
			t.Errorf("%s: %s\nwant %s in it", id, got, want)
		}
	}
	// The focus stays in the dialog, letters are not commands, and Esc closes it and gives the focus back.
	Eval[bool](p, `document.querySelector(".share button").focus(), true`)
	Eval[bool](p, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Tab", shiftKey: true, bubbles: true, cancelable: true}))`)
	if !Eval[bool](p, `document.activeElement.matches("[data-arg=html]")`) {
		t.Error("Shift+Tab on the first button leaves the dialog; want its last button")
	}
	keyDown(p, "?", "Slash")
	keyDown(p, "Escape", "Escape")
	p.Wait(`!document.querySelector(".share") && document.activeElement.dataset.testid === "share"`)
	if Eval[bool](p, `document.querySelector("#help-title") !== null`) {
		t.Error("a letter in the dialog opened the help")
	}
}

// TestCopyRefused checks that if the browser refuses access to the clipboard, the text is selected and the dialog
// says what to do.
func TestCopyRefused(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`Object.defineProperty(navigator, "clipboard", {value: {writeText: () => Promise.reject(new Error("no"))}})`)
	p.Navigate("")
	shown(p)
	openShare(p)
	Eval[bool](p, `document.querySelector("#share-title").focus(), true`)
	p.Click(`[data-arg="markdown"]`)
	p.Wait(`document.querySelector("[data-testid=share-note]").textContent.includes("press Ctrl+C")`)
	if !Eval[bool](p, `document.activeElement.id === "share-markdown" && document.activeElement.selectionEnd === document.activeElement.value.length`) {
		t.Error("the text is not selected")
	}
}

// saved clicks the button for a kind of file and returns the name and the content of the file that the page
// makes.
func saved(p *Page, kind string) (name string, content []byte) {
	p.t.Helper()
	Eval[bool](p, `(() => { globalThis.savedFile = null; return true })()`)
	p.Click(`[data-arg="` + kind + `"]`)
	p.Wait(`globalThis.savedFile`)
	name = Eval[string](p, `savedFile.name`)
	b, err := base64.StdEncoding.DecodeString(Eval[string](p, `(async () => {
		const b = new Uint8Array(await (await savedFile.blob).arrayBuffer());
		let s = "";
		for (let i = 0; i < b.length; i += 32768) s += String.fromCharCode(...b.subarray(i, i + 32768));
		return btoa(s);
	})()`))
	p.do(err)
	return name, b
}

// keepSaves stores files in savedFile instead of saving them.
const keepSaves = `(() => {
	const make = URL.createObjectURL, blobs = new Map();
	URL.createObjectURL = (b) => { const u = make(b); blobs.set(u, b); return u; };
	const click = HTMLAnchorElement.prototype.click;
	HTMLAnchorElement.prototype.click = function () {
		if (this.download) globalThis.savedFile = { name: this.download, blob: blobs.get(this.href) };
		else click.call(this);
	};
})()`

// drop drops a file on the page.
func drop(p *Page, name string, content []byte) {
	p.t.Helper()
	p.do(nil)
	Eval[bool](p, fmt.Sprintf(`(() => {
		const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([bytes], %q));
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
		return true;
	})()`, base64.StdEncoding.EncodeToString(content), name))
}

// kindsOfFiles are the kinds of files that the page makes without a worker.
var kindsOfFiles = []string{"svg", "png", "json", "html", "operations.csv", "layers.csv", "curve.csv"}

// TestExportsComeBack saves every kind of file and drops it on another view. Each has to restore what was shown,
// whatever the name of the file.
func TestExportsComeBack(t *testing.T) {
	t.Parallel()
	long(t)
	p := New(t)
	p.Before(keepSaves)
	link := sealed("v=1&p=gpt2-medium-b4&m=70%25&s=greedy&t=100-200&sel=layer@5&title=Swap%20%26%20wait")
	p.Navigate(link)
	shown(p)
	openShare(p)
	files := map[string][]byte{}
	for _, kind := range kindsOfFiles {
		name, content := saved(p, kind)
		if !strings.HasPrefix(name, "swap-wait-greedy-") || !strings.HasSuffix(name, "."+kind) {
			t.Errorf("%s is saved as %q; want swap-wait-greedy-BUDGET.%s", kind, name, kind)
		}
		files[kind] = content
		t.Logf("%s: %s, %d bytes", kind, name, len(content))
	}
	checkTables(t, files)
	for _, kind := range kindsOfFiles {
		p.Navigate("#v=1&p=vgg16-b32&s=keepall")
		p.Wait(`document.body.dataset.state === "ready" && location.hash.includes("&p=vgg16-b32")`)
		drop(p, "file", files[kind])
		p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && location.hash === %q`, link))
		if got := Eval[string](p, `document.title`); got != "Swap & wait – memtide" {
			t.Errorf("%s: the title is %q, want that of the link", kind, got)
		}
		// The text is drawn a frame after the state is ready.
		p.Wait(`document.querySelector("[data-testid=selection]").textContent.includes("block 4 of 24")`)
	}
	// Back leads to what was shown before the drop.
	Eval[bool](p, `history.back(), true`)
	p.Wait(`location.hash.includes("&p=vgg16-b32") && document.title.startsWith("VGG") && document.body.dataset.state === "ready"`)
}

// TestComparisonComesBack saves a comparison. The files have to hold both sides and restore both, and files saved
// after that have to be equal to the first ones.
func TestComparisonComesBack(t *testing.T) {
	t.Parallel()
	long(t)
	p := New(t)
	p.Before(keepSaves)
	link := sealed("v=1&p=vgg16-b64&m=80%25&s=greedy&c=none&b.s=dynprog")
	p.Navigate(link)
	ready := fmt.Sprintf(`document.body.dataset.state === "ready" && location.hash === %q && document.querySelector("[data-testid=delta]").textContent`, link)
	p.Wait(ready)
	openShare(p)
	files := map[string][]byte{}
	for _, kind := range []string{"json", "operations.csv", "layers.csv"} {
		name, content := saved(p, kind)
		if !strings.HasPrefix(name, "vgg-16-batch-64-greedy-") || !strings.HasSuffix(name, "-gib-vs-dynprog."+kind) {
			t.Errorf("%s is saved as %q; want vgg-16-batch-64-greedy-BUDGET-vs-dynprog.%s", kind, name, kind)
		}
		files[kind] = content
	}
	for _, kind := range []string{"operations.csv", "layers.csv"} {
		if text := string(files[kind]); !strings.HasPrefix(text, "side,") || !strings.Contains(text, "\nA,") ||
			!strings.Contains(text, "\nB,") {
			t.Errorf("%s begins with %.80q; want rows of A and of B", kind, text)
		}
	}
	var file struct {
		StepNs int64
		B      struct{ StepNs int64 }
		Delta  struct{ StepNs int64 }
	}
	if err := json.Unmarshal(files["json"], &file); err != nil || file.StepNs == 0 || file.B.StepNs == 0 ||
		file.Delta.StepNs != file.B.StepNs-file.StepNs {
		t.Errorf("the JSON says A %d, B %d, delta %d (%v)", file.StepNs, file.B.StepNs, file.Delta.StepNs, err)
	}
	for kind, content := range files {
		p.Navigate("#v=1&p=vgg16-b32&s=keepall")
		p.Wait(`document.body.dataset.state === "ready" && location.hash.includes("&p=vgg16-b32")`)
		drop(p, "file", content)
		p.Wait(ready)
		_, again := saved(p, kind)
		if kind == "json" {
			again, content = withoutCurve(t, again), withoutCurve(t, content)
		}
		if !bytes.Equal(again, content) {
			t.Errorf("%s: saved again it is\n%.2000s\nand was\n%.2000s\nwant the same", kind, again, content)
		}
	}
	p.Quiet()
}

// withoutCurve returns a JSON file without the points of the curve, because their number grows while the page is
// open.
func withoutCurve(t *testing.T, file []byte) []byte {
	t.Helper()
	var sides map[string]any
	if err := json.Unmarshal(file, &sides); err != nil {
		t.Fatal(err)
	}
	delete(sides, "curve")
	if b, ok := sides["b"].(map[string]any); ok {
		delete(b, "curve")
	}
	out, err := json.Marshal(sides)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLargeTableComesBack drops a table that is too large for the page to read as a whole. The link is at its
// end.
func TestLargeTableComesBack(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=vgg16-b32&s=keepall")
	shown(p)
	p.do(nil)
	Eval[bool](p, `(() => {
		const data = new DataTransfer();
		data.items.add(new File(["a,b\n" + "1,2\n".repeat(2 << 20) + "# memtide: #v=1&p=vgg16-b64&m=80%25&s=greedy\n"], "operations.csv"));
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
		return true;
	})()`)
	p.Wait(`document.body.dataset.state === "ready" && location.hash === "#v=1&p=vgg16-b64&m=80%25&s=greedy"`)
	p.Quiet()
}

// checkTables checks the contents of the saved tables, JSON and SVG.
func checkTables(t *testing.T, files map[string][]byte) {
	t.Helper()
	for kind, head := range map[string]string{
		"operations.csv": "start (ms),end (ms),lane,what,kind,layer,why\n",
		"layers.csv":     "layer,name,decision,",
		"curve.csv":      "strategy,budget (bytes),step time (ms),peak (bytes),best so far\n",
	} {
		if text := string(files[kind]); !strings.HasPrefix(text, head) || strings.Count(text, "\n") < 3 {
			t.Errorf("%s begins with %.80q; want %q and rows", kind, text, head)
		}
	}
	var file struct {
		StepNs, ComputeNs, RecomputeNs, WaitingNs int64
		Verified                                  bool
		Operations                                []struct {
			StartNs, EndNs int64
			Lane           string
		}
		Layers []struct{ Name, Decision string }
	}
	if err := json.Unmarshal(files["json"], &file); err != nil {
		t.Fatalf("the JSON cannot be read: %v", err)
	}
	if file.StepNs == 0 || file.ComputeNs+file.RecomputeNs+file.WaitingNs != file.StepNs || !file.Verified {
		t.Errorf("the JSON says step %d = compute %d + recompute %d + waiting %d, verified %t; want a sum that is right",
			file.StepNs, file.ComputeNs, file.RecomputeNs, file.WaitingNs, file.Verified)
	}
	if len(file.Operations) < 50 || len(file.Layers) < 10 {
		t.Errorf("the JSON has %d operations and %d layers; want those of GPT-2", len(file.Operations),
			len(file.Layers))
	}
	if svg := string(files["svg"]); !strings.HasPrefix(svg, "<svg") ||
		!strings.Contains(svg, "<title id=\"mt-t\">Swap &amp; wait. ") {
		t.Errorf("the SVG begins with %.200s", svg)
	}
}

// TestLinkInQuery checks that a link whose # was changed to ? opens, and that the page then corrects the address.
func TestLinkInQuery(t *testing.T) {
	t.Parallel()
	p := Open(t, "?p=vgg16-b32&m=90%25&s=greedy&utm_source=chat")
	shown(p)
	p.Wait(`document.title.startsWith("VGG-16")`)
	Eval[bool](p, `document.querySelector("#stage").focus(), true`)
	keyDown(p, "[", "BracketLeft")
	p.Wait(`location.search === "" && location.hash` + unsealed + `.startsWith("#v=1&p=vgg16-b32&m=")`)
	p.Quiet()
}

// TestSelectionInLink opens a link that selects a layer, and checks that a new selection is written into the
// address.
func TestSelectionInLink(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=gpt2-medium-b4&m=70%25&s=greedy&sel=layer@3")
	shown(p)
	p.Wait(`document.querySelector("[data-testid=selection]").textContent.includes("block 2 of 24")`)
	Eval[bool](p, `document.querySelector("#stage").focus(), true`)
	keyDown(p, "ArrowRight", "ArrowRight")
	p.Wait(`location.hash.includes("sel=layer@4")`)
}

// TestShowInLink checks that a link can leave out parts of the page and order the others.
func TestShowInLink(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=vgg16-b32&m=3500MiB&show=mem,strip")
	shown(p)
	order := Eval[string](p,
		`["layers", "timeline", "memory", "tradeoff"].map((n) => Math.round(document.querySelector("[data-testid=" + n + "]").getBoundingClientRect().top)).join()`)
	var strip, timeline, memory, curve int
	if _, err := fmt.Sscanf(order, "%d,%d,%d,%d", &strip, &timeline, &memory, &curve); err != nil {
		t.Fatal(err)
	}
	if timeline != 0 || curve != 0 || memory <= 0 || strip <= memory {
		t.Errorf("tops of layers, timeline, memory, curve: %s; want memory above layers and the others not there",
			order)
	}
}

// TestShowBetweenPictures checks links that put the curve, the table and the addresses between pictures, in a
// wide page, on a phone and in a view.
func TestShowBetweenPictures(t *testing.T) {
	long(t)
	t.Parallel()
	p := New(t)
	for _, c := range []struct {
		name, address string
		width         int64
		want          string
	}{
		{"wide", "#v=1&p=vgg16-b32&m=3500MiB&show=time,curve,mem", 1400, "timeline tradeoff memory"},
		{"telephone", "#v=1&p=vgg16-b32&m=3500MiB&show=memory,table,curve,layers,addresses", 390,
			"memory table tradeoff layers addresses"},
		{"compare", "#v=1&p=vgg16-b32&m=90%25&show=mem,curve,time&b.s=greedy", 1200,
			"memory tradeoff timeline timeline-b"},
		{"view", "#embed=1&controls=budget&v=1&p=vgg16-b32&show=strip,curve,mem", 720, "budget layers tradeoff memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			p.Viewport(c.width, 900)
			p.Fresh(c.address)
			shown(p)
			p.Wait(`document.querySelectorAll(".stage > .host:not([hidden]) canvas").length > 0`)
			const seen = `(() => {
				const wanted = ["budget", "layers", "layers-b", "timeline", "timeline-b", "memory", "memory-b", "tradeoff", "addresses"].map((n) => [n, document.querySelector("[data-testid=" + n + "]")]);
				wanted.push(["table", document.querySelector("#table")]);
				return wanted.map(([n, e]) => [n, e.getBoundingClientRect()]).filter(([n, r]) => r.height > 0)
			})()`
			p.Wait(seen + `.length >= ` + fmt.Sprint(len(strings.Fields(c.want))))
			order := `.filter(([n]) => n !== "budget" || document.documentElement.dataset.embed).sort((a, b) => a[1].top - b[1].top)`
			if got := Eval[string](p, seen+order+`.map(([n]) => n).join(" ")`); got != c.want {
				t.Errorf("from above: %s; want %s", got, c.want)
			}
			if got := Eval[bool](p, seen+order+`.every(([n, r], i, all) => i === 0 || r.top >= all[i-1][1].bottom - 1)`); !got {
				t.Error("parts of the page overlap")
			}
			if got := Eval[bool](p, seen+order+`.filter(([n]) => n !== "budget" && n !== "table").every(([n, r]) => r.width > innerWidth / 2)`); !got {
				t.Error("a part is less than half as wide as the page")
			}
			if got := Eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); got > 0 {
				t.Errorf("the page is %.0f px wider than the window", got)
			}
			p.Quiet()
		})
	}
}

// TestSend checks the button that hands the link to the device's share dialog. The button exists only if the
// browser offers that dialog, passes the title and the link, and gives no message to a person who cancels.
func TestSend(t *testing.T) {
	long(t)
	t.Parallel()
	p := New(t)
	p.Before(`Object.defineProperty(Navigator.prototype, "share", {value: undefined, configurable: true})`)
	p.Navigate("#v=1&p=vgg16-b32&m=90%25&s=greedy")
	shown(p)
	openShare(p)
	if Eval[bool](p, `!!document.querySelector("[data-testid=share-send]")`) {
		t.Error("there is a button to pass the link on, although the browser cannot")
	}
	p = New(t)
	p.Before(`Object.defineProperty(navigator, "share", {value: (what) => { given = what; return answer() }})`)
	p.Navigate("#v=1&p=vgg16-b32&m=90%25&s=greedy&title=Mine")
	shown(p)
	openShare(p)
	for _, c := range []struct{ result, note string }{
		{`Promise.reject(new DOMException("no", "AbortError"))`, ""},
		{`Promise.resolve()`, "Shared."},
		{`Promise.reject(new DOMException("no", "NotAllowedError"))`,
			"This device cannot share the link. Copy it instead."},
	} {
		Eval[bool](p, `globalThis.given = null, globalThis.answer = () => `+c.result+`, true`)
		p.Click(`[data-testid="share-send"]`)
		p.Wait(`globalThis.given`)
		if got := Eval[bool](p, `given.title === "Mine – memtide" && given.url`+unsealed+` === location.href`+unsealed); !got {
			t.Errorf("handed over: %s", Eval[string](p, `JSON.stringify(given)`))
		}
		p.Drawn()
		if got := p.Text(`[data-testid="share-note"]`); got != c.note {
			t.Errorf("%s: the note is %q; want %q", c.result, got, c.note)
		}
	}
}
