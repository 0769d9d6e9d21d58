//go:build !js

package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memtide/web/question"
)

// opens opens a question, which asks it.
func opens(p *Page, name string) {
	button := `document.querySelector('[data-do="questions"][data-arg="` + name + `"]')`
	if Eval[bool](p, `byID("question-`+name+`").hidden`) {
		Eval[bool](p, button+`.click(); true`)
	}
	p.Wait(`!byID("question-` + name + `").hidden`)
}

// asks opens a question and waits for its answers; it returns their sentence.
func asks(t *testing.T, p *Page, name string) string {
	t.Helper()
	opens(p, name)
	Eval[bool](p, `(e => e && !e.hidden && e.click())(document.querySelector('[data-do="ask"][data-arg="`+name+`"]')), true`)
	p.Wait(`document.querySelector('[data-testid="question-` + name + `"] .working').hidden && document.querySelector('[data-testid="question-` + name + `"] .answer').textContent`)
	return p.Text(`[data-testid="question-` + name + `"] .answer`)
}

// Questions are answered when they are asked, in words, tables and charts, and
// what an answer found is used by a click.
func TestQuestions(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=alexnet-b64&m=905MiB")
	for name, want := range map[string]string{"smallest": "are enough for at most 10 % more", "batch": "trains a batch of up to", "least": "are enough with"} {
		if got := asks(t, p, name); !strings.Contains(got, want) {
			t.Errorf("%s: the answer is %q; want %q in it", name, got, want)
		}
		if name == "batch" {
			p.Wait(`byID("reply-batch").querySelector("canvas")`)
		}
	}
	if got := asks(t, p, "links"); !strings.Contains(got, "than Best choice of blocks") {
		t.Errorf("links: the answer is %q; want where offloading beats recomputing", got)
	}
	p.Wait(`byID("reply-links").querySelector("canvas")`)
	// A point of a chart is used by a click; the chart stays.
	Eval[bool](p, `(() => { const e = byID("reply-links"), b = e.getBoundingClientRect();
		e.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: b.left + 52, clientY: b.top + b.height - 40}));
		for (let y = 10; y < b.height && !location.hash.includes("bw="); y += 20) e.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: b.left + 52, clientY: b.top + y})); return true; })()`)
	p.Wait(`location.hash.includes("bw=1GB/s") || location.hash.includes("bw=1")`)
	p.Wait(untilReady + ` && !byID("reply-links").hidden`)
	asks(t, p, "smallest")
	p.Wait(`!document.querySelector('[data-testid="question-smallest"] [data-do="use-answer"]').hidden`)
	p.Click(`[data-testid="question-smallest"] [data-do="use-answer"]`)
	p.Wait(`location.hash.includes("m=") && ` + untilReady)
	p.Quiet()
}

// A question that is given up keeps what is known, and its worker is free for
// others.
func TestCancelQuestion(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	opens(p, "least")
	p.Wait(`document.querySelector('[data-testid="question-least"] tbody tr')`)
	took := Eval[float64](p, `(async () => { const t0 = performance.now(); document.querySelector('[data-do="unask"][data-arg="least"]').click();
		while (!document.querySelector('[data-testid="question-least"] .working').hidden) await new Promise(r => setTimeout(r, 5)); return performance.now() - t0; })()`)
	t.Logf("cancelled after %.0f ms", took)
	if got := p.Text(`[data-testid="question-least"] .answer`); !strings.HasPrefix(got, "Stopped after ") {
		t.Errorf("the answer is %q; want how far it was", got)
	}
	if got := asks(t, p, "smallest"); !strings.Contains(got, "are enough") {
		t.Errorf("asked afterwards, the smallest budget is %q", got)
	}
	p.Quiet()
}

// I goes from a wait to the copy that it waited for, and from cause to cause until
// the device was busy; Backspace goes back. K shows the critical chain.
func TestExplain(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=vgg16-b64&s=greedy&m=80%25")
	sentence := func() string { return p.Text(`[data-testid="selection"]`) }
	key(t, p, "KeyN", "n")
	p.Wait(`document.querySelector("#selection-title").textContent.startsWith("Why it waits ")`)
	trail := []string{sentence()}
	for Eval[bool](p, `!document.querySelector('[data-do="cause"]').hidden`) && len(trail) < 20 {
		key(t, p, "KeyI", "i")
		p.Wait(fmt.Sprintf(`byID("selection").textContent !== %q`, trail[len(trail)-1]))
		trail = append(trail, sentence())
	}
	if len(trail) < 3 || len(trail) == 20 {
		t.Errorf("the causes are %q; want a copy, and what it waited for, until the device was busy", trail)
	}
	for i := len(trail) - 2; i >= 0; i-- {
		key(t, p, "Backspace", "Backspace")
		p.Wait(fmt.Sprintf(`byID("selection").textContent === %q`, trail[i]))
	}
	key(t, p, "KeyK", "k")
	p.Wait(`!byID("chain").hidden && byID("chain").textContent.startsWith("Critical chain: ")`)
	p.Quiet()
}

// The table of layers is sorted, searched, walked through with arrow keys and
// saved; a row selects its layer in the pictures.
func TestLayerTable(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { globalThis.saved = blob.text(); return make(blob); }; })()`)
	p.Navigate("#v=1&p=resnet101-b32&m=60%25")
	p.Wait(untilReady)
	Eval[bool](p, hands)
	p.Click(`[data-testid="layers-toggle"]`)
	p.Wait(`document.querySelectorAll('#layer-scroll [data-do="row"]').length > 10`)
	firstRow := `document.querySelector('#layer-scroll [data-do="row"]')`
	Eval[bool](p, `document.querySelector('[data-do="layers-sort"][data-arg="3"]').click(); true`)
	p.Wait(firstRow + `.cells[3].textContent === "392 MiB" && document.querySelector('[aria-sort="descending"]').textContent === "Size"`)
	Eval[bool](p, firstRow+`.click(); true`)
	p.Wait(`byID("selection").textContent.startsWith("layer1.0")`)
	Eval[bool](p, `document.getElementById("layer-scroll").focus(); true`)
	key(t, p, "End", "End")
	p.Wait(`document.querySelector('#layer-scroll [aria-current="true"]')?.getAttribute("aria-rowindex") === "41" && document.getElementById("layer-scroll").scrollTop > 300`)
	if n := Eval[int](p, `document.querySelectorAll('#layer-scroll [data-do="row"]').length`); n > 30 {
		t.Errorf("%d rows are in the page; want those on screen only", n)
	}
	Eval[bool](p, `control("layers-find", "layer3", "input"); true`)
	p.Wait(`document.querySelector('#layers-body [role="status"]').textContent === "23 of 40 rows"`)
	Eval[bool](p, `byID("layers-csv").click(); true`)
	p.Wait(`globalThis.saved`)
	if lines := strings.Split(Eval[string](p, `saved`), "\n"); len(lines) != 26 || !strings.HasPrefix(lines[0], "layer,name,decision,bytes") || !strings.HasPrefix(lines[24], "# memtide: ") {
		t.Errorf("%d lines are saved, the first is %q; want the names of the columns, 23 layers and the link", len(lines), lines[0])
	}
	p.Quiet()
}

// With answers, the table of layers and the critical chain on the page it keeps
// axe-core's rules, in both themes and on a telephone.
func TestQuestionsAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	p := settledPage(t, "#v=1&p=alexnet-b16&m=751MiB")
	for _, q := range question.All() {
		if q.Short != nil {
			asks(t, p, q.Name)
		}
	}
	Eval[bool](p, `byID("layers-toggle").click(); true`)
	key(t, p, "KeyK", "k")
	p.Wait(`document.querySelector('#layer-scroll [data-do="row"]')`)
	Eval[bool](p, `document.querySelector('#layer-scroll [data-do="row"]').click(); true`)
	for _, width := range []int64{1400, 390} {
		for _, dark := range []bool{false, true} {
			p.Viewport(width, 900)
			p.Dark(dark)
			p.Drawn()
			for _, v := range violations(p, source) {
				t.Errorf("%d px, dark %v: the rule %s (%s): %s\n  %s", width, dark, v.ID, v.Impact, v.Help, strings.Join(v.where(), "\n  "))
			}
		}
	}
	p.Quiet()
}

// TestQuestionShots writes pictures for people to look at, to the directory named
// by MEMTIDE_SHOTS.
func TestQuestionShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	p := settledPage(t, "#v=1&p=resnet50-b64&m=60%25&s=dynprog")
	for _, q := range question.All() {
		if q.Short != nil {
			t.Log(asks(t, p, q.Name))
		}
	}
	Eval[bool](p, `byID("layers-toggle").click(); true`)
	key(t, p, "KeyK", "k")
	for _, c := range []struct {
		name          string
		width, height int64
		dark          bool
		at            string
	}{
		{"questions", 1440, 1100, false, ".questions"},
		{"questions-dark", 1440, 1100, true, ".questions"},
		{"layers", 1440, 800, false, ".layers"},
		{"questions-390", 390, 2300, false, ".questions"},
		{"layers-390", 390, 844, true, ".layers"},
		{"chain-390", 390, 844, false, `[data-testid="timeline"]`},
	} {
		p.Viewport(c.width, c.height)
		p.Dark(c.dark)
		p.rest(time.Second)
		Eval[bool](p, `document.querySelector('`+c.at+`').scrollIntoView(); true`)
		p.rest(500 * time.Millisecond)
		if err := os.WriteFile(filepath.Join(dir, c.name+".png"), p.Shot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
