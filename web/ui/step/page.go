// Package step shows a whole training step of a language model: its controls, its ranks, and the
// changes that would help.
package step

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/mount"
)

// View is the part of the page about a training step, below its answer.
type View struct {
	S     *state.State
	Hosts mount.Hosts
}

// reply returns the answer about the step so far, or nil.
func (c *View) reply() *proto.Stepped { return c.S.Step.Shown }

// Reach says how long a sequence, how many sequences and how few cards fit, as far as that is known.
func (c *View) Reach() string {
	r := c.reply()
	if r == nil {
		return ""
	}
	var out []string
	if r.Longest > 0 {
		out = append(out, fmt.Sprintf("Sequences of up to %s tokens fit.", format.Count(int(r.Longest))))
	}
	if r.Batch > 1 {
		out = append(out, fmt.Sprintf("The most that fits at once: %s %ss.", format.Count(int(r.Batch)),
			ask.Sample(c.S.Choice.StepArgs)))
	}
	if r.Fewest > 0 {
		out = append(out, fmt.Sprintf("The fewest cards on which it fits: %s.", format.Count(int(r.Fewest))))
	}
	return strings.Join(out, " ")
}

// changed returns how much longer the time then is than now.
func changed(now, then time.Duration) string {
	if now <= 0 {
		return ""
	}
	if p := format.Percent(format.Longer(then, now)); p != "0 %" {
		return p
	}
	return "no slower"
}

// element returns an element. attrs are pairs of names and values; in is the content: elements, HTML or text.
func element(tag string, attrs []string, in ...any) *vugu.VGNode {
	n := &vugu.VGNode{Type: vugu.ElementNode, Data: tag}
	for i := 0; i < len(attrs); i += 2 {
		n.Attr = append(n.Attr, vugu.VGAttribute{Key: attrs[i], Val: attrs[i+1]})
	}
	for _, x := range in {
		switch x := x.(type) {
		case *vugu.VGNode:
			n.AppendChild(x)
		case []*vugu.VGNode:
			for _, child := range x {
				n.AppendChild(child)
			}
		default:
			n.SetInnerHTML(x)
		}
	}
	return n
}

func attr(pairs ...string) []string { return pairs }

func span(class, style, title, text string) string {
	out := `<span class="` + class + `"`
	if style != "" {
		out += ` style="` + style + `"`
	}
	if title != "" {
		out += ` title="` + html.EscapeString(title) + `"`
	}
	return out + ">" + text + "</span>"
}

// hidden hides n if is is true, and returns n.
func hidden(n *vugu.VGNode, is bool) *vugu.VGNode {
	if is {
		n.Attr = append(n.Attr, vugu.VGAttribute{Key: "hidden", Val: "hidden"})
	}
	return n
}

// fold returns the visible line of a folded section.
func fold(title, hint string) *vugu.VGNode {
	return element("summary", attr("class", "fold-head"),
		vugu.HTML("<h2>"+title+`</h2>`+span("hint", "", "", html.EscapeString(hint))))
}

// button returns a button, which is disabled if off is true.
func button(attrs []string, off bool, in vugu.HTML) *vugu.VGNode {
	if attrs = append(attrs, "type", "button"); off {
		attrs = append(attrs, "disabled", "disabled")
	}
	return element("button", attrs, in)
}

// The texts about training steps.
const (
	wordsExplore       = "Let memtide plan it instead"
	wordsTurned        = "Reserved with CUDA, against what a card has, and the time of the step. Click to take it."
	wordsPoliciesHint  = "what their switches keep, compute again or move, each played, beside the optimum of whole blocks"
	wordsNearestPlayed = "the same run, played here"

	wordsRanks       = "Every rank at its peak"
	wordsRanksWait   = "On average a rank waits %s of the passes' time. A click on a rank shows its pictures."
	wordsPasses      = "Ranks of the pipeline"
	wordsFoldedRanks = "Ranks %d to %d: %s to %s"

	wordsEqualWork  = "time for equal work"
	wordsOrders     = "Schedules of the pipeline"
	wordsOrdersHint = "every order of passes, each played with its memory; where none is chosen the fastest that fits is taken"
	wordsLanes      = "A lane is a rank, all on one axis of time: forwards blue, backwards green, those of the weights darker. The line is the end of the step as it is."
	wordsPassesHelp = "Left and right: the next pass or idle time of the rank. Up and down: the same moment on the next rank. Enter: what led to it. Plus, minus and 0: zoom."
	wordsPassesAsk  = "A click on idle time says why the rank waits, and leads to the cause. Forwards are blue, backwards green, with lines where they are those of the weights; numbers are micro batches."
	wordsPassesSave = "save the picture as SVG"
	wordsIdleHead   = `<thead><tr><th scope="col">Rank</th><th scope="col">works</th><th scope="col">idle before its first pass</th><th scope="col">between passes</th><th scope="col">after its last</th></tr></thead><tbody>`
	wordsPassHead   = `<thead><tr><th scope="col">Micro batch</th><th scope="col">pass</th><th scope="col">stage</th><th scope="col">starts</th><th scope="col">ends</th><th scope="col">waits before it</th><th scope="col">on the critical path</th></tr></thead><tbody>`

	wordsOriginLine  = "%s exact, %s read in code; times are estimates"
	wordsSent        = "the step's requests, sent through PyTorch's caching allocator by its default and with expandable segments; of 358 published runs that were looked up after the answer, nearly half lie within 5 % of such a range, seven of ten within 15 %"
	wordsBusyExperts = "the range holds what was measured, up to 21 % above equal shares"
	wordsTimeWhy     = "operations and bytes by the rates of the card and shares of them that were measured elsewhere"
)

// changeFits are the results of changes of a step that does not fit.
var changeFits = map[proto.Fit]string{proto.Fits: "fits", proto.Unsure: "may fit",
	proto.FitsNot: "not enough by itself"}
