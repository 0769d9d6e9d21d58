// Package step is the page of a whole training step of a language model: its controls, the
// answer, the step's phases and ranks, and what would change it.
package step

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/panel"
)

// Page is a whole training step of a language model: does it train on these cards, what
// fills them and when, and what would change that.
type Page struct{ S *state.State }

// reply is what is known; nil before anything is.
func (c *Page) reply() *proto.Stepped { return c.S.Step.Shown }

// pictured is what the pictures show: the answer, or what another rank holds.
func (c *Page) pictured() *proto.Stepped {
	r := c.reply()
	at := c.S.Step.Rank()
	if at < 0 || at == r.Full {
		return r
	}
	of, rank := *r, r.Ranks[at]
	of.Low, of.High, of.Allocated, of.Phase, of.Phases = rank.Low, rank.High, rank.Allocated, rank.Phase, rank.Phases
	return &of
}

// ofRank begins what is told about the rank that the pictures show, where there are some.
func (c *Page) ofRank() string {
	if at := c.S.Step.Rank(); at >= 0 {
		return fmt.Sprintf(wordsRank, at) + ". "
	}
	return ""
}

// Late is "true" if what stands here answers something else than what is chosen.
func (c *Page) Late() string {
	return strconv.FormatBool(c.reply() != nil && c.S.Late())
}

// card is how one of the cards is called in a sentence.
func (c *Page) card() string {
	if d := card.Lookup(ask.Value(c.S.Choice.StepArgs, "device")); d != nil {
		return d.Short()
	}
	return c.reply().Card
}

// cards is where the numbers are of: the card, or each of several.
func (c *Page) cards() string {
	if n := c.reply().GPUs; n > 1 {
		return fmt.Sprintf("each of %d %s", n, c.card())
	}
	return "one " + c.card()
}

// Kind says how the answer is to look.
func (c *Page) Kind() string {
	r := c.reply()
	switch {
	case c.S.Step.Failed != "":
		return answer.None
	case r == nil:
		return answer.Working
	case r.Fit == proto.Fits:
		return answer.Fits
	case r.Fit == proto.FitsNot:
		return answer.DoesNot
	case (r.Low+r.High)/2+r.Context <= r.Memory:
		return answer.Probably
	}
	return answer.MayNot
}

// Word is the verdict, with what follows it.
func (c *Page) Word() string { return answer.Words[c.Kind()] }

// stepNeeds is what a card has to have, with CUDA, from and to.
func stepNeeds(r *proto.Stepped) string { return format.Range(r.Low+r.Context, r.High+r.Context) }

// statesOver says that weights, gradients and optimizer alone are more than a card has.
func (c *Page) statesOver() bool {
	r := c.reply()
	return r.Fit == proto.FitsNot && r.States+r.Context > r.Memory
}

// Sentence is what stands behind the word.
func (c *Page) Sentence() string {
	r := c.reply()
	switch {
	case c.S.Step.Failed != "":
		return format.Sentence(c.S.Step.Failed)
	case r == nil:
		return wordsStepBusy
	case c.statesOver():
		return fmt.Sprintf(wordsStatesOver, format.Bytes(r.States), c.cards(), format.Bytes(r.Memory))
	case r.Fit == proto.Fits:
		return fmt.Sprintf(wordsStepFits, stepNeeds(r), format.Bytes(r.Memory), c.cards())
	}
	return fmt.Sprintf(wordsStepOver, stepNeeds(r), c.cards(), format.Bytes(r.Memory))
}

// Work says that more is being looked for, or why it no longer is, and what a button does
// about it, as a command and in a word; empty if all is known.
func (c *Page) Work() (say, do, label string) {
	switch t := c.S.Step; {
	case t.Busy() || t.Chaining():
		return wordsAtWork, "stop", "Stop"
	case t.Ended == state.ByLimit:
		return wordsLimit, "step-on", "Go on"
	case t.Ended == state.ByPerson:
		return wordsStopped, "step-on", "Go on"
	}
	return "", "", ""
}

// Notes say what has to be known of the card beside the answer.
func (c *Page) Notes() string {
	if c.reply() == nil {
		return ""
	}
	return strings.Join(c.reply().Notes, " ")
}

// Sub says what is reserved, for what.
func (c *Page) Sub() string {
	r := c.reply()
	if r == nil || c.S.Step.Failed != "" {
		return ""
	}
	text := fmt.Sprintf(wordsPyTorch, format.Range(r.Low, r.High), format.Bytes(r.Allocated)) + fmt.Sprintf(wordsBeside, format.Bytes(r.Context))
	if c.statesOver() {
		text = wordsStatesSay + text
	}
	if len(r.Ranks) > 0 {
		text = fmt.Sprintf(wordsFullest, r.Full) + text
	}
	switch {
	case r.Experts:
		text += wordsExperts
	case r.Fit == proto.Unsure:
		text += wordsErrs
	}
	return text
}

// whole is what the width of the bar stands for.
func (c *Page) whole() engine.Bytes {
	r := c.pictured()
	return max(r.High+r.Context, r.Memory, 1)
}

// Parts are the pieces of the bar: what lives at the peak, what the allocator takes
// beyond it, the range of that, and what is assumed beside it.
func (c *Page) Parts() (out []panel.Piece) {
	r := c.pictured()
	if r == nil {
		return nil
	}
	whole, at := c.whole(), engine.Bytes(0)
	add := func(class, words string, to engine.Bytes) {
		if to > at {
			out = append(out, panel.Piece{Class: class, Label: words + " " + format.Bytes(to-at), Title: words + " " + format.Bytes(to-at), Style: panel.Stretch(at, to, whole)})
			at = to
		}
	}
	for _, p := range r.Phases[r.Phase].Parts {
		add(string(p.Kind), p.Name, at+p.Bytes)
	}
	add("alloc", wordsOverhead, r.Low)
	if r.Experts {
		add("unsure", wordsUnsureLoad, r.High)
	}
	add("unsure", wordsUnsure, r.High)
	add("cuda", wordsCUDA, at+r.Context)
	if at > r.Memory {
		end := at
		at = r.Memory
		add("ghost beyond past", wordsPast, end)
	}
	return out
}

// Key says what lies in the bar, with its sizes.
func (c *Page) Key() (out []panel.Piece) {
	for _, p := range c.Parts() {
		if !strings.Contains(p.Class, "ghost") {
			out = append(out, p)
		}
	}
	return out
}

// Marks are the lines across the bar: what the card has, and what is left.
func (c *Page) Marks() (out []panel.Piece) {
	r := c.pictured()
	if r == nil {
		return nil
	}
	whole, end := c.whole(), r.High+r.Context
	out = append(out, panel.Piece{Class: panel.Side("device", r.Memory, whole), Label: fmt.Sprintf(wordsCardHas, c.cards(), format.Bytes(r.Memory)), Style: panel.Place(r.Memory, whole)})
	if end < r.Memory-whole/10 { // there is room for the words
		out = append(out, panel.Piece{Class: "spare", Label: fmt.Sprintf(wordsSpare, format.Bytes(r.Memory-end)), Style: panel.Place(end, whole)})
	}
	return out
}

// BarLabel says the bar in words.
func (c *Page) BarLabel() string {
	var words []string
	for _, p := range append(c.Key(), c.Marks()...) {
		words = append(words, p.Label)
	}
	return c.ofRank() + "Memory of a card at the peak of the step: " + strings.Join(words, ", ")
}

// Numbers are the peak, the step's time and the rate.
func (c *Page) Numbers() []panel.Number {
	peak, phase, step, rate := "–", "peak", "–", "–"
	if r := c.pictured(); r != nil {
		peak, phase, step, rate = format.Bytes(r.Allocated), "peak, in the "+r.Phases[r.Phase].Name, format.Duration(r.Time), format.Count(int(r.Rate))
	}
	return []panel.Number{
		{ID: "whole-peak", Label: phase, Value: peak, Title: "The most that is allocated at a moment"},
		{ID: "whole-time", Label: "per step, an estimate", Value: step, Title: "From rates and shares of the card's peak: about 20 % for dense models on one node, an order of size elsewhere"},
		{ID: "whole-rate", Label: "tokens per second and card", Value: rate},
	}
}

// Answer is a question that is answered by a number, and a way on.
type Answer struct {
	ID, Do, Arg, Value string
	question, answer   string
	Off                bool // there is nothing to press

	_ [0]func() // never compared, see choice.Field
}

// HTML is what stands on its button.
func (a Answer) HTML() vugu.HTML {
	return vugu.HTML("<span>" + html.EscapeString(a.question) + "</span><b>" + html.EscapeString(a.answer) + "</b>")
}

// Answers are the most and the fewest that fit, each to be taken by a click, and the
// step's schedule.
func (c *Page) Answers() []Answer {
	var r proto.Stepped
	if c.reply() != nil {
		r = *c.reply()
	}
	number := func(id, arg, question, unit string, n int64, done int) Answer {
		a := Answer{ID: id, Do: "step-set", Arg: arg, question: question, Value: strconv.FormatInt(n, 10)}
		switch {
		case c.S.Step.Failed != "":
			a.answer, a.Off = "–", true
		case r.Done < done && c.S.Step.Ended != state.NotEnded:
			a.answer, a.Off = "–", true
		case r.Done < done:
			a.answer, a.Off = "…", true
		case n == 0 && r.Fit == proto.Unsure:
			a.answer, a.Off = wordsNoneSure, true
		case n == 0:
			a.answer, a.Off = wordsNone, true
		default:
			a.answer = format.Count(int(n)) + unit
		}
		return a
	}
	return []Answer{
		number("longest", "seq", "Longest sequence that fits", " tokens", r.Longest, 4),
		number("most", "batch", "Most sequences at once", "", r.Batch, 5),
		number("fewest", "gpus", "Fewest cards", "", r.Fewest, 5),
		{ID: "chain", Do: "step-chain", question: wordsExplore, answer: "Explore its schedule", Off: c.reply() == nil || c.S.Late()},
	}
}

// changed says how a step's time differs.
func changed(now, then time.Duration) string {
	if now <= 0 {
		return ""
	}
	if p := format.Percent(format.Longer(then, now)); p != "0 %" {
		return p
	}
	return "no slower"
}
