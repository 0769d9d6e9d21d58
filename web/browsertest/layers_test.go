//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// TestExplain checks that the key I goes from a wait to the copy that it waited for, and on from cause to cause
// until the device was busy, that Backspace goes back, and that K shows the critical chain.
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

// TestLayerTable checks that the table of layers can be sorted, searched, walked through with arrow keys and
// saved, and that a click on a row selects its layer in the pictures.
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
	if lines := strings.Split(Eval[string](p, `saved`), "\n"); len(lines) != 26 ||
		!strings.HasPrefix(lines[0], "layer,name,decision,bytes") || !strings.HasPrefix(lines[24], "# memtide: ") {
		t.Errorf("%d lines are saved, the first is %q; want the names of the columns, 23 layers and the link",
			len(lines), lines[0])
	}
	p.Quiet()
}

// TestLayersAccessible checks that the page with the table of layers and the critical chain keeps axe-core's
// rules, in both themes, in a wide window and on a phone.
func TestLayersAccessible(t *testing.T) {
	t.Parallel()
	long(t)
	source := axe(t)
	p := settledPage(t, "#v=1&p=alexnet-b16&m=751MiB")
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
				t.Errorf("%d px, dark %v: the rule %s (%s): %s\n  %s", width, dark, v.ID, v.Impact, v.Help,
					strings.Join(v.where(), "\n  "))
			}
		}
	}
	p.Quiet()
}
