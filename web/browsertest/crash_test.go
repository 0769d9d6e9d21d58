//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// moveBudget changes the budget. If how is not empty, the worker that solves for it fails in that way (see
// selftest_js.go in wasm/pool).
func moveBudget(p *Page, how string) {
	p.t.Helper()
	// The new budget is one that the curve has not computed; those of the curve need no worker.
	Eval[bool](p, fmt.Sprintf(`(() => {
		if (%[1]q) memtide.breakNext = %[1]q;
		const e = document.querySelector('[data-testid="budget"]');
		e.value = Number(e.value) + 1;
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})()`, how))
}

const (
	alertShown = `[...document.querySelectorAll('[role="alert"]')].some((e) => !e.hidden && e.textContent.trim())`
	alertText  = `[...document.querySelectorAll('[role="alert"]')].filter((e) => !e.hidden).map((e) => e.textContent).join(" ")`
	isReady    = `document.body.dataset.state === "ready"`
)

// TestCrashOnPage checks that when a worker crashes the page shows an alert with a button, that the pictures
// stay, and that the button makes the page work again.
func TestCrashOnPage(t *testing.T) {
	t.Parallel()
	for program, address := range bothPrograms {
		p := settledPage(t, address)
		for how, want := range map[string]string{
			"panic":    "stopped unexpectedly",
			"overflow": "deeper than the browser's stack",
			"oom":      "more memory than the browser allows",
		} {
			t.Run(program+"/"+how, func(t *testing.T) {
				if how != "panic" {
					long(t)
				}
				p.For(t)
				moveBudget(p, how)
				p.Wait(alertShown)
				if text := Eval[string](p, alertText); !strings.Contains(text, want) {
					t.Errorf("the alert says %q; want %q in it", text, want)
				}
				if Eval[int](p, `document.querySelectorAll(".paint canvas").length`) == 0 {
					t.Error("the pictures are gone")
				}
				p.Click(`.notice [data-do="act"]`)
				p.Wait(isReady + ` && !(` + alertShown + `)`)
			})
		}
	}
}

// bothPrograms maps each of the two programs to an address whose schedule it computes.
var bothPrograms = map[string]string{"page": "?selftest",
	"second": "?selftest#v=1&p=resnet50-graph-b32&m=80%25&s=blocks"}

// TestEndlessOnPage checks that a solver that never ends can be stopped, and that the next solve works.
func TestEndlessOnPage(t *testing.T) {
	t.Parallel()
	for program, address := range bothPrograms {
		t.Run(program, func(t *testing.T) {
			if program != "page" {
				long(t)
			}
			p := settledPage(t, address)
			moveBudget(p, "loop")
			const stop = `[...document.querySelectorAll('[data-do="stop"]')].find((b) => b.offsetParent !== null)`
			p.Wait(stop)
			Eval[bool](p, stop+`.click(); true`) // the button may be another one by now
			p.Wait(alertShown)
			p.Click(`.notice [data-do="act"]`)
			p.Wait(isReady + ` && !(` + alertShown + `)`)
		})
	}
}

// TestNoJump checks that the prepared first view and the live page have their elements in the same places, so
// that nothing jumps when the program takes over.
func TestNoJump(t *testing.T) {
	t.Parallel()
	const places = `JSON.stringify([...document.querySelectorAll('[data-testid], h1, h2, dt, select, button, .poster svg, .look canvas')].filter((e) => e.checkVisibility()).map((e) => {
		const r = e.getBoundingClientRect();
		return [e.dataset.testid || e.matches("svg, canvas") && "picture" || (e.querySelector(":scope > i + span") ?? e).textContent.trim().slice(0, 20), Math.round(r.x), Math.round(r.y), Math.round(r.width), Math.round(r.height)].join(" ");
	}))`
	prepared := New(t)
	prepared.Before(`delete globalThis.WebAssembly`)
	prepared.Navigate("")
	prepared.Wait(alertShown)
	before := Eval[[]string](prepared, `JSON.parse(`+places+`)`)
	live := settledPage(t, "")
	after := map[string]bool{}
	for _, place := range Eval[[]string](live, `JSON.parse(`+places+`)`) {
		after[place] = true
	}
	if len(before) < 20 {
		t.Fatalf("the prepared view has only %d elements to compare: %v", len(before), before)
	}
	for _, place := range before {
		if !after[place] {
			t.Errorf("prepared, but not there in the live page: %s", place)
		}
	}
}
