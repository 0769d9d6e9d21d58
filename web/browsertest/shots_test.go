//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// hover points at the memory picture, right of its middle.
const hover = `(() => {
	const e = document.querySelector('[data-testid="memory"] .paint'), b = e.getBoundingClientRect();
	e.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: b.left + b.width * 0.6, clientY: b.top + b.height * 0.75}));
})()`

// TestShots writes pictures of the page to the directory named by MEMTIDE_SHOTS.
func TestShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	for _, c := range []struct {
		name          string
		address       string
		width, height int64
		dark          bool
		script        string
	}{
		{"light", "", 1440, 1000, false, ""},
		{"dark", "", 1440, 1000, true, ""},
		{"offload", "#v=1&p=vgg16-b64&s=greedy&m=80%25", 1440, 1000, false, hover},
		{"small", "#v=1&p=resnet101-b32&m=100MiB", 1280, 900, false, ""},
		{"table", "#v=1&p=resnet101-b32&s=greedy&m=70%25&t=150-260", 1280, 1100, true,
			`document.querySelector('[data-do="table"]').click()`},
		{"help", "", 1280, 900, false, `document.querySelector('[data-do="help"]').click()`},
		{"gpt", "#v=1&p=gpt2-medium-b8&m=60%25", 1440, 1000, false, hover},
		{"mobile", "", 390, 1900, false, ""},
		{"mobiledark", "#v=1&p=resnet101-b32&s=greedy&m=70%25", 390, 844, true, ""},
		{"forced", "#v=1&p=resnet101-b32&s=greedy&m=70%25", 1280, 900, false, ""},
		{"order", "#v=1&p=vgg16-b64&m=80%25&show=time,curve,mem,addr&at=120", 1200, 1900, false, ""},
		{"ordermobile", "#v=1&p=vgg16-b64&m=80%25&show=mem,table,curve,strip", 390, 2400, false, ""},
		{"algorithms", "#v=1&p=vgg16-mp-b64&m=90%25&s=vdnnpp", 1280, 900, true, ""},
		{"functions", "#v=1&p=resnet50-graph-separate-b32&m=80%25&s=window", 390, 900, false, ""},
		{"misfit", "#v=1&p=resnet101-b32&m=60%25&alloc=best-fit", 1440, 1500, false, ""},
		{"misfitdark", "#v=1&p=resnet101-b32&m=60%25&alloc=best-fit", 1100, 1500, true, ""},
		{"misfitmobile", "#v=1&p=resnet101-b32&m=60%25&alloc=best-fit", 390, 2400, false, ""},
		{"tablet", "", 820, 1180, false, ""},
		{"picker", "", 1440, 1000, false, `document.querySelector('[data-do="picker"]').click()`},
		{"pickerdark", "#v=1&p=vgg16-500px-f16-on-a100-sxm-40gb-b64&m=60%25", 1280, 900, true,
			`document.querySelector('[data-do="picker"]').click()`},
		{"pickermobile", "", 390, 844, false, `document.querySelector('[data-do="picker"]').click()`},
		{"share", "#v=1&p=gpt2-medium-b4&m=70%25&s=greedy", 1440, 1000, false,
			`document.querySelector('[data-do="share"]').click()`},
		{"sharedark", "#v=1&p=resnet101-b32&m=60%25", 1280, 900, true,
			`document.querySelector('[data-do="share"]').click()`},
		{"sharemobile", "", 390, 844, false, `document.querySelector('[data-do="share"]').click()`},
		{"embed", "#embed=1&controls=budget&v=1&p=gpt2-medium-b4&m=70%25&s=greedy&title=Greedy", 720, 620, false, ""},
		{"embedcurve", "#embed=1&v=1&p=vgg16-b64&m=70%25&show=curve,time", 720, 620, true, ""},
		{"embedmobile", "#embed=1&controls=budget&v=1&p=vgg16-b64&m=70%25", 390, 700, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(t)
			p.Viewport(c.width, c.height)
			p.Dark(c.dark)
			if c.name == "forced" {
				_, err := chromedp.Call(p.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
				if err != nil {
					t.Fatal(err)
				}
			}
			p.Navigate(c.address)
			p.Wait(`document.querySelector(".paint canvas") `)
			p.rest(8 * time.Second) // for the curve
			Eval[bool](p, c.script+"; true")
			p.rest(700 * time.Millisecond)
			if err := os.WriteFile(filepath.Join(dir, c.name+".png"), p.Shot(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log(p.Console())
		})
	}
}
