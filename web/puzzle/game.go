package puzzle

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
)

// Game is an open level with the player's plan, and the stars of all levels.
type Game struct {
	level int // index into Levels
	plan  Choices
	out   Outcome       // of plan
	best  time.Duration // step time of the level's best plan
	stars []int         // the most stars of each level so far
}

// NewGame returns the game that the fragment of an address describes, such as "#3-kkroo". Without a valid fragment it
// opens the first level with everything kept.
func NewGame(fragment string) *Game {
	g := &Game{stars: make([]int, len(Levels))}
	number, letters, _ := strings.Cut(strings.TrimPrefix(fragment, "#"), "-")
	n, _ := strconv.Atoi(number)
	g.Open(n - 1)
	if plan, ok := ParsePlan(letters, len(g.plan)); ok {
		g.setPlan(plan)
	}
	return g
}

// Open opens the level with this index and keeps everything. An invalid index opens the first level.
func (g *Game) Open(level int) {
	if level < 0 || level >= len(Levels) {
		level = 0
	}
	g.level = level
	g.best = g.played(Choices(g.Level().Best)).Time
	g.Reset()
}

// Level returns the level that is open.
func (g *Game) Level() *Level { return &Levels[g.level] }

// Reset keeps everything.
func (g *Game) Reset() { g.setPlan(Choices(strings.Repeat(string(Keep), len(g.Level().Layers)))) }

// ShowBest sets the level's best plan, without earning stars.
func (g *Game) ShowBest() {
	had := g.stars[g.level]
	g.setPlan(Choices(g.Level().Best))
	g.stars[g.level] = had
}

// Choose sets the choice for the layer with this index. It ignores invalid choices and indices.
func (g *Game) Choose(layer int, choice string) {
	if _, ok := ParsePlan(choice, 1); ok && layer >= 0 && layer < len(g.plan) {
		plan := append(Choices{}, g.plan...)
		plan[layer] = Choice(choice[0])
		g.setPlan(plan)
	}
}

// setPlan plays plan and counts its stars.
func (g *Game) setPlan(plan Choices) {
	g.plan, g.out = plan, g.played(plan)
	g.stars[g.level] = max(g.stars[g.level], g.earned())
}

// played plays a plan. It panics if package check does not confirm the trace, which would be a defect.
func (g *Game) played(plan Choices) Outcome {
	out, err := g.Level().Play(plan)
	if err != nil {
		panic(err)
	}
	return out
}

// Solved reports whether no plan is faster than the player's.
func (g *Game) Solved() bool { return g.out.Fits && g.out.Time == g.best }

// earned returns the stars of the plan: three for a fastest plan, two if it is at most 5 % slower, one for any other
// that fits.
func (g *Game) earned() int {
	switch {
	case g.Solved():
		return 3
	case g.out.Fits && 20*(g.out.Time-g.best) <= g.best:
		return 2
	case g.out.Fits:
		return 1
	}
	return 0
}

// Fragment returns the fragment of an address for the level and the plan.
func (g *Game) Fragment() string { return fmt.Sprintf("#%d-%s", g.level+1, g.plan) }

// Plans returns how many plans there are.
func (l *Level) Plans() int { return int(math.Pow(3, float64(len(l.Layers)))) }

// Verdict returns a sentence about the plan's outcome.
func (g *Game) Verdict() string {
	switch {
	case g.Solved():
		return fmt.Sprintf("Solved: %s, and none of the %s plans is faster.", format.Duration(g.out.Time),
			format.Count(g.Level().Plans()))
	case g.out.Fits:
		return fmt.Sprintf("It fits: %s, %s slower than the best plan.", format.Duration(g.out.Time),
			strings.TrimPrefix(format.Percent(format.Longer(g.out.Time, g.best)), "+"))
	}
	return fmt.Sprintf("It does not fit: %s too much.", format.BytesUp(g.out.Peak-g.Level().Budget))
}

// LevelsHTML returns the buttons of the levels.
func (g *Game) LevelsHTML() string {
	var b strings.Builder
	for i := range Levels {
		current := ""
		if i == g.level {
			current = ` aria-current="true"`
		}
		fmt.Fprintf(&b, `<button type="button" class="button" data-do="level" value="%d"%s>%d <span class="stars" role="img" aria-label="%d of 3 stars">%s%s</span></button>`,
			i, current, i+1, g.stars[i], strings.Repeat("★", g.stars[i]), strings.Repeat("☆", 3-g.stars[i]))
	}
	return b.String()
}

var choices = []struct {
	choice Choice
	word   string
}{{Keep, "Keep"}, {Recompute, "Recompute"}, {Offload, "Offload"}}

// BoardHTML returns the level's layers, each with radio buttons for its choice.
func (g *Game) BoardHTML() string {
	l := g.Level()
	most := engine.Bytes(1)
	for _, s := range l.Layers {
		most = max(most, s.Saved)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<h2>Level %d: %s</h2><p>%s</p><p class="given">Budget %s. The link moves %s in a millisecond, each way.</p>`, g.level+1, html.EscapeString(l.Name), html.EscapeString(l.Hint),
		format.Bytes(l.Budget), format.Bytes(engine.Bytes(l.Link/1000)))
	for i, s := range l.Layers {
		fmt.Fprintf(&b, `<fieldset class="layer"><legend>%s</legend><span class="takes">%s forward, %s backward</span><span class="saves"><span class="size" style="width:%d%%"></span>saves %s</span><span class="three">`,
			s.Name, format.Duration(s.Forward), format.Duration(s.Back), 100*s.Saved/most, format.Bytes(s.Saved))
		for _, c := range choices {
			checked := ""
			if g.plan[i] == c.choice {
				checked = " checked"
			}
			fmt.Fprintf(&b, `<label><input type="radio" name="layer%d" value="%c"%s><span>%s</span></label>`, i,
				c.choice, checked, c.word)
		}
		b.WriteString("</span></fieldset>")
	}
	return b.String()
}

// meter returns a bar of length at, with a line at line. end is the length of the whole track.
func meter(name, value, mark string, at, line, end float64, over bool) string {
	class := ""
	if over {
		class = " over"
	}
	return fmt.Sprintf(`<div class="meter"><span>%s</span><b>%s</b><span class="track" aria-hidden="true"><span class="fill%s" style="width:%.1f%%"></span><span class="line" style="left:%.1f%%"></span></span><small>%s</small></div>`,
		name, value, class, 100*min(at/end, 1), 100*line/end, mark)
}

// ScoreHTML returns the step time beside that of the best plan, and the peak beside the budget.
func (g *Game) ScoreHTML() string {
	l := g.Level()
	all := g.played(Choices(strings.Repeat(string(Keep), len(l.Layers))))
	words := "best plan " + format.Duration(g.best) + "; no schedule at all is below " + format.Duration(l.Bound())
	if !g.out.Fits {
		words = "if there were room; best plan " + format.Duration(g.best)
	}
	return meter("Step time", format.Duration(g.out.Time), words, float64(g.out.Time), float64(g.best),
		1.6*float64(g.best), false) +
		meter("Peak", format.Bytes(g.out.Peak), "budget "+format.Bytes(l.Budget), float64(g.out.Peak),
			float64(l.Budget), 1.05*float64(all.Peak), !g.out.Fits)
}

// PictureHTML returns the pictures of the step as SVG, width CSS pixels wide.
func (g *Game) PictureHTML(width float64) string {
	var scene draw.Scene
	budget := g.Level().Budget
	draw.NewIndex(g.out.Problem, g.out.Trace).Figure(&scene,
		draw.View{Width: width, Budget: budget, Cursor: draw.NoCursor})
	var svg strings.Builder
	if err := scene.WriteSVG(&svg, display.SVGOptions{}); err != nil {
		panic(err) // a strings.Builder returns no errors
	}
	return svg.String()
}
