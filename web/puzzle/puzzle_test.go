package puzzle

import (
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// search tries every plan. It returns the first of the fastest plans that fit, and the number of plans that fit.
func search(l *Level) (best Choices, fits int) {
	plan, p := make(Choices, len(l.Layers)), l.Problem()
	fastest := time.Duration(0)
	var try func(k int)
	try = func(k int) {
		if k < len(plan) {
			for _, plan[k] = range []Choice{Keep, Recompute, Offload} {
				try(k + 1)
			}
			return
		}
		out, _ := fitted(p, plan)
		if !out.Fits {
			return
		}
		if fits++; best == nil || out.Time < fastest {
			best, fastest = append(Choices{}, plan...), out.Time
		}
	}
	try(0)
	return best, fits
}

// TestBest proves that the best plan of each level is the best: no plan that fits is faster. It also checks that
// keeping everything does not fit, and that no plan is faster than the lower bound of all schedules. The level with
// the most plans runs only with MEMTIDE_LONG=1.
func TestBest(t *testing.T) {
	for i := range Levels {
		l := &Levels[i]
		t.Run(l.Name, func(t *testing.T) {
			if l.Plans() > 50_000 && os.Getenv("MEMTIDE_LONG") == "" {
				t.Skip("MEMTIDE_LONG is not set")
			}
			best, fits := search(l)
			stated, ok := ParsePlan(l.Best, len(l.Layers))
			if !ok {
				t.Fatalf("the best plan is %q; want a letter for each of %d layers", l.Best, len(l.Layers))
			}
			got, err := l.Play(stated)
			want, err2 := l.Play(best)
			if err != nil || err2 != nil || !got.Fits || got.Time != want.Time {
				t.Errorf("%s takes %v (fits: %v; %v), and %s %v (%v); want the same", stated, got.Time, got.Fits, err,
					best, want.Time, err2)
			}
			if all, err := l.Play(Choices(strings.Repeat("k", len(l.Layers)))); err != nil || all.Fits {
				t.Errorf("keeping everything fits (%v): there is nothing to do", err)
			}
			if b := l.Bound(); b > got.Time || b <= 0 {
				t.Errorf("the lower bound is %v, and a plan takes %v", b, got.Time)
			}
			t.Logf("%d layers, %d of %d plans fit, best %s, %v", len(l.Layers), fits, l.Plans(), best, got.Time)
		})
	}
}

// TestSchedule checks times that are computed by hand. There are two layers of 10 ms forward, 20 ms backward and
// 4 MiB, and the link copies 1 MiB in 1 ms.
func TestSchedule(t *testing.T) {
	l := Level{Name: "two", Layers: []Layer{layer("a", 10, 20, 2, 4), layer("b", 10, 20, 2, 4)}, Link: perMilli(1),
		Budget: 100 * engine.MiB}
	for plan, want := range map[string]time.Duration{
		"kk": 60 * time.Millisecond,
		"rk": 70 * time.Millisecond, // a is computed again
		"kr": 70 * time.Millisecond,
		"rr": 80 * time.Millisecond, // both are computed again, one after the other
		"ok": 64 * time.Millisecond, // its copy back, 4 ms, delays b's backward, which reads a's output
		"ko": 68 * time.Millisecond, // nothing runs beside the copies of the last layer
	} {
		out, err := l.Play(Choices(plan))
		if err != nil || !out.Fits || out.Time != want {
			t.Errorf("plan %s takes %v (fits: %v, %v); want %v", plan, out.Time, out.Fits, err, want)
		}
	}
}

// TestPlans checks that the player plays every plan of a level, without its memory limit, that the checker
// accepts the result, and that recomputing or moving saves no time.
func TestPlans(t *testing.T) {
	l := Levels[2]
	p := l.Problem().WithBudget(engine.NoLimit)
	kept := l.Problem().Chain.Chain
	least := kept.ForwardTime() + kept.BackTime()
	plan := make(Choices, len(l.Layers))
	for n := range l.Plans() {
		for k := range plan {
			plan[k] = choices[n%3].choice
			n /= 3
		}
		for _, ahead := range []int{0, 1} {
			s := schedule(p.Chain, plan, ahead)
			trace, err := sim.Play(p, s)
			if err != nil {
				t.Fatalf("plan %s, %d ahead: %v", plan, ahead, err)
			}
			if err := check.Trace(p, s, trace); err != nil || trace.Makespan < least {
				t.Fatalf("plan %s, %d ahead takes %v: %v", plan, ahead, trace.Makespan, err)
			}
		}
	}
}

// TestGame checks choices, stars, addresses and texts of the game.
func TestGame(t *testing.T) {
	g := NewGame("")
	if g.Fragment() != "#1-kkkkk" || g.Solved() || !strings.HasPrefix(g.Verdict(), "It does not fit: ") {
		t.Errorf("it begins with %s, %q; want everything kept, which does not fit", g.Fragment(), g.Verdict())
	}
	g.Choose(1, "r")
	if g.Fragment() != "#1-krkkk" || !g.Solved() || !strings.HasPrefix(g.Verdict(), "Solved: ") ||
		!strings.Contains(g.LevelsHTML(), "3 of 3 stars") {
		t.Errorf("after recomputing relu1: %s, %q, %s; want it solved with three stars", g.Fragment(), g.Verdict(),
			g.LevelsHTML())
	}
	for _, wrong := range []struct {
		layer  int
		choice string
	}{{-1, "r"}, {5, "r"}, {0, "x"}, {0, ""}} {
		if g.Choose(wrong.layer, wrong.choice); g.Fragment() != "#1-krkkk" {
			t.Errorf("choosing %q for layer %d makes %s; want it left out", wrong.choice, wrong.layer, g.Fragment())
		}
	}
	g.Choose(0, "o")
	if g.out.Fits && g.earned() == 3 || g.stars[0] != 3 {
		t.Errorf("a slower plan earns %d stars, and the level has %d; want fewer than three, and three kept",
			g.earned(), g.stars[0])
	}
	g.Open(1)
	if g.ShowBest(); !g.Solved() || g.stars[1] != 0 {
		t.Errorf("the best plan that is shown earns %d stars; want none", g.stars[1])
	}
	for fragment, want := range map[string]string{"#3-rokrkkk": "#3-rokrkkk", "#3-rok": "#3-kkkkkkk",
		"#9-k": "#1-kkkkk", "nonsense": "#1-kkkkk", "#2": "#2-kkkkkk"} {
		if got := NewGame(fragment).Fragment(); got != want {
			t.Errorf("%s opens %s; want %s", fragment, got, want)
		}
	}
	board := NewGame("#2-rokkkk").BoardHTML()
	for _, want := range []string{`name="layer0" value="r" checked`, `name="layer1" value="o" checked`,
		"<legend>embed</legend>", "Budget 432 MiB"} {
		if !strings.Contains(board, want) {
			t.Errorf("the board lacks %s", want)
		}
	}
	if svg := g.PictureHTML(360); !strings.Contains(svg, "<svg") {
		t.Errorf("the picture is %.100s; want SVG", svg)
	}
}
