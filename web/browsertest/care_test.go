//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// offload is the address of a schedule with waits, copies and recomputation, and a curve of its strategy alone.
const offload = "#v=1&p=resnet101-b32&s=greedy&m=70%25&c=greedy"

// openAll opens every section of the page that can be folded.
const openAll = `(async () => {
	const click = (e) => e && e.getAttribute("aria-expanded") !== "true" && e.click();
	for (const id of ["more", "layers-toggle", "lines-list", "places"]) click(byID(id));
	click(document.querySelector('.under [data-do="table"]'));
	document.querySelector('[data-do="compare"]').click();
	return true;
})()`

// openEverything opens all sections and waits until each has its content.
func openEverything(p *Page) {
	p.t.Helper()
	Eval[bool](p, openAll)
	p.Wait(untilReady + ` && byID("outcome")?.textContent && byID("delta-say").textContent.trim()`)
	p.Drawn()
}

// openedPage opens an address in a window of the given size and opens all sections of the page.
func openedPage(t *testing.T, address string, width, height int64) *Page {
	t.Helper()
	p := New(t)
	p.Viewport(width, height)
	p.Navigate(address)
	p.Wait(untilReady)
	Eval[bool](p, hands)
	openEverything(p)
	return p
}

// media emulates a medium and media features, given as pairs of name and value. The medium "" is the screen.
func (p *Page) media(medium string, features ...string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Media: medium}
	for i := 0; i < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params)
	p.do(err)
}

// touch makes the tab emulate a device whose only pointer is a touch screen.
func (p *Page) touch(width, height int64) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: true})
	p.do(err)
	_, err = chromedp.Call(p.ctx, emulation.SetTouchEmulationEnabled,
		emulation.SetTouchEmulationEnabledParams{Enabled: true})
	p.do(err)
}

// TestCareShots writes pictures of the whole page with every section open to the directory named by
// MEMTIDE_SHOTS, as it looks on different devices and to people with deficient colour vision.
func TestCareShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	vision := func(kind emulation.SetEmulatedVisionDeficiencyType) func(*Page) {
		return func(p *Page) {
			_, err := chromedp.Call(p.ctx, emulation.SetEmulatedVisionDeficiency,
				emulation.SetEmulatedVisionDeficiencyParams{Type: kind})
			p.do(err)
		}
	}
	for _, c := range []struct {
		name    string
		width   int64
		prepare func(p *Page)
	}{
		{"light", 1400, nil},
		{"dark", 1400, func(p *Page) { p.Dark(true) }},
		{"phone", 390, func(p *Page) { p.touch(390, 844) }},
		{"zoomed", 350, nil},
		{"tablet", 768, func(p *Page) { p.touch(768, 1024) }},
		{"forced", 1400, func(p *Page) { p.media("", "forced-colors", "active", "prefers-color-scheme", "dark") }},
		{"print", 1000, func(p *Page) { p.media("print") }},
		{"protan", 1400, vision(emulation.SetEmulatedVisionDeficiencyTypeProtanopia)},
		{"deutan", 1400, vision(emulation.SetEmulatedVisionDeficiencyTypeDeuteranopia)},
		{"tritan", 1400, vision(emulation.SetEmulatedVisionDeficiencyTypeTritanopia)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(t)
			p.Viewport(c.width, 900)
			if c.prepare != nil {
				c.prepare(p)
			}
			p.Navigate(offload)
			p.Wait(untilReady)
			Eval[bool](p, hands)
			openEverything(p)
			p.rest(4 * time.Second) // for the curve
			b, err := chromedp.Call(p.ctx, page.CaptureScreenshot,
				page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
			p.do(err)
			if err := os.WriteFile(filepath.Join(dir, "care-"+c.name+".png"), b.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log(p.Console())
		})
	}
}
