//go:build !js

package engines

import (
	"fmt"
	"strings"
)

const (
	ready = `document.body?.dataset.state === "ready" && document.querySelector(".paint canvas")`
	// small shows no line of the curve except that of its strategy, to save work.
	small = "#v=1&p=vgg16-b32&m=90%25&s=greedy&c=none"
)

// settled opens an address and waits for its schedule.
func settled(p *Page, address string) {
	p.t.Helper()
	p.Go(address)
	p.Wait(ready)
}

// text returns an expression for the text of the element with the given data-testid.
func text(id string) string {
	return fmt.Sprintf(`document.querySelector('[data-testid=%q]').textContent`, id)
}

// checked is the verdict on a schedule that was checked successfully.
const checked = "checked"

// loading opens the page without a link and checks that it solves, draws its pictures and computes the curve
// without errors or warnings.
func loading(p *Page) {
	settled(p, "")
	if got := p.Text("verdict"); got != checked {
		p.t.Errorf("the verdict is %q; want %q", got, checked)
	}
	p.Wait(`!document.querySelector(".poster")`) // live pictures have replaced the prepared ones
	for _, id := range []string{"layers", "timeline", "memory"} {
		colours := Get[int](p, fmt.Sprintf(`(() => {
			const c = document.querySelector('[data-testid=%q] canvas');
			const all = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
			return new Set(all).size;
		})()`, id))
		if colours < 5 {
			p.t.Errorf("the picture %s has %d colours; want one that is painted", id, colours)
		}
	}
	if wide := Get[string](p, `[...document.querySelectorAll(".case select")].filter((e) => e.selectedOptions[0] && e.offsetWidth > 11 * e.selectedOptions[0].text.length + 30).map((e) => e.dataset.testid + " " + e.offsetWidth).join(", ")`); wide != "" {
		p.t.Errorf("lists of the sentence are wider than what is chosen in them: %s", wide)
	}
	p.Wait(`echarts.getInstanceByDom(document.querySelector('[data-testid="tradeoff"] .chart'))?.getOption()?.series?.some((s) => s.data?.length > 5)`)
	p.Quiet()
	p.Do(`console.error("a complaint")`) // checks that messages are recorded; otherwise Quiet would prove nothing
	p.must(until(p.ctx, func() error {
		if all, err := p.Complaints(p.ctx); len(all) != 1 || !strings.Contains(all[0], "a complaint") {
			return fmt.Errorf("of the console was heard: %q (%v)", all, err)
		}
		return nil
	}))
}

// dragging moves the slider of the budget with the mouse and checks that the schedule and the address follow.
func dragging(p *Page) {
	settled(p, small)
	before, peak := Get[string](p, "location.hash"), p.Text("peak")
	at := func(share float64) Point { return p.At("#budget", share, 0.5) }
	now := Get[float64](p, `document.querySelector("#budget").value / document.querySelector("#budget").max`)
	p.must(p.Drag(p.ctx, at(now), at(now-0.05), at(now-0.1), at(now-0.15), at(now-0.2)))
	p.Wait(fmt.Sprintf(`%s && location.hash !== %q && %s.replace(/\s+/g, " ").trim() !== %q`, ready, before,
		text("peak"), peak))
	p.Wait(`/[&]m=[0-9.]+[KMG]iB/.test(location.hash)`)
	got := Get[float64](p, `document.querySelector("#budget").value / document.querySelector("#budget").max`)
	if got > now-0.1 || got < now-0.3 {
		p.t.Errorf("the slider was dragged from %.2f by 0.2 to the left and is at %.2f", now, got)
	}
	p.Quiet()
}

// zooming uses the wheel, the mouse and keys on the timeline.
func zooming(p *Page) {
	settled(p, small)
	visible := `((m) => m ? [Number(m[1]), Number(m[2])] : [0, 0])(location.hash.match(/[&]t=([0-9.]+)-([0-9.]+)/))`
	const timeline = `[data-testid="timeline"]`
	at := func(share float64) Point { return p.At(timeline, share, 0.85) }

	p.must(p.Drag(p.ctx, at(0.4), at(0.5), at(0.6))) // marks a fifth of the width
	p.Wait(visible + `[1] > 0`)
	marked := Get[[2]float64](p, visible)
	length := func(of [2]float64) float64 { return of[1] - of[0] }

	p.must(p.Wheel(p.ctx, at(0.5), -120, true))
	p.Wait(fmt.Sprintf(`((v) => v[1] - v[0] < %g)(%s)`, length(marked)*0.95, visible))
	wheeled := Get[[2]float64](p, visible)
	if !(wheeled[0] > marked[0] && wheeled[1] < marked[1]) {
		p.t.Errorf("the wheel over the middle made of %v ms %v ms; want a part of it", marked, wheeled)
	}
	if got := length(wheeled) / length(marked); got < 0.5 {
		p.t.Errorf("one click of the wheel left %.2f of what was visible; want more than half", got)
	}
	p.must(p.Key(p.ctx, 's', false)) // out
	p.Wait(fmt.Sprintf(`((v) => v[1] - v[0] > %g)(%s)`, length(wheeled)*1.2, visible))
	out := Get[[2]float64](p, visible)
	p.must(p.Key(p.ctx, 'd', false)) // to the right
	p.Wait(fmt.Sprintf(`%s[0] > %g`, visible, out[0]))
	p.must(p.Key(p.ctx, '0', false)) // all
	p.Wait(visible + `[1] === 0`)

	// A bare wheel scrolls the page and zooms nothing.
	p.must(p.Resize(p.ctx, 1400, 500))
	p.Do(`scrollTo({top: 0, behavior: "instant"})`)
	p.must(p.Wheel(p.ctx, Point{700, 300}, 120, false))
	p.Wait(`scrollY > 0`)
	if got := Get[[2]float64](p, visible); got != [2]float64{} {
		p.t.Errorf("after the bare wheel %v ms are visible; want all", got)
	}
	p.Quiet()
}
