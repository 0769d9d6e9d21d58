//go:build !js

package engines

import (
	"path/filepath"
	"strconv"
	"strings"
)

// asking opens a training step on a pipeline, which the second program computes, applies a change with a click,
// and goes back.
func asking(p *Page) {
	p.Go("#v=1&step=llama3.2-1b&step.gpus=4&step.pp=4&step.accumulate=8&step.ckpt=full&step.seq=2048")
	p.Wait(text("answer-say") + `.startsWith("Fits: ")`)
	if n := Get[int](p, `document.querySelectorAll('[data-testid="step-ranks"] > li').length`); n != 4 {
		p.t.Errorf("the step shows %d ranks, want 4", n)
	}
	if all, wide := Get[int](p, `document.documentElement.clientWidth`),
		Get[int](p, `document.documentElement.scrollWidth`); wide > all {
		p.t.Errorf("the page is %d px wide in a window of %d", wide, all)
	}
	before := Get[string](p, `location.hash`)
	const change = `[data-do="step-change"]:not([disabled])`
	p.Wait(`document.querySelector('` + change + `')`)
	p.Click(change)
	p.Wait(`location.hash !== ` + strconv.Quote(before) + ` && ` + text("answer-say") + `.startsWith("Fits: ")`)
	p.Do(`history.back()`)
	p.Wait(`location.hash === ` + strconv.Quote(before))
	p.Quiet()
}

// examining opens a memory snapshot. The second program says why memory ran out, and the page draws the buffers
// by call stack.
func examining(p *Page) {
	settled(p, small)
	file, err := filepath.Abs("../../../cmd/memtide/testdata/snapshot.pickle")
	p.must(err)
	p.must(p.Files(p.ctx, `[data-testid="file"]`, file))
	p.Wait(`document.querySelector('[data-testid="doctor-say"]')?.textContent.includes("Ran out of memory")`)
	if said := p.Text("doctor-say"); !strings.Contains(said, "was asked for") {
		p.t.Errorf("the page says %q; want what was asked for", said)
	}
	p.Wait(`document.querySelector("#flame canvas")?.width > 0`)
	p.Quiet()
}
