//go:build !js

package browsertest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// documents returns the addresses of all pages of the documentation, as its navigation lists them.
func documents(t *testing.T, p *Page) []string {
	t.Helper()
	p.Navigate("docs/")
	pages := Eval[[]string](p,
		`[...new Set([...document.querySelectorAll("header nav a")].map((e) => "docs/" + e.getAttribute("href").replace("./", "")))]`)
	if len(pages) < 14 {
		t.Fatalf("the documentation lists %d pages (%q); want at least 14", len(pages), pages)
	}
	return pages
}

// enter presses Enter as a keyboard does, with the character that makes the browser follow links and press
// buttons.
func enter(p *Page) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: kind, Code: "Enter", Key: "Enter", Text: "\r", WindowsVirtualKeyCode: 13})
		p.do(err)
	}
}

// TestAccessibleDocuments checks that every page of the documentation keeps axe-core's rules, in dark those about
// colours and on a phone those about sizes.
func TestAccessibleDocuments(t *testing.T) {
	long(t)
	t.Parallel()
	source := axe(t)
	p := New(t)
	p.Viewport(1280, 900)
	for _, address := range documents(t, p) {
		p.Navigate(address)
		p.Wait(`document.readyState === "complete"`)
		for _, c := range []struct {
			name  string
			width int64
			dark  bool
			rules []string // all if there are none
		}{{"light", 1280, false, nil}, {"dark", 1280, true, []string{"color-contrast", "link-in-text-block"}},
			{"phone", 390, false, []string{"target-size", "scrollable-region-focusable"}}} {
			t.Run(address+" "+c.name, func(t *testing.T) {
				p.For(t)
				p.Viewport(c.width, 900)
				p.Dark(c.dark)
				p.frames()
				for _, v := range violations(p, source, c.rules...) {
					t.Errorf("%s breaks the rule %s (%s): %s\n  %s", address, v.ID, v.Impact, v.Help,
						strings.Join(v.where(), "\n  "))
				}
			})
		}
	}
}

// TestDocsNavigation checks that on a phone the list of pages is folded and opens by keyboard, and that in a wide
// window it is always visible beside the text.
func TestDocsNavigation(t *testing.T) {
	t.Parallel()
	p := New(t)
	const shown = `[...document.querySelectorAll("header nav a")].filter((e) => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0).length`
	p.Viewport(390, 800)
	p.Navigate("docs/paper-000.html")
	if n := Eval[int](p, shown); n != 0 {
		t.Errorf("on a phone %d links of the list are shown; want none until it is opened", n)
	}
	if top := Eval[float64](p, `document.querySelector("h1").getBoundingClientRect().top`); top > 120 {
		t.Errorf("on a phone the title stands %.0f px from the top; want at most 120", top)
	}
	Eval[bool](p, `document.querySelector("summary").focus(), true`)
	enter(p)
	if n := Eval[int](p, shown); n < 14 {
		t.Errorf("after Enter on %q %d links of the list are shown; want all",
			Eval[string](p, `document.activeElement.textContent`), n)
	}
	p.Viewport(1280, 800)
	p.Navigate("docs/paper-000.html")
	if n := Eval[int](p, shown); n < 14 {
		t.Errorf("beside the text %d links of the list are shown; want all", n)
	}
	Eval[bool](p, `document.querySelector(".skip").focus(), true`)
	stroke(p, "Tab", "Tab", 0)
	stroke(p, "Tab", "Tab", 0)
	if got := Eval[string](p, `document.activeElement.textContent`); got != "What memtide shows" {
		t.Errorf("after the skip link and the brand Tab comes to %q; want the first page of the list", got)
	}
}

var filling = regexp.MustCompile(`([\d.]+) ([\d.]+) ([\d.]+) rg`)

// fillings returns the fill colours of a PDF as #rrggbb.
func fillings(pdf []byte) map[string]bool {
	out := map[string]bool{}
	for _, part := range bytes.Split(pdf, []byte("stream\n"))[1:] {
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue // not compressed, so not a page
		}
		text, _ := io.ReadAll(r) // some streams are fonts and give errors, which do not matter
		for _, m := range filling.FindAllStringSubmatch(string(text), -1) {
			colour := "#"
			for _, x := range m[1:] {
				share, _ := strconv.ParseFloat(x, 64)
				colour += fmt.Sprintf("%02x", int(share*255+0.5))
			}
			out[colour] = true
		}
	}
	return out
}

// TestPrintOfDarkDocument checks that a document is printed black on white, pictures included, even if the system
// is dark, and that buttons and the list of pages are not printed.
func TestPrintOfDarkDocument(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Viewport(800, 900)
	p.Dark(true)
	p.Navigate("docs/")
	grey := `(() => { const c = document.createElement("canvas").getContext("2d"); const of = (s) => { c.fillStyle = s; c.fillRect(0, 0, 1, 1); const d = c.getImageData(0, 0, 1, 1).data; return Math.round((d[0] + d[1] + d[2]) / 3); };
		const b = getComputedStyle(document.body); return [of(b.backgroundColor), of(b.color)]; })()`
	if c := Eval[[]int](p, grey); c[0] > 60 || c[1] < 190 {
		t.Fatalf("on the screen the page is %d and its text %d; the test needs a dark page", c[0], c[1])
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	p.do(err)
	if c := Eval[[]int](p, grey); c[0] < 240 || c[1] > 60 {
		t.Errorf("on paper the page is %d and its text %d; want black on white", c[0], c[1])
	}
	if n := Eval[int](p, `document.querySelector("header").offsetHeight + [...document.querySelectorAll(".live")].reduce((n, e) => n + e.offsetHeight, 0)`); n != 0 {
		t.Errorf("on paper %d px are buttons and the list of pages; want none", n)
	}
	pdf, err := chromedp.Call(p.ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true)})
	p.do(err)
	// #035a9a and #5472d2 are the colours of the forward pass in the light and dark themes of package draw.
	if colours := fillings(pdf.Data); !colours["#035a9a"] || colours["#5472d2"] {
		t.Errorf("on paper the pictures are painted with %v; want #035a9a, which is light, and no #5472d2, which is dark", slices.Sorted(maps.Keys(colours)))
	}
}

// TestDocsPicture checks that the picture of a document reserves its height before it has loaded, is the one made
// for the width of the window, and is replaced by the live view after a click on its button or Enter on its link.
func TestDocsPicture(t *testing.T) {
	t.Parallel()
	long(t)
	for _, c := range []struct {
		width int64
		file  string
		text  float64 // least height of its letters in pixels
	}{{1280, "view1.svg", 11}, {390, "view1-small.svg", 10.5}} {
		p := New(t)
		p.Viewport(c.width, 900)
		p.Navigate("docs/")
		p.Wait(`document.querySelector("memtide-view img").complete`)
		got := Eval[struct {
			Src                       string
			Width, Natural, Is, Ought float64
		}](p, `(() => { const i = document.querySelector("memtide-view img"), b = i.getBoundingClientRect(), s = [...i.parentElement.querySelectorAll("source")].find((s) => matchMedia(s.media).matches) ?? i;
			return {src: i.currentSrc.split("/").pop(), width: b.width, natural: i.naturalWidth, is: b.height, ought: b.width * s.getAttribute("height") / s.getAttribute("width")}; })()`)
		if got.Src != c.file {
			t.Errorf("at %d px the picture is %s, want %s", c.width, got.Src, c.file)
		}
		if size := 12 * got.Width / got.Natural; size < c.text {
			t.Errorf("at %d px letters of the picture are %.1f px high, want %.1f", c.width, size, c.text)
		}
		if got.Is < got.Ought-1 || got.Is > got.Ought+1 {
			t.Errorf("at %d px the picture is %.0f px high, and its attributes say %.0f", c.width, got.Is, got.Ought)
		}
	}
	for _, how := range []string{"click", "Enter"} {
		t.Run(how, func(t *testing.T) {
			p := New(t)
			p.Viewport(1000, 900)
			p.Navigate("docs/")
			p.Wait(`customElements.get("memtide-view")`)
			if how == "click" {
				p.Click("memtide-view .live")
			} else {
				Eval[bool](p, `document.querySelector("memtide-view a").focus(), true`)
				enter(p)
			}
			p.Wait(`location.pathname.endsWith("/docs/") && document.querySelector("memtide-view iframe")`)
			p.Wait(`getComputedStyle(document.querySelector("memtide-view iframe")).visibility === "visible"`)
		})
	}
}

// TestDocsDownloads checks that the program that the documentation offers for download exists.
func TestDocsDownloads(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Navigate("docs/collect.html")
	text := Eval[string](p, `fetch(document.querySelector('main a[href$=".py"]').href).then((r) => r.ok ? r.text() : "status " + r.status)`)
	if want := "torch"; !strings.Contains(text, want) {
		t.Errorf("collect.py of the site: %s; want the program", fmt.Sprintf("%.80q", text))
	}
}
