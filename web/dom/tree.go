// Package dom keeps the elements of the page as Vugu's components want them. It
// remembers the tree that the page has and writes instructions for what differs
// in the next one; web/static/dom.js carries them out.
//
// The instructions of a drawing are one JSON array of arrays. Nodes have numbers,
// which they keep as long as they are in the page:
//
//	["adopt", node]                   the page's root becomes this node; elements that are there already stay
//	["insert", parent, before, node]  a node is put before another child, or to the end if that is 0
//	["remove", [number, ...]]         a node leaves with everything below it
//	["text", number, text]            of a text node
//	["html", number, html]            content of an element
//	["set", number, name, value]      an attribute
//	["unset", number, name]
//	["prop", number, name, value]     a property, which is held at this value from now on
//
// A node is [number, text], or an element [number, tag, [name, value, ...],
// [property, value, ...], content], whose content is null if it is somebody
// else's, a string of HTML, or an array of nodes.
//
// Why not Vugu's own renderer: domrender (v0.4.0) writes every node and attribute again
// at every event (6 to 9 ms for this page, three times that beside busy workers),
// creates again what it takes for static, mixes up neighbours when a list shrinks to
// nothing, and evaluates its script, which a strict Content Security Policy forbids.
// What Vugu offers and this page has no use for is refused with an error: its events
// (listeners belong to the document), namespaces, styles in components,
// vg-js-populate. Elements with vg-js-create are hosts: they are given away once, when
// they come into the page, and what scripts put into them is theirs. A field that
// somebody types into is not set until they are done.
package dom

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/vugu/vugu"
)

// Tree is the tree of the page. The zero value knows nothing of the page yet, so
// that its first instruction is to adopt it.
type Tree struct {
	root *node
	last int // number given last
	out  []byte
	made []Host
}

// Host is an element that was put into the page, or adopted, and what wants to be
// told of it.
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

// Forget has the next update adopt the page, whatever it looks like then. It is
// for instructions that failed.
func (t *Tree) Forget() { t.root = nil }

// grow appends the nodes of what a component gave out to the children of an element.
func grow(kids []node, r *vugu.BuildResults, out *vugu.BuildOut) ([]node, error) {
	if out == nil || len(out.Out) != 1 || out.Out[0].Type != vugu.ElementNode {
		return nil, errors.New("dom: a component gave out something else than one element")
	}
	if len(out.CSS) > 0 || len(out.JS) > 0 {
		return nil, errors.New("dom: a component has a style or a script of its own; the page's are in web/static")
	}
	return growNode(kids, r, out.Out[0])
}

func growNode(kids []node, r *vugu.BuildResults, v *vugu.VGNode) ([]node, error) {
	switch {
	case v.Component != nil:
		return grow(kids, r, r.ResultFor(v.Component))
	case v.IsTemplate():
		return growKids(kids, r, v)
	case v.Type == vugu.TextNode:
		// A browser makes one text of what stands side by side in index.html.
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

// change writes an instruction for a node, with texts.
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

// node writes a new node, and gives numbers to it and all below it.
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
		t.out[at] = '[' // in the place of the comma before the first
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
