//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"memtide/web/puzzle"
)

// openPuzzle opens the puzzle; fragment is "" or begins with #.
func openPuzzle(p *Page, fragment string) {
	p.Fresh("puzzle.html" + fragment)
	p.Wait(`document.body.dataset.state === "ready"`)
}

// TestPuzzle solves every level with its best plan by clicking one layer after the other. It checks that the
// verdict follows each choice and that nothing on the page moves.
func TestPuzzle(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Viewport(1200, 900)
	openPuzzle(p, "")
	for i, l := range puzzle.Levels {
		p.Click(fmt.Sprintf(`#levels [value="%d"]`, i))
		p.Wait(fmt.Sprintf(`document.querySelector("#board h2").textContent.includes(%q)`, l.Name))
		if got := p.Text("#verdict"); !strings.HasPrefix(got, "It does not fit: ") {
			t.Errorf("level %d begins with %q; want that it does not fit", i+1, got)
		}
		const places = `[...document.querySelectorAll("#board fieldset, #picture, .doing")].map((e) => Math.round(e.getBoundingClientRect().top + scrollY)).join()`
		before := Eval[string](p, places)
		for k, choice := range l.Best {
			if choice == 'k' {
				continue
			}
			p.Click(fmt.Sprintf(`[name="layer%d"][value="%c"]`, k, choice))
			p.Wait(fmt.Sprintf(`document.querySelector('[name="layer%d"][value="%c"]').checked && location.hash[%d] === "%c"`, k, choice, k+3, choice))
		}
		p.Wait(`document.querySelector("#verdict").dataset.solved === "true"`)
		if got := p.Text("#verdict"); !strings.HasPrefix(got, "Solved: ") {
			t.Errorf("level %d with %s: %q; want that it is solved", i+1, l.Best, got)
		}
		if got := Eval[string](p,
			`document.querySelector("#levels [aria-current] .stars").ariaLabel`); got != "3 of 3 stars" {
			t.Errorf("level %d with %s has %q; want three", i+1, l.Best, got)
		}
		if after := Eval[string](p, places); after != before {
			t.Errorf("level %d: layers, picture and buttons stood at %s, and after the choices at %s", i+1, before,
				after)
		}
		if svg := Eval[int](p, `document.querySelectorAll("#picture svg rect, #picture svg path").length`); svg < 10 {
			t.Errorf("level %d: the picture has %d shapes; want the step", i+1, svg)
		}
	}
}

// TestPuzzleKeys solves the first level with the keyboard alone: Tab goes from layer to layer, and an arrow key
// chooses.
func TestPuzzleKeys(t *testing.T) {
	t.Parallel()
	p := New(t)
	openPuzzle(p, "#1")
	Eval[bool](p, `document.querySelector('#levels [aria-current]').focus(), true`)
	for range len(puzzle.Levels) - 1 {
		stroke(p, "Tab", "Tab", 0)
	}
	for i := range 2 { // the first layer, and the second
		stroke(p, "Tab", "Tab", 0)
		if got, want := Eval[string](p, `document.activeElement.name`), fmt.Sprintf("layer%d", i); got != want {
			t.Errorf("Tab comes to %q; want %s", got, want)
		}
	}
	stroke(p, "ArrowRight", "ArrowRight", 0)
	p.Wait(`document.querySelector("#verdict").dataset.solved === "true"`)
	if got := Eval[string](p, `location.hash`); got != "#1-krkkk" {
		t.Errorf("the address says %s; want #1-krkkk", got)
	}
}

// TestAccessiblePuzzle checks that the puzzle keeps axe-core's rules, light, dark and on a phone, and that it is
// not wider than the window.
func TestAccessiblePuzzle(t *testing.T) {
	t.Parallel()
	source := axe(t)
	p := New(t)
	for _, c := range []struct {
		name     string
		width    int64
		dark     bool
		fragment string
	}{{"light", 1280, false, "#3-rokrkkk"}, {"dark", 1280, true, "#5-kkkkkkkkkk"}, {"phone", 390, false, "#2-kokkkk"}} {
		t.Run(c.name, func(t *testing.T) {
			p.For(t)
			p.Viewport(c.width, 900)
			p.Dark(c.dark)
			openPuzzle(p, c.fragment)
			p.frames()
			for _, v := range violations(p, source) {
				t.Errorf("the puzzle breaks the rule %s (%s): %s\n  %s", v.ID, v.Impact, v.Help,
					strings.Join(v.where(), "\n  "))
			}
			if wide := Eval[int64](p, `document.documentElement.scrollWidth`); wide > c.width {
				t.Errorf("it is %d px wide in a window of %d", wide, c.width)
			}
		})
	}
}
