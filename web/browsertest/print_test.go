//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// brightness defines a function that returns the brightness of the page's background and text, and for each of
// three pictures the brightness of its twelve most frequent opaque colours. A picture for paper is of shapes.
const brightness = `globalThis.brightness = () => {
	const grey = (r, g, b) => Math.round((r * 3 + g * 6 + b) / 10);
	const of = (css) => { const c = document.createElement("canvas").getContext("2d"); c.fillStyle = css; c.fillRect(0, 0, 1, 1); return grey(...c.getImageData(0, 0, 1, 1).data); };
	const shapes = (svg) => [...new Set([...svg.querySelectorAll("path, text, rect")].map((e) => of(getComputedStyle(e).fill)))];
	const picture = (id) => byID(id).querySelector(".poster svg") ? shapes(byID(id).querySelector(".poster svg")).sort((a, b) => a - b).join(" ") : ink(byID(id).querySelector("canvas.base"));
	const ink = (e) => { // the brightest and the darkest that is drawn: words and lines
		const d = e.getContext("2d").getImageData(0, 0, e.width, e.height).data, seen = new Map();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 250) { const k = grey(d[i], d[i + 1], d[i + 2]); seen.set(k, (seen.get(k) || 0) + 1); }
		return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12).map((x) => x[0]).sort((a, b) => a - b).join(" ");
	};
	return {
		page: of(getComputedStyle(document.body).backgroundColor), text: of(getComputedStyle(document.body).color),
		timeline: picture("timeline"), memory: picture("memory"),
		curve: ink(document.querySelector('[data-testid="tradeoff"] canvas')),
	};
}; true`

// TestPrintOfDarkPage checks that a dark page is printed in light colours, its pictures included, and is dark
// again afterwards. The page is dark because the reader has chosen it, or because the system is dark.
func TestPrintOfDarkPage(t *testing.T) {
	t.Parallel()
	long(t)
	type look struct {
		Page, Text              int
		Timeline, Memory, Curve string
	}
	p := New(t)
	looks := func(theme string) look { // stops the curve wherever it is
		p.Fresh(offload + theme)
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
			if c.theme == "" {
				long(t)
			}
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

// TestPrintedPictures checks that every picture is printed as shapes with words, and the curve as it is drawn: each
// fills the sheet's width and is scaled alike in both directions, so that its words are not squeezed. What is painted
// on the canvases is not printed. Afterwards the canvases are back, with the curve as large as its place.
func TestPrintedPictures(t *testing.T) {
	t.Parallel()
	long(t)
	const printed = `(() => {
		const place = document.querySelector(".app"), wide = place.clientWidth - parseFloat(getComputedStyle(place).paddingLeft) - parseFloat(getComputedStyle(place).paddingRight);
		const bad = [], pictures = [...document.querySelectorAll(".host")].filter((e) => e.checkVisibility());
		for (const host of pictures) {
			const curve = host.matches(".curve"), e = host.querySelector(curve ? "canvas" : ".poster svg"), name = host.dataset.testid;
			if (!e) { if (!curve || PICTURES > 1) bad.push(name + " has no picture"); continue; }
			const r = e.getBoundingClientRect(), [w, h] = curve ? [e.width, e.height] : [e.viewBox.baseVal.width, e.viewBox.baseVal.height];
			if (Math.abs(r.width * h / (r.height * w) - 1) > 0.02) bad.push(name + " of " + w + " x " + h + " is printed as " + r.width + " x " + r.height);
			if (r.width < 0.9 * wide || r.bottom > host.getBoundingClientRect().bottom + 1) bad.push(name + " does not fit " + wide + ": " + JSON.stringify([r, host.getBoundingClientRect()]));
			if (!curve && e.querySelectorAll("text").length < 3) bad.push(name + " has " + e.querySelectorAll("text").length + " words");
			if (!curve && [...host.querySelectorAll("canvas")].some((c) => c.checkVisibility())) bad.push(name + " is printed twice");
		}
		return pictures.length < PICTURES ? bad.concat("pictures: " + pictures.map((e) => e.dataset.testid)) : bad;
	})()`
	p := New(t)
	for _, c := range []struct {
		name, url, pictures string
	}{{"plan", offload, "4"}, {"ranks", pipelined, "1"}} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			p.Fresh(c.url)
			p.Wait(untilReady)
			Eval[bool](p, hands)
			p.Done()
			const sizes = `[...document.querySelectorAll(".host canvas")].filter((e) => e.checkVisibility()).map((e) => [e.width, e.height].join()).join(" ")`
			before := Eval[string](p, sizes)
			Eval[bool](p, `dispatchEvent(new Event("beforeprint")), true`)
			p.media("print")
			for _, bad := range Eval[[]string](p, strings.ReplaceAll(printed, "PICTURES", c.pictures)) {
				t.Error(bad)
			}
			p.media("")
			Eval[bool](p, `dispatchEvent(new Event("afterprint")), true`)
			p.Wait(`[...document.querySelectorAll(".poster")].every((e) => !e.checkVisibility())`)
			p.Done()
			if after := Eval[string](p, sizes); after != before {
				t.Errorf("after printing the canvases are %s; want %s", after, before)
			}
		})
	}
}
