//go:build !js

package browsertest

import (
	"strings"
	"testing"
)

// TestTakesOver checks that the page keeps most of the prepared elements when the program takes over.
func TestTakesOver(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`addEventListener("DOMContentLoaded", () => {
		globalThis.early = [...document.querySelectorAll("#app, #app *")].filter(e => !e.closest(".poster"));
	})`)
	p.Navigate("")
	p.Wait(untilReady)
	// Some elements are replaced because a browser writes their content differently than index.html does:
	// <path/>, &#39;.
	all, gone := Eval[int](p, `early.length`),
		Eval[[]string](p, `early.filter(e => !e.isConnected).map(e => e.outerHTML)`)
	if all < 300 || len(gone) > 125 {
		t.Errorf("of %d elements that were prepared %d were replaced; want at most 125 of at least 300:\n%s", all,
			len(gone), strings.Join(gone, "\n"))
	}
	if posters := Eval[int](p, `document.querySelectorAll(".poster").length`); posters > 0 {
		t.Errorf("%d prepared pictures are left beside the live ones", posters)
	}
}

// TestTypingIsKept checks that a field keeps the text that is being typed while the page is drawn, and that it
// shows the accepted value when the person is done. Elements are not replaced.
func TestTypingIsKept(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet18-b32&s=rotor&m=80%")
	const field = `document.querySelector('[data-do="budget-text"]')`
	Eval[bool](p, `globalThis.field = `+field+`; field.focus(); field.value = "1024 Mi"; field.dispatchEvent(new Event("input", {bubbles: true})); document.querySelector('[data-do="table"]').click(); true`)
	p.Wait(`!document.getElementById("table").hidden`)
	if got := Eval[string](p, `field.value`); got != "1024 Mi" {
		t.Errorf("while it is typed into, the field says %q; want %q", got, "1024 Mi")
	}
	if !Eval[bool](p, `document.activeElement === `+field) {
		t.Error("the field has lost the focus, or is another one")
	}
	Eval[bool](p, `field.value = "1024 MiB"; field.dispatchEvent(new Event("change", {bubbles: true})); document.querySelector('[data-do="table"]').click(); true`)
	p.Wait(`document.getElementById("table").hidden`)
	if got := Eval[string](p, `field.value`); got != "1 GiB" {
		t.Errorf("after that the field says %q; want %q", got, "1 GiB")
	}
	// The list of layers disappears and appears again, and elements after it stay the same.
	Eval[bool](p, `globalThis.host = byID("tradeoff"); document.querySelector('[data-do="layers"]').click(); true`)
	p.Wait(`document.getElementById("layer-scroll")`)
	Eval[bool](p, `document.querySelector('[data-do="layers"]').click(); document.querySelector('[data-do="lines-list"]').click(); true`)
	p.Wait(`!document.getElementById("layer-scroll") && document.querySelector('[data-do="lines-all"]')`)
	if !Eval[bool](p, `byID("tradeoff") === host && host.isConnected`) {
		t.Error("the host of the curve is another element")
	}
	p.Quiet()
}

// TestForeignHands checks that the page still works when translators have replaced texts by elements of their own
// and other extensions have removed elements.
func TestForeignHands(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet18-b32&s=rotor&m=80%")
	Eval[bool](p, `(() => {
		const texts = [], walk = document.createTreeWalker(document.getElementById("app"), NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) texts.push(walk.currentNode);
		for (const text of texts) {
			const font = document.createElement("font");
			font.textContent = text.data;
			text.replaceWith(font);
		}
		document.querySelector(".own > .sr").remove();
		return true;
	})()`)
	for _, c := range []struct{ do, open, closed string }{
		{"picker", `document.querySelectorAll(".picker-option").length > 5`,
			`!document.querySelector(".picker-panel")`},
		{"layers", `document.querySelectorAll("#layer-scroll tbody tr").length > 5`,
			`!document.getElementById("layer-scroll")`},
		{"lines-list", `document.querySelector('[data-do="lines-all"]')`,
			`!document.querySelector('[data-do="lines-all"]')`},
		{"share", `document.getElementById("share-link").value.includes("#v=1")`,
			`!document.getElementById("share-link")`},
	} {
		for _, want := range []string{c.open, c.closed} {
			Eval[bool](p, `document.querySelector('[data-do="`+c.do+`"]').click(); true`)
			p.Wait(want)
		}
	}
	was := result(p, "step-time")
	Eval[bool](p, `control("strategy", "dynprog"); true`)
	p.Wait(`result("step-time") !== "` + was + `" && document.body.dataset.state === "ready"`)
	p.Quiet()
}

// TestDrawingFails checks that after a drawing has failed, the page is drawn again, starting from the elements
// that it has.
func TestDrawingFails(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet18-b32&s=rotor&m=80%")
	Eval[bool](p, `(() => {
		globalThis.host = byID("timeline").querySelector("canvas");
		const update = memtideDOM.update;
		memtideDOM.update = (text) => { memtideDOM.update = update; throw new Error("spoilt"); };
		document.querySelector('[data-do="picker"]').click();
		return true;
	})()`)
	p.Wait(`document.querySelectorAll(".picker-option").length > 5`)
	if !Eval[bool](p, `host.isConnected`) {
		t.Error("the picture was lost")
	}
	Eval[bool](p, `document.querySelector('[data-do="picker"]').click(); true`)
	p.Wait(`!document.querySelector(".picker-panel")`)
	if all := strings.Join(p.Console(), "\n"); !strings.Contains(all, "spoilt") || strings.Count(all, "warning") != 1 {
		t.Errorf("the console says %q; want one warning", all)
	}
}
