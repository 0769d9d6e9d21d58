package timeline

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/choice"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/view"
)

// Story plays the step and, of a network that does not fit, tells in four steps what
// the schedule does about it.
type Story struct{ S *state.State }

// The words of the story and of playing, in one place.
const (
	wordsPlay     = "Play the step"
	wordsStop     = "Stop"
	storyKeepAll  = "Keep everything"
	wordsOver     = "Over the line"
	wordsAgain    = "Recompute"
	wordsOwn      = "Yours"
	storyAtPeak   = " at the peak"
	storyTooMuch  = " too much"
	wordsNotIn    = "does not fit in "
	wordsComing   = "…"
	wordsAllKept  = "all kept"
	storyNoSlower = "no slower"
)

// Absent says that there is nothing to be played.
func (c *Story) Absent() bool {
	return c.S.Memory != nil || c.S.View.Frame.Embed
}

// Playing is for aria-pressed.
func (c *Story) Playing() string { return strconv.FormatBool(c.S.View.Play.On) }

// Ready puts the button forward.
func (c *Story) Ready() string { return strconv.FormatBool(c.S.View.ToPlay) }

// PlayText is the button's.
func (c *Story) PlayText() string {
	if c.S.View.Play.On {
		return wordsStop
	}
	return wordsPlay
}

// PlayTitle says how to do it without the button.
func (c *Story) PlayTitle() string {
	return "A playhead crosses the pictures (Space, while they have the focus). Drag its handle to move through the step."
}

// Button is what the button shows.
func (c *Story) Button() vugu.HTML {
	sign := "M15 11.5v15l12-7.5z"
	if c.S.View.Play.On {
		sign = "M13 12h4v14h-4zM21 12h4v14h-4z"
	}
	return vugu.HTML(`<svg viewBox="0 0 38 38" width="38" height="38" aria-hidden="true"><circle cx="19" cy="19" r="17"></circle><path d="` + sign + `"></path></svg><span>` + c.PlayText() + `</span>`)
}

// HTML is the steps: one group of radio buttons, which is one stop of the Tab key.
func (c *Story) HTML() vugu.HTML {
	if !c.S.HasStory() {
		return ""
	}
	var b strings.Builder
	now := c.S.View.Story
	if now == view.NoStory {
		now = view.StoryPlan
	}
	for step := view.StoryKeepAll; step <= view.StoryPlan; step++ {
		if step == view.StoryRecompute && c.planIsRecompute() {
			continue
		}
		title, line, ok := c.words(step)
		checked, off := "", ""
		if step == now {
			checked = " checked"
		}
		if !ok {
			off = " disabled"
		}
		fmt.Fprintf(&b, `<label class="step"><input type="radio" name="story" data-do="story" data-testid="story-%d" data-index="%d"%s%s>%s<span><b>%s</b><span>%s</span></span></label>`,
			step, step, checked, off, c.thumb(step), html.EscapeString(title), html.EscapeString(line))
	}
	return vugu.HTML(b.String())
}

// planIsRecompute says that what was chosen is the step before it.
func (c *Story) planIsRecompute() bool {
	p, _ := c.S.StoryPicture(view.StoryRecompute)
	return p != nil && p.Choice.Strategy == c.S.Choice.Strategy
}

// words are the title of a step and what it comes to; ok is false while it cannot be
// shown.
func (c *Story) words(step int) (title, line string, ok bool) {
	s := c.S
	all := s.Network.Totals.KeepAllPeak
	switch step {
	case view.StoryKeepAll:
		return storyKeepAll, format.Bytes(all) + storyAtPeak, true
	case view.StoryOverLine:
		return wordsOver, format.Bytes(all-s.StoryLimit()) + storyTooMuch, true
	case view.StoryRecompute:
		p, none := s.StoryPicture(step)
		if none {
			return wordsAgain, wordsNotIn + format.Bytes(s.Budget()), false
		}
		return wordsAgain, price(p), p != nil
	}
	title = wordsOwn
	if !s.StoryOwn() {
		title = choice.PlanName(s.Choice.Strategy)
	}
	return title, price(s.Shown), true
}

// price is what a picture does to its layers, and how much longer its step takes than
// with everything kept: "8 again, 11 out: +8 %".
func price(p *known.Picture) string {
	if p == nil {
		return wordsComing
	}
	again, out := p.Tally()
	var parts []string
	if again > 0 {
		parts = append(parts, format.Count(again)+" again")
	}
	if out > 0 {
		parts = append(parts, format.Count(out)+" out")
	}
	if len(parts) == 0 {
		parts = append(parts, wordsAllKept)
	}
	cost := storyNoSlower
	if all := p.Solved.KeepAll.StepTime; all > 0 && p.Solved.Trace.Makespan > all {
		cost = format.Percent(float64(p.Solved.Trace.Makespan-all) / float64(all))
	}
	return strings.Join(parts, ", ") + ": " + strings.ReplaceAll(cost, " %", "\u00a0%") // a narrow step breaks before the number
}

// The size of the small memory curves, in CSS pixels.
const thumbWidth, thumbHeight = 66, 40

// thumb is the memory curve of a step, as a small picture.
func (c *Story) thumb(step int) string {
	p, _ := c.S.StoryPicture(step)
	t := draw.Thumb{Width: thumbWidth, Height: thumbHeight, Ghost: c.S.Shown.Solved.Ghost, End: c.S.Shown.Solved.Trace.Makespan}
	switch step {
	case view.StoryKeepAll:
		p = nil
	case view.StoryOverLine:
		p, t.Line = nil, c.S.StoryLimit()
	default:
		if p == nil {
			return `<svg class="thumb" width="66" height="40" aria-hidden="true"></svg>`
		}
		t.Line = c.S.StoryLimit()
		t.Model = p.Model()
	}
	var scene draw.Scene
	t.Draw(&scene)
	var b strings.Builder
	if scene.WriteSVG(&b, display.SVGOptions{ID: "story-" + strconv.Itoa(int(step))}) != nil {
		return ""
	}
	return `<span class="thumb">` + b.String() + `</span>`
}
