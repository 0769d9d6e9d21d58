// Package answer is the first thing that is read: does it fit, and what does that cost, in
// a word with a sentence behind it, and the bar of where the memory goes; of schedules and of
// training steps alike. Whatever else gives a verdict has its kinds and its words from here.
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
	"memtide/web/ui/names"
	"memtide/web/ui/panel"
)

// Answer is the first thing that is read: does it fit, and what does that cost;
// with the bar of where the memory goes.
type Answer struct{ S *state.State }

// Kind says how the answer is to look.
func (c *Answer) Kind() string {
	if c.S.Compare != nil && c.S.Visible() != nil && c.over() == nil {
		return versus
	}
	kind, _, _ := c.answer()
	return kind
}

// Word returns the verdict, with what follows it.
func (c *Answer) Word() string {
	if m := c.over(); m != nil {
		return fmt.Sprintf(wordsTooSmall, format.Bytes(m.Budget))
	}
	return Words[c.Kind()]
}

// over returns the budget that is too small, while nothing else is looked at.
func (c *Answer) over() *state.OverBudget {
	if c.S.Preview != nil {
		return nil
	}
	return c.S.OverBudget
}

// Smallest returns the text of the button that sets a budget that would do, or the empty string if
// there is none.
func (c *Answer) Smallest() string {
	if m := c.over(); m != nil && m.Smallest > 0 {
		return "Set " + format.BytesUp(m.Smallest)
	}
	return ""
}

// Sentence returns what stands behind the word.
func (c *Answer) Sentence() string {
	_, sentence, _ := c.answer()
	return sentence
}

// Unsure returns the worst that is not known for sure, or how much stays free.
func (c *Answer) Unsure() string {
	_, _, unsure := c.answer()
	return unsure
}

// Say returns the sentence with what is left out of it on a phone marked.
func (c *Answer) Say() vugu.HTML {
	text := html.EscapeString(c.Sentence())
	return vugu.HTML(strings.Replace(text, wordsThan, `<span class="roomy">`+wordsThan+"</span>", 1))
}

func (c *Answer) answer() (kind, sentence, unsure string) {
	s := c.S
	if m := c.over(); m != nil {
		return DoesNot, tooSmall(s.Choice, m), ""
	}
	n := needed(s)
	if n == nil {
		kind, sentence = c.nothing()
		return kind, sentence, ""
	}
	return n.kind(), n.sentence(), n.unsure()
}

// needed returns what is needed by what the page shows; nil before anything is known.
func needed(s *state.State) *need {
	p := s.Visible()
	switch {
	case s.Step != nil && s.Step.Failed == "" && s.Step.Shown != nil:
		return ofStep(s, s.Step.Shown)
	case s.Step != nil || p == nil || s.Stale() && s.Preview == nil:
		return nil
	}
	return ofPlan(p)
}

// nothing says why there is no verdict.
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

// Sub says what everything needs, and what the plan does.
func (c *Answer) Sub() string {
	p := c.S.Visible()
	switch {
	case c.S.Step != nil:
		return stepSub(c.S)
	case p == nil:
		return ""
	case c.S.Stale() && c.S.Preview == nil:
		return "The pictures show " + shown(c.S) + "."
	}
	if n := ofPlan(p); n.statesOver() {
		return fmt.Sprintf(wordsNoPlan, n.span())
	}
	return fmt.Sprintf(wordsKeepAll, format.Bytes(p.Solved.KeepAll.Peak)) + " " + deeds(p) + room(p)
}

// Title returns the title of the page, of its links and of the files that are saved: what is
// open and its verdict; or what a person calls it.
func Title(s *state.State) string {
	name := names.Of(s)
	n := needed(s)
	if s.View.Frame.Title != "" || s.Memory != nil || s.Compare != nil || n == nil || s.OverBudget != nil {
		return name
	}
	return name + ": " + n.short()
}

// Problem says in a sentence or two what keeps the page from what was asked for, for
// where there is one line; empty if nothing does.
func Problem(s *state.State) string {
	switch {
	case s.OverBudget != nil:
		return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget)) + tooSmall(s.Choice, s.OverBudget)
	case s.Alert != nil:
		return s.Alert.Text
	case s.Step != nil && s.Step.Failed != "":
		return format.Sentence(s.Step.Failed)
	}
	return ""
}

// Late says that what was asked for is still being solved, so that what is shown answers something
// else; the style sheet fades it if that lasts. "rest" says that only the word does not.
func Late(s *state.State) string {
	if s.Step != nil {
		return strconv.FormatBool(s.Step.Shown != nil && s.Late())
	}
	if s.Preview == nil && s.Solving == nil && s.OverBudget != nil {
		return "rest"
	}
	return strconv.FormatBool(s.Solving != nil && s.Preview == nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice))
}

// Work says what is being worked on; empty if nothing is.
func Work(s *state.State) string {
	if o := s.Opening; o != nil {
		return "Reading " + o.Name + "…" + Done(o.Progress)
	}
	if t := s.Step; t.Busy() || t.Chaining() {
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

// Done returns how much of a job is done, behind what it is; empty if that is not known.
func Done(p proto.Progress) string {
	if p.Total <= 0 {
		return ""
	}
	return " " + format.Share(float64(p.Done)/float64(p.Total))
}

// Ended says that an answer was ended before all of it was known; empty if it was not.
func Ended(s *state.State) string {
	if s.Step == nil || Work(s) != "" {
		return ""
	}
	return [...]string{state.NotEnded: "", state.ByPerson: wordsStopped, state.ByLimit: wordsLimit}[s.Step.Ended]
}

// mostEmpty is how many times larger than what is in the bar a card may be to be its end:
// beyond that nothing could be seen in it.
const mostEmpty = 12

// near reports whether the card is of the size of what lies on it, so that its line, the
// allocator and CUDA stand in the bar.
func (n *need) near() bool {
	return n.memory > 0 && n.memory < mostEmpty*max(n.all, n.high)
}

// whole returns what the width of the bar stands for: the card, and if something is longer a
// little more than it, so that a wish does not squeeze the card. It does not depend on the
// budget within the knob's range, so that the bar rests while that is dragged.
func (n *need) whole(budgets ...engine.Bytes) engine.Bytes {
	most := max(n.low, 1)
	for _, b := range budgets {
		most = max(most, b)
	}
	switch {
	case !n.near():
		return max(most, n.all)
	case max(choice.Reserved(n.all)-choice.Context, n.high)+n.context > n.memory:
		return max(most, state.BarEnd(n.memory))
	}
	return max(most, n.memory)
}

// Scale returns what the whole width of the bar of a schedule stands for.
func Scale(s *state.State, p *known.Picture) engine.Bytes {
	return ofPlan(p).whole(s.Budget(), s.KnobRange().To)
}

// bar returns what is needed, with its width, or nil where there is nothing to draw.
func (c *Answer) bar() (*need, engine.Bytes) {
	switch p := c.S.Visible(); {
	case c.S.Step != nil && c.S.Step.Shown != nil && c.S.Step.Failed == "":
		n := ofStep(c.S, Pictured(c.S))
		return n, n.whole()
	case c.S.Step == nil && p != nil && c.S.Memory == nil:
		return ofPlan(p), Scale(c.S, p)
	}
	return nil, 0
}

// Parts returns the pieces of the bar: what lies there at the peak, the allocator and CUDA, and
// what is too much for the card.
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
		add(p.class, p.name+" "+format.Bytes(p.bytes), at+p.bytes)
	}
	if !n.near() {
		return out
	}
	add("alloc", "allocator "+format.Bytes(n.low-at), n.low)
	add("unsure", "allocator, at worst "+format.Bytes(n.high-at), n.high)
	add("cuda", "CUDA "+format.Bytes(n.context), n.to())
	if end := at; end > n.memory {
		at = n.memory
		class, label := "ghost beyond past", fmt.Sprintf(wordsTooMuch, format.Bytes(n.to()-n.memory))
		if room := barWidth * float64(whole-end) / float64(whole); room > letter*float64(len(label)) {
			class += " spills" // its label may go on where the bar is empty
		}
		add(class, label, end)
		return out
	}
	if over := n.all + n.context - n.memory; n.all > 0 && over > 0 {
		at = n.memory
		add("ghost beyond", fmt.Sprintf(wordsTooMuch, format.Bytes(over)), n.all+n.context)
	}
	return out
}

// Key says what lies in the bar, for where its pieces are too narrow to say it.
func (c *Answer) Key() (out []panel.Piece) {
	for _, p := range c.Parts() {
		if !strings.Contains(p.Class, "ghost") {
			out = append(out, p)
		}
	}
	return out
}

// The width that labels above the bar have at least, and about that of a letter.
const (
	barWidth = 1040
	letter   = 6.6
)

// Tops returns the labels above the pieces that have no room for them: those that do not lie on
// each other.
func (c *Answer) Tops() (out []panel.Piece) {
	n, whole := c.bar()
	if n == nil {
		return nil
	}
	at, free := engine.Bytes(0), 0.0
	for _, p := range n.parts {
		middle := barWidth * (float64(at) + float64(p.bytes)/2) / float64(whole)
		at += p.bytes
		label := p.name + " " + format.Bytes(p.bytes)
		half := letter * float64(len(label)) / 2
		if p.class == "fix" || 40*p.bytes < whole || middle-half < free || middle+half > n.topsTo(whole) {
			continue
		}
		out = append(out, panel.Piece{Class: p.class, Label: label, Style: panel.Place(at-p.bytes/2, whole)})
		free = middle + half + letter
	}
	return out
}

// topsTo returns how far labels above the bar may go: to that of keeping everything.
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

// Marks returns the lines across the bar: the card, keeping everything and the budget, with what
// CUDA and the allocator take beside it.
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
		mark("keep beyond", fmt.Sprintf(wordsGoesOn, format.Bytes(n.all)), whole)
	case beyond && n.near():
		words := fmt.Sprintf(wordsKeepMark, format.Bytes(n.all))
		switch long := letter * float64(len(words)); { // clear of the card's line
		case long <= across(n.all-n.memory, whole):
			mark("keep beyond", words, n.all)
		case long < across(whole-n.memory, whole):
			out = append(out, panel.Piece{Class: "keep beyond", Label: words, Style: panel.Place(n.memory, whole)})
		default:
			mark("keep beyond", words, n.memory)
		}
	case !n.near() && n.all > 0:
		mark("keep", fmt.Sprintf(wordsKeepMark, format.Bytes(n.all)), n.all)
	}
	end := n.to()
	if c.S.Step == nil {
		end = c.S.Budget()
		mark("budget", fmt.Sprintf(wordsMark, format.Bytes(end)), end)
	}
	if words := n.aside(); n.near() && 2*end > whole &&
		letter*float64(len(words)+2) < barWidth*float64(whole-end)/float64(whole) {
		out = append(out, panel.Piece{Class: "spare", Label: words, Style: panel.Place(end, whole)})
	}
	return out
}

// across returns how many pixels a part of the bar is wide, about.
func across(part, whole engine.Bytes) float64 { return barWidth * float64(part) / float64(whole) }

// aside says what the allocator and CUDA take.
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
	if at := strings.LastIndexByte(cuda, ' '); at >= 0 {
		words = strings.TrimSuffix(words, cuda[at:])
	}
	return fmt.Sprintf(wordsAside, words, cuda)
}

// BarLabel says the bar in words.
func (c *Answer) BarLabel() string {
	var words []string
	for _, p := range append(c.Parts(), c.Marks()...) {
		if p.Class != "spare" {
			words = append(words, p.Label)
		}
	}
	return OfRank(c.S) + wordsAtPeak + strings.Join(words, ", ")
}

// OfRank begins what is told about the rank that the pictures show, where there are some.
func OfRank(s *state.State) string {
	if s.Step == nil || s.Step.Rank() < 0 {
		return ""
	}
	return fmt.Sprintf("Rank %d. ", s.Step.Rank())
}
