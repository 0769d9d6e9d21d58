package step

import (
	"html"
	"strconv"

	"github.com/vugu/vugu"

	"memtide/profiles/llm/ask"
	"memtide/web/ui/names"
)

// The view of a training step is not generated from a .vugu file: nearly all of it is text
// that changes as a whole, and generated code takes half a kilobyte for each attribute.

// Build returns the whole view.
func (c *View) Build(*vugu.BuildIn) *vugu.BuildOut {
	look := []*vugu.VGNode{c.changesView()}
	ranks := c.Ranks()
	if ranks != "" {
		look = []*vugu.VGNode{c.passesView(), element("aside", attr("class", "side", "aria-label", "Explanation"),
			append([]*vugu.VGNode{c.whyView()}, look...)), c.ranksView(ranks)}
	}
	root := element("section", attr("class", "whole", "aria-label", "Training step", "data-testid", "step"),
		c.unless(element("div", attr("class", "duo look", "data-pp", ask.Value(c.S.Choice.StepArgs, "pp")), look)))
	return &vugu.BuildOut{Out: []*vugu.VGNode{root}}
}

// Folds are the folded sections about a training step, below its curve.
type Folds View

// Build returns the sections.
func (f *Folds) Build(*vugu.BuildIn) *vugu.BuildOut {
	c := (*View)(f)
	root := element("section", attr("class", "whole", "aria-label", "Tables"), c.ordersView(), c.policiesView(),
		c.unless(element("details", attr("class", "fold about"), fold(names.Origins, c.OriginLine()),
			element("div", attr("class", "answers", "data-testid", "step-origins"), c.Origins()))))
	return &vugu.BuildOut{Out: []*vugu.VGNode{root}}
}

// unless hides n if the step was refused. n stays in the page, so that a control in it keeps the focus.
func (c *View) unless(n *vugu.VGNode) *vugu.VGNode { return hidden(n, c.S.Step.Failed != "") }

// changesView returns the changes as buttons.
func (c *View) changesView() *vugu.VGNode {
	rows := turns(c.Rows())
	return element("section", attr("class", "panel", "aria-labelledby", "turns-title"),
		element("h2", attr("id", "turns-title"), c.Title()), element("p", attr("class", "note"), wordsTurned),
		element("div", attr("class", "turns", "data-testid", "step-changes", "aria-busy",
			strconv.FormatBool(c.Note() == "…")), rows),
		element("p", attr("class", "note"), c.Note()),
		element("p", attr("class", "note", "data-testid", "step-reach"), c.Reach()),
		hidden(button(attr("class", "button", "data-do", "step-chain", "data-testid", "step-chain"),
			c.reply() == nil || c.S.Late(), wordsExplore),
			ask.Value(c.S.Choice.StepArgs, "pp") != "1")) // no strategy plans a pipeline
}

// turns returns rows as buttons.
func turns(list []Row) (out []*vugu.VGNode) {
	for _, r := range list {
		out = append(out, button(attr("class", "turn", "data-do", "step-change", "data-arg", r.Arg, "data-index",
			strconv.Itoa(r.Index)), r.Arg == "", r.HTML()))
	}
	return out
}

// policiesView returns the folded section with the policies of frameworks.
func (c *View) policiesView() *vugu.VGNode {
	n := element("details", attr("class", "fold about policies"), fold("Policies of frameworks", wordsPoliciesHint),
		element("p", attr("class", "note"), wordsTurned),
		element("div", attr("data-testid", "step-policies"), turns(c.Policies())))
	return hidden(n, c.S.Step.Failed != "" || len(c.Policies()) == 0)
}

// ordersView returns the folded section with the schedules of the pipeline, and those that do not apply.
func (c *View) ordersView() *vugu.VGNode {
	rows, refused := c.Orders(), ""
	if len(rows) > 0 {
		for _, why := range c.reply().Refused {
			refused += "<li>" + html.EscapeString(ask.InWords(why)) + "</li>"
		}
	}
	n := element("details", attr("class", "fold about policies"), fold(wordsOrders, wordsOrdersHint), element("p",
		attr("class", "note"), wordsTurned+" "+wordsLanes),
		element("div", attr("data-testid", "step-orders"), turns(rows)),
		element("ul", attr("class", "note"), vugu.HTML(refused)))
	return hidden(n, len(rows) == 0 || c.S.Step.Failed != "")
}
