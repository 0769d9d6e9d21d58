//go:build !js

package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestMeasureSlowStart measures how long the page takes until its first picture and until it can be used, on the
// first visit and on later ones, and how many bytes it loads. The network has 10 Mbit/s, and the page's own
// thread runs at a quarter of its speed; the threads of workers are not slowed. The site has to have compressed
// files, as `make release` builds it. Every visit starts from another page, because a browser that reloads a page
// still has the program in memory.
func TestMeasureSlowStart(t *testing.T) {
	measuring(t)
	p := New(t)
	p.SlowNetwork(1.25e6, 20*time.Millisecond)
	p.SlowCPU(4)
	p.Before(fmt.Sprintf(`new MutationObserver((_, o) => {
		if (document.body && %s) { performance.mark("usable"); o.disconnect(); }
	}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"]});`, untilReady))
	for _, visit := range []string{"cold", "warm", "warm", "warm", "warm"} {
		p.do(chromedp.Do(p.ctx, chromedp.Navigate("about:blank")))
		p.rest(700 * time.Millisecond)
		p.Received()
		p.Navigate("?" + visit)
		p.Wait(untilReady)
		t.Logf("%s: first picture %.0f ms, usable %.0f ms (%s)", visit,
			Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`),
			Eval[float64](p, `performance.getEntriesByName("usable")[0]?.startTime ?? 0`),
			Eval[string](p, `performance.getEntriesByType("mark").filter(e => e.name.startsWith("memtide:")).map(e => e.name.slice(8) + " " + Math.round(e.startTime)).join(", ")`))
		p.Wait(`window.echarts !== undefined`)
		t.Logf("%s: %d bytes until the charts are there", visit, p.Received())
		Eval[bool](p, `navigator.serviceWorker.ready.then(() => { window.kept = true }), true`)
		p.Wait(`window.kept`)
		p.rest(3 * time.Second) // until the compiled code is cached for the next visit, too
	}
}
