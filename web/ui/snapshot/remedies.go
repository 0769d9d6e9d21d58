package snapshot

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/export"
	"memtide/web/ui/mount"
)

// Remedies is the section below the pictures of a memory snapshot: the memory in use by call stack, replays with other
// settings, and what grows from step to step.
type Remedies struct {
	S     *state.State
	Hosts mount.Hosts
}

// Hidden reports whether the report is not known yet.
func (c *Remedies) Hidden() bool { return report(c.S) == nil }

// Head returns the heading of the flame graph, with its time.
func (c *Remedies) Head() vugu.HTML {
	if c.Hidden() {
		return `<p class="sr" id="flame-help"></p>`
	}
	return vugu.HTML(fmt.Sprintf(`<div class="panel-head"><h2>%s</h2><span class="push"></span><button class="button small" type="button" data-do="flame-out">%s</button><button class="button small" type="button" data-do="flame-svg" title="%s">SVG</button></div><p class="note" data-testid="flame-moment">%s</p><p class="sr" id="flame-help">%s</p>`,
		wordsFlame, "Back out", "Save it as a picture", moment(c.S),
		"A click or Enter makes a call as wide as the picture; Escape goes back. Arrow keys go from call to call."))
}

// FlameHeight returns the style of the graph's element.
func (c *Remedies) FlameHeight() string {
	if m := c.S.Flame(); m != nil {
		return fmt.Sprintf("height:%gpx", m.Height())
	}
	return "height:0"
}

// FlameLabel returns the accessible name of the graph.
func (c *Remedies) FlameLabel() string {
	if m := c.S.Flame(); m != nil {
		return wordsFlame + ". " + m.Summary() + " " + m.Sentence(c.S.Flame().Marked())
	}
	return wordsFlame
}

// Tried is a setting that was replayed.
type Tried struct {
	Line             string // environment variable and value; empty for the defaults
	title, words     string
	good, bad        bool    // the setting is advised; with it a request finds no room
	same             bool    // it changes nothing: the replay is that of PyTorch's default
	before, reserved float64 // the most reserved bytes of the run and of the replay, as shares of the longest bar
}

// tried returns the settings that have been replayed. When all are known, they are ordered by Tried.precedes.
func (c *Remedies) tried() (out []Tried) {
	r, d := report(c.S), c.S.Doctor()
	most, advised, first := r.PeakReserved, "", Tried{}
	for _, v := range d.Replays {
		most = max(most, v.Reserved)
	}
	if d.Advice != nil {
		advised = d.Advice.Line
	}
	for _, v := range d.Replays {
		x := Tried{title: "PyTorch's default", words: format.Bytes(v.Reserved), before: share(r.PeakReserved, most),
			reserved: share(v.Reserved, most)}
		if v.Setting != "" {
			x.title, x.Line = v.Setting, doctor.Line(v.Setting)
		}
		if v.Fits != nil {
			x.words += ", " + map[bool]string{true: "all find room", false: "a request finds no room"}[*v.Fits]
			x.bad = !*v.Fits
		}
		x.good = advised != "" && x.Line == advised
		x.same = len(out) > 0 && !x.good && v.Reserved == d.Replays[0].Reserved && x.bad == first.bad
		if len(out) == 0 {
			first = x
		}
		out = append(out, x)
		for at := len(out) - 1; at > 0 && (d.Advice != nil || out[at-1].same) && x.precedes(&out[at-1]); at-- {
			out[at], out[at-1] = out[at-1], out[at]
		}
	}
	return out
}

// precedes reports whether x comes before y: first the advised setting, then those that find room for all requests,
// then those that reserve less, and last those that change nothing.
func (x *Tried) precedes(y *Tried) bool {
	switch {
	case x.good != y.good:
		return x.good
	case x.same != y.same:
		return y.same
	case x.bad != y.bad:
		return y.bad
	}
	return x.reserved < y.reserved
}

// mostTried is the number of settings that are shown without unfolding.
const mostTried = 5

// Help returns the advice and the replays, escaped.
func (c *Remedies) Help() vugu.HTML {
	if c.Hidden() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<h2>What would help?</h2><p data-testid="remedy" aria-live="polite">%s</p>`,
		html.EscapeString(advice(c.S)))
	if line := html.EscapeString(line(c.S)); line != "" {
		fmt.Fprintf(&b, `<p class="line"><code data-testid="remedy-line">%s</code><button class="button small" type="button" data-do="copy-line" data-arg="%[1]s">Copy</button></p>`, line)
	}
	if report(c.S).Recorded == 0 {
		return vugu.HTML(b.String())
	}
	fmt.Fprintf(&b, `<p class="note">The same requests from an empty cache, under other settings of the allocator: what they reserve at most, and above it the %s of the run. A click copies a setting.</p><div class="betters" data-testid="replays">`,
		format.Bytes(report(c.S).PeakReserved))
	all, folded := c.tried(), false
	for i := range all {
		if !folded && (all[i].same || i == mostTried) {
			words := profiles.Count(len(all)-i, "more setting")
			if folded = true; all[i].same {
				words += " without effect"
			}
			fmt.Fprintf(&b, `<details><summary class="unfold">%s</summary>`, words)
		}
		all[i].html(&b)
	}
	if folded {
		b.WriteString("</details>")
	}
	if n := len(all); c.S.Examining() == proto.PartReplay {
		fmt.Fprintf(&b, `<p class="note">%d of %d settings replayed</p>`, n, doctor.Settings)
	}
	b.WriteString("</div>")
	return vugu.HTML(b.String())
}

// Under returns what is below the replays: buttons that stop and resume them, and why they failed.
func (c *Remedies) Under() vugu.HTML {
	d := c.S.Doctor()
	switch {
	case c.Hidden():
		return ""
	case c.S.Examining() == proto.PartReplay:
		return `<span class="working"><span class="spinner" aria-hidden="true"></span>Replaying…` +
			`<button class="button small" type="button" data-do="replays-stop">Stop</button></span>`
	case d.Failed != "":
		return vugu.HTML(`<p class="note">` + html.EscapeString(format.Sentence(d.Failed)) + `</p>`)
	case d.Stopped && d.Advice == nil:
		return vugu.HTML(fmt.Sprintf(`<button class="unfold" type="button" data-do="replays-go">Replay the other %d</button>`, doctor.Settings-len(d.Replays)))
	}
	return ""
}

func share(part, whole engine.Bytes) float64 {
	return float64(part) / math.Max(float64(whole), 1)
}

// html writes the row of a setting, with bars of the run and of the replay.
func (x *Tried) html(b *strings.Builder) {
	class, bar, off := "", "bar-after", ""
	if x.good {
		class = "good"
	}
	if x.bad {
		class, bar = "bad", "bar-bad"
	}
	if x.Line == "" {
		off = " disabled"
	}
	const width = 92
	fmt.Fprintf(b, `<button class="gain" type="button" data-do="copy-line" data-arg="%s" title="Copy the setting"%s><span><b>%s</b><small class="%s">%s</small></span><svg viewBox="0 0 %d 18" aria-hidden="true"><rect class="bar-now" y="2" width="%.1f" height="5"/><rect class="%s" y="10" width="%.1f" height="6"/></svg></button>`,
		x.Line, off, x.title, class, x.words, width, width*x.before, bar, math.Max(width*x.reserved, 2))
}

// Growth returns what grows from step to step, escaped.
func (c *Remedies) Growth() vugu.HTML {
	if c.Hidden() {
		return ""
	}
	r, text, rows := report(c.S), "Fewer than three steps can be told apart.", ""
	g := r.Growth
	switch {
	case r.Recorded == 0:
		text = "Nothing tells without events."
	case !r.Trains:
		text = "No stack is of a backward or of an optimizer, so steps cannot be told."
	case g != nil:
		text = fmt.Sprintf("Nothing grows over %s.", profiles.Count(g.Steps, "step"))
	}
	if g != nil && len(g.Leaks) > 0 {
		text = fmt.Sprintf("%s more with each of %s.", format.Bytes(g.PerStep), profiles.Count(g.Steps, "step"))
		for _, l := range g.Leaks {
			rows += fmt.Sprintf(`<tr class="by-%s"><th scope="row">%s</th><td>%s</td><td>%s</td></tr>`,
				useNames[known.UseOf(l.Category)].by, html.EscapeString(l.Site),
				fmt.Sprintf("%s per step", format.Bytes(l.PerStep)),
				fmt.Sprintf("%s in %s so far", format.Bytes(l.Bytes), profiles.Count(l.Count, "buffer")))
		}
		rows = `<table class="parts"><tbody>` + rows + `</tbody></table>`
	}
	return vugu.HTML(`<h2>What grows from step to step</h2><p data-testid="growth">` + text + `</p>` + rows)
}

// FlameSentence describes the call that the keyboard has marked.
func FlameSentence(s *state.State) string {
	if m := s.Flame(); m != nil {
		return m.Sentence(s.Flame().Marked())
	}
	return ""
}

// FlameFile returns the flame graph as a picture. It returns false if there is no flame graph.
func FlameFile(s *state.State) (export.File, bool) {
	m := s.Flame()
	if m == nil {
		return export.File{}, false
	}
	var scene, whole draw.Scene
	m.Draw(&scene, draw.Flames, draw.View{Width: export.FigureWidth, Selected: s.Flame().Zoomed()})
	draw.Headed(&whole, &scene, draw.Heading{Title: wordsFlame, Lines: []string{s.Memory.File + ": " + moment(s)}})
	return export.SVG(export.NameFor(s.Memory.File+" stacks", "svg"), &whole, display.Light, "")
}
