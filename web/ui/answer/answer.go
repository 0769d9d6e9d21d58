// Package answer shows whether the step fits, and what that costs in time: a verdict, a sentence and the bar of
// memory, for schedules and for training steps. Other packages use its verdicts and their words.
package answer

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/panel"
)

// Answer is the verdict with the bar of memory.
type Answer struct{ S *state.State }

// Kind returns the kind of the verdict, one of the constants.
func (c *Answer) Kind() string {
	if c.S.Compare != nil && c.S.Visible() != nil && c.over() == nil {
		return versus
	}
	kind, _, _ := c.answer()
	return kind
}

// Word returns the words of the verdict.
func (c *Answer) Word() string {
	if c.over() != nil && !pending(c.S) {
		return refusal(c.S)
	}
	return Words[c.Kind()]
}

// over returns the budget that is too small, or nil if there is no such budget or a preview is shown.
func (c *Answer) over() *state.OverBudget {
	if c.S.Preview != nil {
		return nil
	}
	return c.S.OverBudget
}

// Smallest returns the text of the button that sets a budget that is large enough, or "" if none is known or needed.
func (c *Answer) Smallest() string {
	m, d := c.over(), state.DeviceOf(c.S.Choice)
	if m == nil || pending(c.S) || m.Smallest == 0 ||
		d != nil && c.S.Choice.Reserved(m.Smallest) > d.Memory && c.S.Choice.Roomy() {
		return ""
	}
	return "Set " + format.BytesUp(m.Smallest)
}

// Sentence returns the sentence after the words of the verdict.
func (c *Answer) Sentence() string {
	_, sentence, _ := c.answer()
	return sentence
}

// Unsure returns a sentence about the largest uncertainty, or about the memory that stays free.
func (c *Answer) Unsure() string {
	_, _, unsure := c.answer()
	return unsure
}

// Why returns the tooltip of Unsure where that names expandable segments, or "".
func (c *Answer) Why() string {
	if n := needed(c.S); n != nil && n.segments && strings.Contains(n.unsure(), "segments") {
		return wordsSegments
	}
	return ""
}

// Say returns Sentence as HTML, with a mark on the words that the style sheet hides on a phone.
func (c *Answer) Say() vugu.HTML {
	text := html.EscapeString(c.Sentence())
	for _, than := range []string{wordsThan, wordsOrder} {
		text = strings.Replace(text, than, `<span class="roomy">`+than+"</span>", 1)
	}
	return vugu.HTML(text)
}

func (c *Answer) answer() (kind, sentence, unsure string) {
	s := c.S
	if pending(s) {
		return Working, wordsBusy, ""
	}
	if m := c.over(); m != nil {
		if p := s.Visible(); p != nil && s.Step == nil {
			unsure = ofShown(s, p).whose()
		}
		return DoesNot, tooSmall(s), unsure
	}
	n := needed(s)
	if n == nil {
		kind, sentence = c.nothing()
		return kind, sentence, ""
	}
	return n.kind(), n.sentence(), n.unsure()
}

// needed returns the need of what the page shows, or nil if it is not known.
func needed(s *state.State) *need {
	p := s.Visible()
	switch {
	case s.Step != nil && s.Step.Failed == "" && s.Step.Shown != nil:
		return ofStep(s, s.Step.Shown)
	case s.Step != nil || p == nil || s.Stale() && s.Preview == nil:
		return nil
	}
	return ofShown(s, p)
}

// nothing returns why there is no verdict.
func (c *Answer) nothing() (kind, sentence string) {
	s := c.S
	switch {
	case s.Step != nil && s.Step.Failed != "":
		return None, format.Sentence(s.Step.Failed)
	case s.Step != nil:
		return Working, wordsBusy
	}
	if w := Work(s); w != "" {
		return Working, w
	}
	if a := s.Alert; a != nil && a.File == "" {
		return None, a.Text
	}
	return Working, "Starting…"
}

// Sub returns the second line: what keeping everything needs, and what the plan does.
func (c *Answer) Sub() string {
	p := c.S.Visible()
	switch {
	case c.S.Step != nil:
		return stepSub(c.S)
	case p == nil:
		return strings.TrimSpace(beyond(c.S))
	case Hopeless(c.S):
		return noPlan(known.StepArgs(p.Choice, p.Network)) + fmt.Sprintf(wordsWithAll, ofShown(c.S, p).everything())
	case exceeded(c.S) != nil && c.over() != nil && way(c.S) != "":
		return fmt.Sprintf(wordsWay, way(c.S))
	case lacking(c.S) != nil && c.S.Preview == nil && p.Network == c.S.Network &&
		p.Choice.MethodKey() == c.S.Choice.MethodKey():
		return deeds(p)
	case c.S.Stale() && c.S.Preview == nil:
		return "The pictures show " + shown(c.S) + "." + beyond(c.S)
	}
	n := ofShown(c.S, p)
	if n.statesOver() {
		return noPlan(known.StepArgs(p.Choice, p.Network)) + fmt.Sprintf(wordsWithAll, n.everything())
	}
	return fmt.Sprintf(wordsKeepAll, n.everything()) + " " + deeds(p) + room(p)
}

// Problem returns a sentence or two about why the page cannot show the choice, or "" if it can.
func Problem(s *state.State) string {
	switch {
	case s.OverBudget != nil:
		return refusal(s) + tooSmall(s) + beyond(s)
	case s.Alert != nil:
		return s.Alert.Text
	case s.Step != nil && s.Step.Failed != "":
		return format.Sentence(s.Step.Failed)
	}
	return ""
}

// Late returns the value of data-late: "true" while the page shows the answer to an earlier choice (the style sheet
// fades it after a while), "rest" if the budget is too small, so that only the verdict is about the present choice,
// otherwise "false".
func Late(s *state.State) string {
	if s.Step != nil {
		return strconv.FormatBool(s.Step.Shown != nil && s.Late())
	}
	switch {
	case s.Preview != nil:
		return "false"
	case s.Earlier():
		return "true"
	case s.OverBudget != nil:
		return "rest"
	}
	return "false"
}

// Late returns data-late of the verdict and the bar: that of the page, but "false" for a step that nothing makes fit,
// whose bar is about the present choice too.
func (c *Answer) Late() string {
	if Hopeless(c.S) {
		return "false"
	}
	return Late(c.S)
}

// Work says what the page is waiting for, or returns "" if it is not waiting.
func Work(s *state.State) string {
	if o := s.Opening; o != nil {
		return "Reading " + o.Name + "…" + Done(o.Progress)
	}
	if t := s.Step; t.Busy() {
		return wordsMoreWork
	}
	w := s.Solving
	switch {
	case w == nil:
		return ""
	case w.Loading:
		return "Loading the solver…"
	case w.Silent:
		return "The solver has said nothing for a while…"
	case w.Best != nil:
		return fmt.Sprintf("Computing the plan… best so far %s", format.Duration(w.Best.Trace.Makespan))
	}
	return "Computing the plan…" + Done(w.Progress)
}

// Done returns a space and the share of p that is done, or "" if that is not known.
func Done(p proto.Progress) string {
	if p.Total <= 0 {
		return ""
	}
	return " " + format.Share(float64(p.Done)/float64(p.Total))
}

// Ended says what ended the answer before it was complete, or returns "" if nothing did.
func Ended(s *state.State) string {
	if s.Step == nil || Work(s) != "" {
		return ""
	}
	return [...]string{state.NotEnded: "", state.ByPerson: wordsStopped, state.ByLimit: wordsLimit}[s.Step.Ended]
}

// near reports whether the bar shows the memory of the card, with the allocator and CUDA.
func (n *need) near() bool { return n.memory > 0 }

// whole returns the bytes of the whole width of the bar: the memory of the card, or a little more if something exceeds
// it. The bar does not grow as much as what exceeds the card. It does not change while the budget is dragged within
// budgets, nor when a policy is known before what it saves.
func (n *need) whole(budgets ...engine.Bytes) engine.Bytes {
	most := max(n.low, 1)
	for _, b := range budgets {
		most = max(most, b)
	}
	switch {
	case !n.near():
		return max(most, n.kept)
	case n.policy, max(choice.Reserved(n.kept)-choice.Context, n.high)+n.context > n.memory:
		return max(most, state.BarEnd(n.memory))
	}
	return max(most, n.memory)
}

// Scale returns the bytes of the whole width of the bar of a schedule.
func Scale(s *state.State, p *known.Picture) engine.Bytes {
	return ofShown(s, p).whole(s.Budget(), s.KnobRange().To)
}

// bar returns what the bar shows and the bytes of its whole width, or nil if there is nothing to draw.
func (c *Answer) bar() (*need, engine.Bytes) {
	switch p := c.S.Visible(); {
	case c.S.Step != nil && c.S.Step.Shown != nil && c.S.Step.Failed == "":
		n := ofStep(c.S, c.S.Step.Shown)
		return n, n.whole()
	case c.S.Step == nil && p != nil && c.S.Memory == nil:
		n, whole := ofShown(c.S, p), Scale(c.S, p)
		if Hopeless(c.S) {
			n.statesOnly(p)
			whole = n.whole()
		}
		return n, whole
	}
	return nil, 0
}

// Parts returns the pieces of the bar: the memory at the peak, the allocator, CUDA, and what exceeds the card.
func (c *Answer) Parts() (out []panel.Piece) {
	n, whole := c.bar()
	if n == nil {
		return nil
	}
	at := engine.Bytes(0)
	add := func(class, label string, to engine.Bytes) {
		if to = min(to, whole); to > at {
			out = append(out, panel.Piece{Class: class, Label: label, Title: label,
				Style: panel.Stretch(at, to, whole)})
			at = to
		}
	}
	for _, p := range n.parts {
		class := p.class
		if n.near() && n.hides(p, at, whole) {
			class += " unnamed" // its label is one of covered
		}
		add(class, p.label(), at+p.bytes)
	}
	if !n.near() {
		return out
	}
	add("alloc", "allocator "+format.Bytes(n.low-at), n.low)
	add("unsure", "allocator, at worst "+format.Bytes(n.high-at), n.high)
	add("cuda", "CUDA "+format.Bytes(n.context), n.to())
	if end := at; end > n.memory {
		at = n.memory
		class, past := "ghost beyond past", fmt.Sprintf(wordsTooMuch, format.Bytes(n.to()-n.memory))
		if across(whole-end, whole) > letter*float64(len(past)) {
			class += " spills" // the label may extend into the empty part of the bar
		}
		add(class, past, end)
		return append(out, n.covered(past, whole)...)
	}
	if n.all > n.memory {
		label := wordsMuch
		if n.played { // as the table has it
			label = fmt.Sprintf(wordsTooMuch, format.Bytes(n.all-n.memory))
		}
		at = n.memory
		add("ghost beyond", label, n.all)
	}
	return out
}

// covered returns the labels of the resident pieces that what exceeds the card covers, behind its own label past.
func (n *need) covered(past string, whole engine.Bytes) (out []panel.Piece) {
	free := n.memory + engine.Bytes(engine.Int64(float64(whole)*letter*float64(len(past)+3)/barWidth))
	at := engine.Bytes(0)
	for _, p := range n.parts {
		from, to := at, min(at+p.bytes, whole)
		if at += p.bytes; n.hides(p, from, whole) && to > max(from, free) {
			out = append(out, panel.Piece{Class: overLabel, Label: p.label(),
				Style: panel.Stretch(max(from, free), to, whole)})
		}
	}
	return out
}

// hides reports whether the resident piece p, which begins at from, extends beyond the memory of the card and has no
// room for its label before it. whole is the width of the bar in bytes.
func (n *need) hides(p part, from, whole engine.Bytes) bool {
	return p.class == "fix" && from+p.bytes > n.memory &&
		across(n.memory-from, whole) < letter*float64(len(p.label())+1)
}

// Key returns the legend of the bar, for screens on which the pieces are too narrow for labels.
func (c *Answer) Key() (out []panel.Piece) {
	for _, p := range c.Parts() {
		if !strings.Contains(p.Class, "ghost") && p.Class != overLabel {
			out = append(out, p)
		}
	}
	return out
}

// overLabel is the class of a piece that is only a label.
const overLabel = "over-label"

const (
	barWidth = 1040 // width of the bar in CSS pixels
	letter   = 6.6  // average width of a letter
)

// Tops returns the labels above the pieces of the bar. It leaves out those that would overlap, or lie across the card's
// line.
func (c *Answer) Tops() (out []panel.Piece) {
	n, whole := c.bar()
	if n == nil {
		return nil
	}
	at, free, line := engine.Bytes(0), 0.0, across(n.memory, whole)
	for _, p := range n.parts {
		middle := barWidth * (float64(at) + float64(p.bytes)/2) / float64(whole)
		at += p.bytes
		label := p.label()
		half := letter * float64(len(label)) / 2
		if p.class == "fix" || 40*p.bytes < whole || middle-half < free || middle+half > n.topsTo(whole) ||
			n.near() && middle-half < line && line < middle+half {
			continue
		}
		out = append(out, panel.Piece{Class: p.class, Label: label, Style: panel.Place(at-p.bytes/2, whole)})
		free = middle + half + letter
	}
	return out
}

// topsTo returns the right end of the room for Tops, in CSS pixels: the label of keeping everything.
func (n *need) topsTo(whole engine.Bytes) float64 {
	if n.all <= n.memory || n.all <= n.to() {
		return barWidth
	}
	at := across(min(n.all, whole), whole)
	long := letter * float64(len(wordsKeepMark)+6)
	if n.near() && n.all <= whole && long > across(n.all-n.memory, whole) {
		at = across(n.memory, whole)
	}
	return at - letter*float64(len(wordsGoesOn)+6)
}

// Marks returns the lines across the bar, with their labels: the card, keeping everything and the budget, and a label
// with what CUDA and the allocator need.
func (c *Answer) Marks() (out []panel.Piece) {
	n, whole := c.bar()
	if n == nil {
		return nil
	}
	mark := func(class, label string, at engine.Bytes) {
		out = append(out, panel.Piece{Class: panel.Side(class, at, whole), Label: label, Style: panel.Place(at, whole)})
	}
	if n.near() {
		mark("device", fmt.Sprintf(wordsHas, n.cards, format.Bytes(n.memory)), n.memory)
	}
	switch beyond := n.all > n.memory && n.all > n.to(); {
	case beyond && n.all > whole:
		mark("keep beyond", fmt.Sprintf(wordsGoesOn, n.everything()), whole)
	case beyond && n.near():
		words := fmt.Sprintf(wordsKeepMark, n.everything())
		switch long := letter * float64(len(words)); { // clear of the card's line
		case long <= across(n.all-n.memory, whole):
			mark("keep beyond", words, n.all)
		case long < across(whole-n.memory, whole):
			out = append(out, panel.Piece{Class: "keep beyond", Label: words, Style: panel.Place(n.memory, whole)})
		default:
			mark("keep beyond", words, n.memory)
		}
	case !n.near() && n.kept > 0:
		mark("keep", fmt.Sprintf(wordsKeepMark, format.Bytes(n.kept)), n.kept)
	}
	end := n.to()
	if c.S.Step == nil && !Hopeless(c.S) {
		end = c.S.Budget()
		mark("budget", fmt.Sprintf("plan may use %s", format.Bytes(end)), end)
	}
	if words := n.aside(); n.near() && 2*end > whole &&
		letter*float64(len(words)+2) < barWidth*float64(whole-end)/float64(whole) {
		out = append(out, panel.Piece{Class: "spare", Label: words, Style: panel.Place(end, whole)})
	}
	return out
}

// across returns the approximate width of a part of the bar in CSS pixels.
func across(part, whole engine.Bytes) float64 { return barWidth * float64(part) / float64(whole) }

// aside says what the allocator and CUDA need.
func (n *need) aside() string {
	held := engine.Bytes(0)
	for _, p := range n.parts {
		held += p.bytes
	}
	sure, most := max(n.low-held, 0), max(n.high-held, 0)
	words, cuda := "up to "+format.Bytes(most), format.Bytes(n.context)
	if sure > 0 {
		words = format.Range(sure, most)
	}
	if at := strings.LastIndexByte(cuda, ' '); at >= 0 && strings.Count(words, "B") == 1 { // one unit, said once
		words = strings.TrimSuffix(words, cuda[at:])
	}
	return fmt.Sprintf("allocator %s, CUDA %s", words, cuda)
}

// BarLabel describes the bar in words, for screen readers.
func (c *Answer) BarLabel() string {
	var words []string
	for _, p := range append(c.Parts(), c.Marks()...) {
		if p.Class != "spare" {
			words = append(words, p.Label)
		}
	}
	return "Memory at the peak of the step: " + strings.Join(words, ", ")
}
