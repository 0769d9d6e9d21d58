//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// brightness defines a function that returns the brightness of the page's background and text, and for each of
// three pictures the brightness of its twelve most frequent opaque colours.
const brightness = `globalThis.brightness = () => {
	const grey = (r, g, b) => Math.round((r * 3 + g * 6 + b) / 10);
	const of = (css) => { const c = document.createElement("canvas").getContext("2d"); c.fillStyle = css; c.fillRect(0, 0, 1, 1); return grey(...c.getImageData(0, 0, 1, 1).data); };
	const ink = (e) => { // the brightest and the darkest that is drawn: words and lines
		const d = e.getContext("2d").getImageData(0, 0, e.width, e.height).data, seen = new Map();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 250) { const k = grey(d[i], d[i + 1], d[i + 2]); seen.set(k, (seen.get(k) || 0) + 1); }
		return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12).map((x) => x[0]).sort((a, b) => a - b).join(" ");
	};
	return {
		page: of(getComputedStyle(document.body).backgroundColor), text: of(getComputedStyle(document.body).color),
		timeline: ink(byID("timeline").querySelector("canvas.base")), memory: ink(byID("memory").querySelector("canvas.base")),
		curve: ink(document.querySelector('[data-testid="tradeoff"] canvas')),
	};
}; true`

// TestPrintOfDarkPage checks that a dark page is printed in light colours, its pictures included, and is dark
// again afterwards. The page is dark because the reader has chosen it, or because the system is dark.
func TestPrintOfDarkPage(t *testing.T) {
	t.Parallel()
	type look struct {
		Page, Text              int
		Timeline, Memory, Curve string
	}
	p := New(t)
	looks := func(theme string) look { // stops the curve wherever it is
		p.Fresh(offload + "&c=keepall" + theme)
		p.Wait(untilReady)
		Eval[bool](p, hands+";"+brightness)
		p.Wait(`document.querySelector('[data-testid="tradeoff"] canvas')`)
		Eval[bool](p, `document.querySelector('[data-do="stop-sweep"]').click(), true`)
		p.Done()
		return Eval[look](p, `brightness()`)
	}
	looks("&theme=light")
	want := Eval[look](p, `dispatchEvent(new Event("beforeprint")), brightness()`)
	for _, c := range []struct{ name, theme string }{{"chosen", "&theme=dark"}, {"of the system", ""}} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			p.Dark(c.theme == "")
			before := looks(c.theme)
			Eval[bool](p, `addEventListener("beforeprint", () => { globalThis.printed = brightness(); }), true`)
			pdf, err := chromedp.Call(p.ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true)})
			p.do(err)
			if dir := os.Getenv("MEMTIDE_SHOTS"); dir != "" {
				p.do(os.WriteFile(filepath.Join(dir, "print-"+c.name+".pdf"), pdf.Data, 0o644))
			}
			on := Eval[look](p, `printed`)
			if before.Page > 60 || before.Text < 190 {
				t.Fatalf("before printing the page is %d and its text %d; the test needs a dark page", before.Page,
					before.Text)
			}
			if on.Page < 240 || on.Text > 60 {
				t.Errorf("on paper the page is %d and its text %d; want black on white", on.Page, on.Text)
			}
			if on.Timeline == before.Timeline || on.Memory == before.Memory || on.Curve == before.Curve {
				t.Errorf("on paper the pictures have the colours of the dark page: %+v", on)
			}
			p.Wait(`getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)"`)
			p.Done()
			if after := Eval[look](p, `brightness()`); after != before {
				t.Errorf("after printing the page is %+v; want %+v as before", after, before)
			}
			if on.Timeline != want.Timeline || on.Memory != want.Memory {
				t.Errorf("on paper the pictures have the brightness %+v; want that of the light page on paper, %+v", on, want)
			}
		})
	}
}
