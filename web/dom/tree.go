// Package dom updates the elements of the page to those that Vugu's components build. It remembers the tree of the page
// and writes instructions for the differences of the next tree; web/static/dom.js carries them out.
//
// The instructions of one update are a JSON array of arrays. Nodes have numbers,
// which they keep as long as they are in the page:
//
//	["adopt", node]                   the page's root becomes this node; existing elements stay
//	["insert", parent, before, node]  insert a node before another child, or at the end if before is 0
//	["remove", [number, ...]]         remove a node with all nodes below it
//	["text", number, text]            of a text node
//	["html", number, html]            content of an element
//	["set", number, name, value]      an attribute
//	["unset", number, name]
//	["prop", number, name, value]     a property, which is held at this value from now on
//
// A node is [number, text], or an element [number, tag, [name, value, ...], [property, value, ...], content]. The
// content is an array of nodes, a string of HTML, or null if a script fills the element.
//
// Vugu's own renderer, domrender (v0.4.0), is not used for these reasons. It writes every node and attribute again at
// every event (6 to 9 ms for this page, three times that beside busy workers), creates elements again that it takes for
// static, mixes up neighbours when a list becomes empty, and evaluates its script, which a strict Content Security
// Policy forbids. This package refuses with an error what the page does not use of Vugu: its events (listeners belong
// to the document), namespaces, styles in components and vg-js-populate. Elements with vg-js-create are hosts: Update
// returns them once, when they come into the page, and scripts own their content. dom.js does not set a field while a
// person types into it.
package dom

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/vugu/vugu"
)

// Tree is the tree of the page. The first update of the zero value adopts the page.
type Tree struct {
	root *node
	last int    // number of the newest node
	out  []byte // instructions of the current update
	made []Host // new hosts of the current update
}

// Host is an element with vg-js-create that was inserted into the page or adopted, and the handler to call with it.
type Host struct {
	ID      int
	Handler vugu.JSValueHandler
}

// node is an element or a text.
type node struct {
	id   int
	el   *vugu.VGNode // nil for a text
	text string
	kids []node
}

// Forget makes the next update adopt the page. Call it after instructions failed.
func (t *Tree) Forget() { t.root = nil }

// grow appends the nodes of a component's output to kids.
func grow(kids []node, r *vugu.BuildResults, out *vugu.BuildOut) ([]node, error) {
	if out == nil || len(out.Out) != 1 || out.Out[0].Type != vugu.ElementNode {
		return nil, errors.New("dom: a component gave out something else than one element")
	}
	if len(out.CSS) > 0 || len(out.JS) > 0 {
		return nil, errors.New("dom: a component has a style or a script of its own; the page's are in web/static")
	}
	return growNode(kids, r, out.Out[0])
}

// growNode appends the nodes of v to kids: one, or any number for a component or a template.
func growNode(kids []node, r *vugu.BuildResults, v *vugu.VGNode) ([]node, error) {
	switch {
	case v.Component != nil:
		return grow(kids, r, r.ResultFor(v.Component))
	case v.IsTemplate():
		return growKids(kids, r, v)
	case v.Type == vugu.TextNode:
		// A browser makes one text of adjacent texts in index.html.
		if n := len(kids); n > 0 && kids[n-1].el == nil {
			kids[n-1].text += v.Data
		} else if v.Data != "" {
			kids = append(kids, node{text: v.Data})
		}
		return kids, nil
	case v.Type != vugu.ElementNode:
		return nil, fmt.Errorf("dom: a node of type %d is neither an element nor a text", v.Type)
	case v.Namespace != "" || len(v.DOMEventHandlerSpecList) > 0 || v.JSPopulateHandler != nil:
		return nil, fmt.Errorf("dom: <%s> has a namespace, a listener or vg-js-populate, which this page does without: pictures are HTML, and listeners belong to the document", v.Data)
	}
	n := node{el: v}
	if v.InnerHTML == nil {
		var err error
		count := 0
		for c := v.FirstChild; c != nil; c = c.NextSibling {
			count++
		}
		if n.kids, err = growKids(make([]node, 0, count), r, v); err != nil {
			return nil, err
		}
	}
	return append(kids, n), nil
}

// growKids appends the nodes of the children of v to kids.
func growKids(kids []node, r *vugu.BuildResults, v *vugu.VGNode) ([]node, error) {
	var err error
	for c := v.FirstChild; c != nil; c = c.NextSibling {
		if kids, err = growNode(kids, r, c); err != nil {
			return nil, err
		}
	}
	return kids, nil
}

// begin begins an instruction; end ends it.
func (t *Tree) begin(op string) {
	if len(t.out) > 1 {
		t.out = append(t.out, ',')
	}
	t.out = append(append(append(t.out, `["`...), op...), '"')
}

// change writes an instruction with the number of a node and texts.
func (t *Tree) change(op string, id int, texts ...string) {
	t.begin(op)
	t.number(id)
	for _, s := range texts {
		t.string(s)
	}
	t.end()
}

func (t *Tree) end() { t.out = append(t.out, ']') }

func (t *Tree) number(n int) { t.out = strconv.AppendInt(append(t.out, ','), int64(n), 10) }

func (t *Tree) string(s string) { t.out = appendString(append(t.out, ','), s) }

// node writes a new node, and numbers it and all nodes below it.
func (t *Tree) node(n *node) {
	t.last++
	n.id = t.last
	t.out = strconv.AppendInt(append(t.out, ',', '['), int64(n.id), 10)
	if n.el == nil {
		t.string(n.text)
		t.end()
		return
	}
	t.string(n.el.Data)
	t.out = append(t.out, ',', '[')
	for i, a := range n.el.Attr {
		if i > 0 {
			t.out = append(t.out, ',')
		}
		t.out = appendString(append(appendString(t.out, a.Key), ','), a.Val)
	}
	t.out = append(t.out, ']', ',', '[')
	for i, p := range n.el.Prop {
		if i > 0 {
			t.out = append(t.out, ',')
		}
		t.out = append(append(appendString(t.out, p.Key), ','), p.JSONVal...)
	}
	t.out = append(t.out, ']')
	if n.el.JSCreateHandler != nil {
		t.made = append(t.made, Host{n.id, n.el.JSCreateHandler})
	}
	switch {
	case n.el.InnerHTML != nil:
		t.string(*n.el.InnerHTML)
	case len(n.kids) == 0 && n.el.JSCreateHandler != nil:
		t.out = append(t.out, ",null"...)
	default:
		t.nodes(n.kids)
	}
	t.end()
}

func (t *Tree) nodes(kids []node) {
	t.out = append(t.out, ',')
	at := len(t.out)
	for i := range kids {
		t.node(&kids[i])
	}
	if len(kids) == 0 {
		t.out = append(t.out, '[')
	} else {
		t.out[at] = '[' // instead of the comma before the first node
	}
	t.end()
}

// appendString appends a string as JSON.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		if from = i + 1; c < ' ' {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			b = append(b, '\\', c)
		}
	}
	return append(append(b, s[from:]...), '"')
}
