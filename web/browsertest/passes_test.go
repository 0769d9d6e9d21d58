//go:build !js

package browsertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pipelined is a training step on a pipeline whose first rank waits for a backward pass of the next one.
const pipelined = "#v=1&step=llama3.2-1b&step.gpus=4&step.pp=4&step.accumulate=8&step.ckpt=full&step.seq=2048&step.schedule=1f1b"

// TestPipelineWaits checks that a click on idle time of a rank says why the rank waits, that the button and the
// keyboard lead to the cause, that a key zooms in, that "Compare" shows another order below, which selects nothing, and
// that another step starts without any of this.
func TestPipelineWaits(t *testing.T) {
	t.Parallel()
	p := Open(t, pipelined)
	Eval[bool](p, hands)
	p.Wait(`document.querySelector("#passes canvas")?.width > 0 && !document.querySelector('[data-do="passes-svg"]').disabled`)
	at := Eval[[]float64](p, `(() => {
		const host = document.querySelector('[data-testid="passes"]');
		host.scrollIntoView({block: "center"});
		const r = host.getBoundingClientRect();
		return [r.left, r.top, r.width];
	})()`)
	left, width := at[0]+84, at[2]-94
	p.act("a click on idle time", chromedp.MouseClickXY(left+width*0.17, at[1]+38+8))
	p.Wait(`byID("pass-why").textContent.startsWith("Rank 0 waits")`)
	if got := p.Text(`[data-testid="pass-why"]`); !strings.Contains(got, "for the backward of micro batch") ||
		!strings.Contains(got, "on rank 1") {
		t.Errorf("rank 0 says %q; want that it waits for a backward on rank 1", got)
	}
	p.Click(`[data-do="pass-follow"]`)
	p.Wait(`byID("pass-why").textContent.startsWith("Rank 1 waits")`)
	Eval[bool](p, `document.getElementById("passes").focus(); true`)
	p.act("a key", chromedp.KeyEvent("\r"))
	p.Wait(`byID("pass-why").textContent.startsWith("Rank 2 waits")`)
	p.act("another key", chromedp.KeyEvent("+"))
	p.Wait(`!document.querySelector('[data-do="pass-whole"]').disabled`)
	p.Click(`[data-do="pass-whole"]`)
	p.Wait(`document.querySelector('[data-do="pass-whole"]').disabled`)
	p.Click(`[data-testid="compare"]`)
	p.Wait(`byID("beside-say").textContent.startsWith("B, ") && byID("passes-b").querySelector("canvas").width > 0 && /[#&]beside=/.test(location.hash)`)
	why := p.Text(`[data-testid="pass-why"]`)
	p.Click(`[data-testid="passes-b"]`)
	p.Click(`[data-testid="compare"]`)
	p.Wait(`!byID("passes-b") && !/[#&]beside=/.test(location.hash)`)
	if got := p.Text(`[data-testid="pass-why"]`); got != why {
		t.Errorf("a click on the order beside says %q; want no other selection than %q", got, why)
	}
	Eval[bool](p, `control("option-accumulate", "16"); true`)
	p.Wait(`byID("pass-why").textContent.startsWith("A click on idle time")`)
	p.Quiet()
}

// TestPipelineEmbedded checks that an embedded view shows the ranks of a pipeline and why one of them waits, and
// has no controls except the picture.
func TestPipelineEmbedded(t *testing.T) {
	t.Parallel()
	p := Open(t, strings.Replace(pipelined, "#v=1&", "#v=1&embed=1&", 1))
	p.Wait(`document.querySelector("#passes canvas")?.width > 0 && document.querySelector('[data-testid="passes"]').clientHeight > 200`)
	shown := Eval[string](p,
		`[...document.querySelectorAll(".whole > *, .lead > *, .side > *, .passes-why > *")].filter((e) => e.checkVisibility()).map((e) => e.className || e.id || e.dataset.testid).join(" ")`)
	if want := "duo look passes panel passes-why why-title pass-why"; shown != want {
		t.Errorf("the view shows %q; want %q", shown, want)
	}
	p.Quiet()
}

// TestPipelineChart checks that a click on the circle of a policy in the chart of a pipeline opens the step with it, and
// that the chart is the only thing that is shown of the page's plans. The bars of what would help have one scale.
func TestPipelineChart(t *testing.T) {
	t.Parallel()
	p := Open(t, pipelined)
	const chart = `echarts.getInstanceByDom(byID("tradeoff").querySelector(".chart"))`
	Eval[bool](p, hands)
	// A loaded machine may end the answer to a link at its limit; then a button goes on without one.
	p.Wait(`document.querySelector('.ended:not([hidden]) [data-do="step-on"]')?.click() || byID("tradeoff").checkVisibility() && ` + chart +
		`?.getOption()?.series?.some((s) => s.name === "policies" && s.data.some((d) => d.symbol === "circle"))`)
	if shown := Eval[string](p, `[...document.querySelectorAll(".main > *, .weigh > *")].filter((e) => e.checkVisibility()).map((e) => e.className).join()`); shown != "duo weigh,panel tradeoff" {
		t.Errorf("of the plans the page shows %q; want the chart alone", shown)
	}
	marks := Eval[[]int](p, `[...document.querySelectorAll(".turns .bar-mark")].map((e) => Math.round(e.getBoundingClientRect().x))`)
	if slices.Sort(marks); len(marks) < 3 || marks[len(marks)-1]-marks[0] > 1 {
		t.Errorf("the card's mark in the rows of what would help is at %v; want one place", marks)
	}
	chartSeen(p)
	at := Eval[[]float64](p, `(() => {
		const b = byID("tradeoff").querySelector(".chart").getBoundingClientRect(), chart = `+chart+`;
		const i = chart.getOption().series.findIndex((s) => s.name === "policies");
		const data = chart.getOption().series[i].data.filter((d) => d.symbol === "circle");
		const [x, y] = chart.convertToPixel({seriesIndex: i}, data[0].value);
		return [b.left + x, b.top + y];
	})()`)
	p.act("a click on a circle", chromedp.MouseClickXY(at[0], at[1]))
	p.Wait(`!location.hash.includes("step.ckpt=full&") && location.hash.includes("step.pp=4")`)
	p.Quiet()
}
