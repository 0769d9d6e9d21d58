package ui

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/export"
	"memtide/web/ui/panel"
)

// Share is the dialog that shares links and files.
type Share struct {
	S    *state.State
	Page *permalink.Origin
}

func (c *Share) address() string {
	if c.Page == nil {
		return ""
	}
	return c.Page.Address(c.S, c.S.Sharing == nil || c.S.Sharing.Exact)
}

// markdown and markdownAddress escape the text and the address of a link in Markdown.
var (
	markdown = strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "`", "\\`", "<", "\\<", "\n", " ",
		"\r", " ")
	markdownAddress = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\\", "%5C", " ", "%20")
)

// ShareField is a text field with a button that copies the text.
type ShareField struct{ ID, Label, Text string }

// Fields returns the link in the forms of Markdown and HTML, or nil if no address leads to this page.
func (c *Share) Fields() []ShareField {
	if c.noAddress() {
		return nil
	}
	address := c.address()
	base, fragment, _ := strings.Cut(address, "#")
	name := answer.Title(c.S)
	title := html.EscapeString(name)
	quoted := html.EscapeString(fragment)
	ground := "light" // the color scheme: a frame with another one than its page has an opaque background
	if c.S.View.Theme == "dark" {
		ground = "dark"
	}
	framed := "embed=1&amp;" + quoted
	if !strings.Contains(fragment, "theme=") {
		framed = "embed=1&amp;theme=" + ground + "&amp;" + quoted
	}
	folder := base
	if c.Page != nil {
		folder = c.Page.Folder()
	}
	return []ShareField{
		{"markdown", "Markdown", "[" + markdown.Replace(name) + "](" + markdownAddress.Replace(address) + ")"},
		{"iframe", "Embed (iframe)", `<iframe src="` + html.EscapeString(base) + `#` + framed + `" title="` + title +
			`" width="100%" height="640" loading="lazy" style="border:0;color-scheme:` + ground +
			`" allow="clipboard-write; fullscreen" sandbox="allow-scripts allow-same-origin allow-popups allow-downloads"></iframe>`},
		{"element", "Embed (tag)", `<script src="` + html.EscapeString(folder) +
			`view.js" defer></script> <memtide-view title="` + title + `" link="` + quoted + `"></memtide-view>`},
	}
}

// noAddress reports whether no address leads to this page.
func (c *Share) noAddress() bool { return c.Page != nil && c.Page.Base == "" }

// Verdict says how long the link is, where it can be used and what it cannot hold.
func (c *Share) Verdict() string {
	if c.noAddress() {
		return "This page is a file without an address: put the address of a site before the link."
	}
	n := len(c.address())
	text := fmt.Sprintf("%d characters: %s.", n, link.Fits(n))
	if n := c.S.Network; n != nil && !n.InLink() {
		text += " This graph is too long for a link: send the file too."
	}
	long := func(o *state.Side) bool {
		return o.Network != nil && o.Network.Source.Ops != "" && !link.HoldsOps(o.Network.Source.Ops)
	}
	if c.S.Step == nil && slices.ContainsFunc(c.S.Each(), long) {
		text += " The operators are too long for a link: for plans of the model send the file too."
	}
	if c.S.Memory != nil {
		text += " The file is not in it: send it too."
	}
	return text
}

// Reopens says whether saved files open this view again.
func (c *Share) Reopens() string {
	if c.S.Memory != nil {
		return "The buffers are too long for a link, so files do not open them again."
	}
	if !c.S.InLink() {
		return "This graph is too long for a link, so files do not open it again."
	}
	return "Every file opens this view again when it is dropped on the page."
}

// ShareButton saves a file.
type ShareButton struct{ ID, Title, Doc string }

// Pictures returns the kinds of pictures to save.
func (c *Share) Pictures() []ShareButton {
	return []ShareButton{{ID: "svg", Title: "SVG"}, {ID: "png", Title: "PNG"}}
}

// Data returns the kinds of tables to save.
func (c *Share) Data() []ShareButton {
	return []ShareButton{
		{"operations.csv", "Operations (CSV)", "What runs when, and why it waited"},
		{"layers.csv", "Blocks (CSV)", "What happens to each block"},
		{"curve.csv", "Curve (CSV)", "Step time by budget and plan"},
		{"json", "All of these (JSON)", "Operations, blocks, curve and numbers"},
	}
}

// Steps returns the title of the button that saves the schedule. In a comparison it names the side that the controls
// change, whose schedule is saved.
func (c *Share) Steps() string {
	if side := export.SideOf(c.S); side.Letter != "" {
		return side.Letter + ": Steps (JSON)"
	}
	return "Steps (JSON)"
}

// ForPyTorch says how to find a plan for PyTorch, or is empty if the operators of a step are open.
func (c *Share) ForPyTorch() string {
	if c.S.HasOperators() {
		return ""
	}
	return "PyTorch runs plans: open the file that memtide_torch.py collects of your model, and its plan can be saved here."
}

// Themes returns the colours of pictures.
func (c *Share) Themes() []panel.Option {
	chosen := c.S.Sharing.Theme
	return []panel.Option{{ID: "light", Title: "light", Selected: chosen != "dark"},
		{ID: "dark", Title: "dark", Selected: chosen == "dark"}}
}

// Run is the panel with the code that runs a plan of the chosen class on the reader's own model.
type Run struct {
	S    *state.State
	Page *permalink.Origin
}

// RunCode is the ID of the element with the code.
const RunCode = "run-code"

// room returns the part of the budget that is left for a step, and as the code writes it, rounded down.
func (c *Run) room() (b engine.Bytes, text string) {
	n := c.S.Network
	if n == nil {
		return 0, ""
	}
	b = c.S.Budget() - n.Totals.Resident
	if b >= engine.GiB {
		return b, fmt.Sprintf("%d.%dGiB", b/engine.GiB, b%engine.GiB*10/engine.GiB)
	}
	return b, fmt.Sprintf("%dMiB", b/engine.MiB)
}

// Absent reports whether there is nothing to run: no network is open, or there is no room for a step.
func (c *Run) Absent() bool {
	b, _ := c.room()
	return c.S.Memory != nil || b < engine.MiB || c.S.Choice.Policy != nil
}

// deedsOf describes the plans of a class.
var deedsOf = map[play.Class]string{
	play.ClassUnit:      "blocks run again, each by itself",
	play.ClassWrappable: "runs of blocks run again, each as a whole",
	play.ClassOffload:   "blocks run again, or what they keep goes to the host",
	play.ClassNested:    "runs of blocks run again, and within them runs are dropped again",
}

// Does describes what the code does.
func (c *Run) Does() string {
	class := play.Class(c.S.Choice.PlanClass())
	_, room := c.room()
	text := fmt.Sprintf("A plan of class %s: %s. memtide torch looks for the fastest one in the %s that weights, gradients and optimizer leave of the budget; its times and sizes are those of your model, not of this page.",
		class, deedsOf[class], strings.Replace(strings.Replace(room, "G", " G", 1), "M", " M", 1))
	if c.S.HasOperators() {
		text += " The open file holds your model's operators: the plan can be found here."
	}
	if c.S.Network != nil && known.StepArgs(c.S.Choice, c.S.Network) != nil {
		text += " Start it with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, for which the budget is meant."
	}
	return text + " Losses and gradients equal those of the model without it, bit by bit, on the CPU with PyTorch 1.13 and 2.6, and on an H200 with 2.11 where the model itself gives the same twice."
}

// Code returns the code: Python, with one line for a shell.
func (c *Run) Code() string {
	class := play.Class(c.S.Choice.PlanClass())
	_, room := c.room()
	how := string(class)
	if class == play.ClassOffload {
		how += " -link " + strings.ReplaceAll(c.S.Choice.ToHost.Text(), " ", "")
	}
	return fmt.Sprintf(`import memtide_torch as mt          # one file that needs PyTorch alone
graph = mt.collect(model, args)     # args: a tuple of what the forward takes; kwargs=, loss= too
graph.save("net.json")
# in a shell:  memtide torch -class %s -budget %s -o plan.json net.json
print(graph.play(mt.load_plan("plan.json")).peak)   # predicted, before anything runs
handle = mt.apply(model, "plan.json")               # the training loop stays; handle.remove() ends it
`, how, room)
}
