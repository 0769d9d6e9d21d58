package ui

import (
	"fmt"
	"html"
	"strings"

	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/export"
	"memtide/web/ui/panel"
)

// Share is the dialog that gives away what is shown.
type Share struct {
	S    *state.State
	Page *permalink.Page
}

// Open reports whether the dialog is open.
func (c *Share) Open() bool { return c.S.Sharing != nil }

// Name returns what the link is called: what is open and its verdict, or what a person says.
func (c *Share) Name() string { return answer.Title(c.S) }

func (c *Share) address() string {
	if c.Page == nil {
		return ""
	}
	return c.Page.Address(c.S, c.S.Sharing == nil || c.S.Sharing.Exact)
}

// What would end the text of a link in Markdown, or begin something else in it, and
// what would end its address.
var (
	markdown = strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "`", "\\`", "<", "\\<", "\n", " ",
		"\r", " ")
	markdownAddress = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\\", "%5C", " ", "%20")
)

// ShareField is a text to be copied.
type ShareField struct{ ID, Label, Text string }

// Link returns the link.
func (c *Share) Link() string { return c.address() }

// Fields returns what to paste where; none if no address leads to this page.
func (c *Share) Fields() []ShareField {
	if c.homeless() {
		return nil
	}
	address := c.address()
	base, fragment, _ := strings.Cut(address, "#")
	title := html.EscapeString(c.Name())
	quoted := html.EscapeString(fragment)
	ground := "light" // a frame that says what its page is like has that page's ground
	if c.S.View.Theme == "dark" {
		ground = "dark"
	}
	framed := "embed=1&amp;" + quoted
	if !strings.Contains(fragment, "theme=") {
		framed = "embed=1&amp;theme=" + ground + "&amp;" + quoted
	}
	return []ShareField{
		{"markdown", "Markdown", "[" + markdown.Replace(c.Name()) + "](" + markdownAddress.Replace(address) + ")"},
		{"iframe", "Embed (iframe)", `<iframe src="` + html.EscapeString(base) + `#` + framed + `" title="` + title +
			`" width="100%" height="640" loading="lazy" style="border:0;color-scheme:` + ground +
			`" allow="clipboard-write; fullscreen" sandbox="allow-scripts allow-same-origin allow-popups allow-downloads"></iframe>`},
		{"element", "Embed (tag)", `<script src="` + html.EscapeString(c.folderOr(base)) +
			`view.js" defer></script> <memtide-view title="` + title + `" link="` + quoted + `"></memtide-view>`},
	}
}

// homeless reports whether no address leads to this page.
func (c *Share) homeless() bool { return c.Page != nil && c.Page.Base == "" }

func (c *Share) folderOr(base string) string {
	if c.Page == nil {
		return base
	}
	return c.Page.Folder()
}

// Verdict says how long the link is and where it can be used.
func (c *Share) Verdict() string {
	if c.homeless() {
		return "This page is a file without an address: put the address of a site before the link."
	}
	n := len(c.address())
	text := fmt.Sprintf("%d characters: %s.", n, link.Fits(n))
	if n := c.S.Network; n != nil && !n.InLink() {
		text += " This graph is too long for a link: send the file too."
	}
	a, b := c.S.SideNetworks()
	long := func(n *known.Network) bool { return n != nil && n.Source.Ops != "" && !link.HoldsOps(n.Source.Ops) }
	if c.S.Step == nil && (long(a) || long(b)) {
		text += " The operators are too long for a link: for plans of the model send the file too."
	}
	if c.S.Memory != nil {
		text += " The file is not in it: send it too."
	}
	return text
}

// Reopens says what the page does with the files that it saves.
func (c *Share) Reopens() string {
	if c.S.Memory != nil {
		return "The buffers are too long for a link, so files do not open them again."
	}
	a, b := c.S.SideNetworks()
	if a != nil && !a.InLink() || b != nil && !b.InLink() {
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

// Steps returns the title of the button for the schedule's steps: in a comparison, of the
// schedule that the controls change.
func (c *Share) Steps() string {
	if side := export.SideOf(c.S); side.Letter != "" {
		return side.Letter + ": Steps (JSON)"
	}
	return "Steps (JSON)"
}

// ForPyTorch says how a plan for PyTorch is found, if what is open does not hold the
// operators that a plan is made of.
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
