package ui

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// Remedies are what follows the pictures of a memory snapshot: what is held by call
// stack, what other settings would have reserved, and what grows from step to step.
type Remedies struct {
	S     *state.State
	Hosts Hosts
}

func (c *Remedies) report() *doctor.Report { return (&Doctor{S: c.S}).report() }

// Hidden says that there is nothing to tell yet.
func (c *Remedies) Hidden() bool { return c.report() == nil }

func bufferTarget(i int) draw.Target { return draw.Target{Kind: draw.OnBuffer, Index: i} }

// Moment says which moment the flame graph is of.
func (c *Remedies) Moment() string {
	r, a := c.report(), c.S.Alive()
	switch {
	case r == nil:
		return ""
	case a != r.Alive:
		return momentOf(wordsAtEvent, a)
	case r.Failure != nil:
		return momentOf(wordsWhenFailed, a)
	}
	return momentOf(wordsAtThePeak, a)
}

// FlameHeight is the style of the graph's element.
func (c *Remedies) FlameHeight() string {
	if m := c.S.FlameModel(); m != nil {
		return fmt.Sprintf("height:%gpx", m.Height())
	}
	return "height:0"
}

// FlameLabel is the accessible name of the graph.
func (c *Remedies) FlameLabel() string {
	if m := c.S.FlameModel(); m != nil {
		return wordsFlame + ". " + m.Summary() + " " + m.Sentence(c.S.FlameMarked())
	}
	return wordsFlame
}

// Replayed explains the bars.
func (c *Remedies) Replayed() string {
	if r := c.report(); r != nil {
		return fmt.Sprintf(wordsReplayed, "the "+format.Bytes(r.PeakReserved))
	}
	return ""
}

// Tried is a setting with what it reserves at most.
type Tried struct {
	Line             string // environment variable and value; empty: nothing is set
	title, words     string
	good, bad        bool    // it is the one that is advised; a request finds no room
	before, reserved float64 // lengths of the bars, shares of the longest
}

// Tried are the settings that have been replayed: the one that is advised first and
// then those that find room for all and reserve least, once all are there.
func (c *Remedies) Tried() (out []Tried) {
	r, d := c.report(), c.S.Doctor()
	if r == nil {
		return nil
	}
	list := slices.Clone(d.Replays)
	most := r.PeakReserved
	for _, v := range list {
		most = max(most, v.Reserved)
	}
	advised, fits := "", func(v *doctor.Replay) bool { return v.Fits == nil || *v.Fits }
	if d.Advice != nil {
		advised = d.Advice.Line
		rank := func(v *doctor.Replay) int {
			switch {
			case v.Setting != "" && doctor.Line(v.Setting) == advised:
				return 0
			case fits(v):
				return 1
			}
			return 2
		}
		slices.SortStableFunc(list, func(a, b doctor.Replay) int {
			return cmp.Or(rank(&a)-rank(&b), cmp.Compare(a.Reserved, b.Reserved))
		})
	}
	for i := range list {
		v := &list[i]
		x := Tried{title: wordsDefault, words: format.Bytes(v.Reserved), before: share(r.PeakReserved, most), reserved: share(v.Reserved, most)}
		if v.Setting != "" {
			x.title, x.Line = v.Setting, doctor.Line(v.Setting)
		}
		if v.Fits != nil {
			x.words += ", " + map[bool]string{true: wordsAllFit, false: wordsNoRoom}[*v.Fits]
			x.bad = !*v.Fits
		}
		x.good = advised != "" && x.Line == advised
		out = append(out, x)
	}
	return out
}

// mostTried is how many settings stand there unfolded.
const mostTried = 5

// First are the settings that stand there unfolded.
func (c *Remedies) First() []Tried {
	all := c.Tried()
	return all[:min(len(all), mostTried)]
}

// Others are the settings after those.
func (c *Remedies) Others() []Tried {
	all := c.Tried()
	return all[min(len(all), mostTried):]
}

// OthersText unfolds them.
func (c *Remedies) OthersText() string {
	return fmt.Sprintf(wordsOthers, profiles.Count(len(c.Others()), "other setting"))
}

func share(part, whole engine.Bytes) float64 {
	return float64(part) / math.Max(float64(whole), 1)
}

// Title says what a click does.
func (x Tried) Title() string {
	if x.Line == "" {
		return ""
	}
	return fmt.Sprintf(wordsCopyLine, x.Line)
}

// HTML is what stands in a row: the setting, and the bars of the run and of the replay.
func (x Tried) HTML() vugu.HTML {
	class, bar := "", "bar-after"
	if x.good {
		class = "good"
	}
	if x.bad {
		class, bar = "bad", "bar-bad"
	}
	const width = 92
	return vugu.HTML(fmt.Sprintf(`<span><b>%s</b><small class="%s">%s</small></span><svg viewBox="0 0 %d 18" aria-hidden="true"><rect class="bar-now" y="2" width="%.1f" height="5"/><rect class="%s" y="10" width="%.1f" height="6"/></svg>`,
		html.EscapeString(x.title), class, html.EscapeString(x.words), width, width*x.before, bar, math.Max(width*x.reserved, 2)))
}

// Work says how far the replays are; empty if none is under way.
func (c *Remedies) Work() string {
	if c.S.Examining() != proto.PartReplay {
		return ""
	}
	return fmt.Sprintf(wordsReplaying, len(c.S.Doctor().Replays), doctor.Settings)
}

// GoText is the button that goes on with replays that were stopped; empty if they were
// not, or have failed.
func (c *Remedies) GoText() string {
	d := c.S.Doctor()
	if d == nil || !d.Stopped || d.Advice != nil {
		return ""
	}
	return "Replay the other " + strconv.Itoa(doctor.Settings-len(d.Replays))
}

// Failed says why there are no more replays; empty if nothing failed.
func (c *Remedies) Failed() string {
	if d := c.S.Doctor(); d != nil && d.Report != nil && d.Failed != "" {
		return SentenceOf(d.Failed)
	}
	return ""
}

// Line is what to set; empty if no setting helps or that is not known yet.
func (c *Remedies) Line() string {
	if d := c.S.Doctor(); d != nil && d.Advice != nil {
		return d.Advice.Line
	}
	return ""
}

// Short is what to do, in one sentence.
func (c *Remedies) Short() string {
	if line := c.Line(); line != "" {
		return fmt.Sprintf(wordsShort, line)
	}
	return c.Advice()
}

// Advice is what to do; what to set stands in Line.
func (c *Remedies) Advice() string {
	d := c.S.Doctor()
	if d == nil || d.Advice == nil {
		return ""
	}
	switch a := d.Advice; a.Verdict {
	case doctor.Setting:
		if d.Report.Failure != nil {
			return wordsRemedyFits
		}
		return fmt.Sprintf(wordsRemedyLess, format.Bytes(a.Saves))
	case doctor.TooMuch:
		return fmt.Sprintf(wordsTooMany, format.BytesUp(a.Lacks))
	case doctor.Fragments:
		if v := d.Replays[0]; v.Fits != nil && *v.Fits {
			return wordsEmptyCache
		}
		return wordsPieces
	}
	return wordsNoSetting
}

// LineCopied says that a line was copied.
func LineCopied(line string) string { return fmt.Sprintf(wordsCopied, line) }

// LineToType says that the browser copies nothing.
func LineToType(line string) string { return fmt.Sprintf(wordsToCopy, line) }

// Growth says whether anything grows.
func (c *Remedies) Growth() string {
	r := c.report()
	switch {
	case r == nil:
		return ""
	case r.Growth == nil:
		return wordsFewSteps
	case len(r.Growth.Leaks) == 0:
		return fmt.Sprintf(wordsNoGrowth, profiles.Count(r.Growth.Steps, "step"))
	}
	return fmt.Sprintf(wordsGrowth, format.Bytes(r.Growth.PerStep), profiles.Count(r.Growth.Steps, "step"))
}

// Leaks are the places that grow, as a table. Everything in it is escaped.
func (c *Remedies) Leaks() vugu.HTML {
	r := c.report()
	if r == nil || r.Growth == nil || len(r.Growth.Leaks) == 0 {
		return ""
	}
	text := `<table class="parts"><tbody>`
	for _, l := range r.Growth.Leaks {
		text += fmt.Sprintf(`<tr class="by-%s"><th scope="row">%s</th><td>%s</td><td>%s</td></tr>`, useNames[state.UseOf(l.Category)].by, html.EscapeString(l.Site),
			fmt.Sprintf(wordsPerStep, format.Bytes(l.PerStep)), fmt.Sprintf(wordsKeptSoFar, format.Bytes(l.Bytes), profiles.Count(l.Count, "buffer")))
	}
	return vugu.HTML(text + `</tbody></table>`)
}

// doctorCommand is what a command about a snapshot means; nil for others.
func (c Command) doctorCommand() state.Message {
	switch c.Do {
	case "show-buffer":
		return state.ShowBuffer{Buffer: c.Index}
	case "replays-stop":
		return state.StopReplays{}
	case "replays-go":
		return state.StopReplays{Go: true}
	case "flame-out":
		return state.ZoomOut{}
	case "recording-device":
		if n, err := strconv.Atoi(c.Value); err == nil && c.Settled {
			return state.OpenDevice{Device: n}
		}
	}
	return nil
}

// FlameKey is what a key does while the flame graph has the focus.
func FlameKey(k Key, s *state.State) state.Message {
	switch k.Key {
	case "ArrowLeft":
		return state.MarkCall{Right: -1}
	case "ArrowRight":
		return state.MarkCall{Right: 1}
	case "ArrowUp":
		return state.MarkCall{Down: -1}
	case "ArrowDown":
		return state.MarkCall{Down: 1}
	case "Enter":
		return state.ZoomCall{Call: s.FlameMarked().Index}
	case "Backspace":
		return state.ZoomOut{}
	}
	return nil
}

// FlameSentence says what the keyboard is at.
func FlameSentence(s *state.State) string {
	if m := s.FlameModel(); m != nil {
		return m.Sentence(s.FlameMarked())
	}
	return ""
}

// FlameFile is the flame graph as a picture; false if there is none.
func FlameFile(s *state.State) (File, bool) {
	m := s.FlameModel()
	if m == nil {
		return File{}, false
	}
	var scene, whole draw.Scene
	m.Draw(&scene, draw.Flames, draw.View{Width: figureWidth, Selected: s.FlameZoom()})
	draw.Headed(&whole, &scene, draw.Heading{Title: wordsFlame, Lines: []string{s.Memory.File + ": " + (&Remedies{S: s}).Moment()}})
	theme := draw.Light
	var b bytes.Buffer
	if whole.WriteSVG(&b, draw.SVGOptions{Standalone: true, Theme: &theme, Surface: true}) != nil {
		return File{}, false
	}
	return File{Name: plainName(s.Memory.File+" stacks", maxFileName) + ".svg", Type: "image/svg+xml", Bytes: b.Bytes()}, true
}
