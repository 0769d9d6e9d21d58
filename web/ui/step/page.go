// Package step is what is told of a whole training step of a language model below its answer:
// its controls, its phases and ranks, and what would change it.
package step

import (
	"fmt"
	"html"
	"strconv"
	"time"

	"github.com/vugu/vugu"

	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/mount"
)

// Page is a whole training step of a language model: does it train on these cards, what
// fills them and when, and what would change that.
type Page struct {
	S     *state.State
	Hosts mount.Hosts
}

// reply returns what is known; nil before anything is.
func (c *Page) reply() *proto.Stepped { return c.S.Step.Shown }

// pictured returns what the pictures show: the answer, or what another rank holds.
func (c *Page) pictured() *proto.Stepped { return answer.Pictured(c.S) }

// ofRank begins what is told about the rank that the pictures show, where there are some.
func (c *Page) ofRank() string {
	if at := c.S.Step.Rank(); at >= 0 {
		return fmt.Sprintf(wordsRank, at) + ". "
	}
	return ""
}

// Answer is a question that is answered by a number, and a way on.
type Answer struct {
	ID, Do, Arg, Value string
	question, answer   string
	Off                bool // there is nothing to press

	_ [0]func() // never compared, see choice.Field
}

// HTML returns what stands on its button.
func (a Answer) HTML() vugu.HTML {
	return vugu.HTML("<span>" + html.EscapeString(a.question) + "</span><b>" + html.EscapeString(a.answer) + "</b>")
}

// Answers returns the most and the fewest that fit, each to be taken by a click, and the
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
		{ID: "chain", Do: "step-chain", question: wordsExplore, answer: "Explore its schedule",
			Off: c.reply() == nil || c.S.Late()},
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
