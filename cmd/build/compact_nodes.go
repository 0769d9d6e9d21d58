//go:build !js

package main

import (
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// node is one that is known when the program is built.
type node struct {
	text  bool
	data  string
	attr  []string // keys and values in turn
	after string   // its inner HTML, what is below it, and ends of what is above
}

// maxAttr is how many attributes one character can count, from '0' and below 'a'.
const maxAttr = 'a' - '0' - 1

var (
	textNode     = statements(`vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: D}`)
	elementNode  = statements(`vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: D, Attr: A}`)
	namelessNode = statements(`vgn = &vugu.VGNode{Type: vugu.VGNodeType(3)}`)
	noAttrs      = statements(`_ = []vugu.VGAttribute(nil)`)[0].(*ast.AssignStmt).Rhs[0]
	attrs        = statements(`_ = []vugu.VGAttribute{}`)[0].(*ast.AssignStmt).Rhs[0].(*ast.CompositeLit).Type
	attr         = statements(`_ = vugu.VGAttribute{Namespace: "", Key: K, Val: V}`)[0].(*ast.AssignStmt).Rhs[0].(*ast.CompositeLit)
	appended     = statements(`vgparent.AppendChild(vgn)`)
	constAttr    = statements(`vgn.AddAttrInterface(K, V)`)
	constHTML    = statements(`vgn.SetInnerHTML(vugu.HTML(H))`)
	inside       = statements("vgparent := vgn\n_ = vgparent")
)

// nodes makes one text of the known nodes that the first n statements make.
func (c *compactor) nodes(list []ast.Stmt) (n int, text string) {
	parent := "vgparent"
	n, made := c.known(list, nil)
	if root, ok := c.node(list[0]); ok && n == 0 { // a root, which has no parent
		parent, n, made = "nil", 1, []node{root}
	}
	if n == 0 {
		return 0, ""
	}
	var b strings.Builder
	for _, m := range made {
		if m.text {
			b.WriteByte('t')
		} else {
			b.WriteByte('0' + byte(len(m.attr)/2))
		}
		b.WriteString(m.data + "\x00")
		for _, s := range m.attr {
			b.WriteString(s + "\x00")
		}
		b.WriteString(m.after)
	}
	return n, "vgn = vg.Nodes(" + parent + ", " + strconv.Quote(b.String()) + ")"
}

// known adds the nodes that the first n statements make to others. What is known
// of vgn, the last of them, is in it.
func (c *compactor) known(list []ast.Stmt, others []node) (n int, made []node) {
	made = others
	for n < len(list) {
		if next, ok := c.node(list[n]); ok {
			if _, ok := c.find(appended, list[n+1:]); !ok {
				return n, made
			}
			made = append(made, next)
			n += 2
			continue
		}
		if len(made) == 0 {
			return n, made
		}
		last := &made[len(made)-1]
		if v, ok := c.find(constAttr, list[n:], "K", "V"); ok && !last.text && len(last.attr) < 2*maxAttr {
			last.attr = append(last.attr, v...)
		} else if v, ok := c.find(constHTML, list[n:], "H"); ok {
			last.after += "h" + v[0] + "\x00"
		} else if inner, ok := c.below(list[n], made); ok {
			made = inner
		} else {
			return n, made
		}
		n++
	}
	return n, made
}

// below adds the nodes of a block, which are below the last of others, if all
// that is in it is known.
func (c *compactor) below(s ast.Stmt, others []node) ([]node, bool) {
	b, ok := s.(*ast.BlockStmt)
	if !ok {
		return nil, false
	}
	if _, ok := c.find(inside, b.List); !ok {
		return nil, false
	}
	made := slices.Clone(others)
	if strings.HasSuffix(made[len(made)-1].after, ")") { // vgn is not beside the block: vugugen writes no such thing
		return nil, false
	}
	made[len(made)-1].after += "("
	n, made := c.known(b.List[2:], made)
	made[len(made)-1].after += ")"
	return made, n == len(b.List)-2
}

// node reads a statement that makes a node.
func (c *compactor) node(s ast.Stmt) (node, bool) {
	list := []ast.Stmt{s}
	if v, ok := c.find(textNode, list, "D"); ok {
		return node{text: true, data: v[0]}, true
	}
	if _, ok := c.find(namelessNode, list); ok {
		return node{}, true // an element without a name
	}
	v, ok := c.find(elementNode, list, "D")
	if !ok {
		return node{}, false
	}
	n := node{data: v[0]}
	a := s.(*ast.AssignStmt).Rhs[0].(*ast.UnaryExpr).X.(*ast.CompositeLit).Elts[3].(*ast.KeyValueExpr).Value
	if c.same(noAttrs, a, nil) {
		return n, true
	}
	lit, ok := a.(*ast.CompositeLit)
	if !ok || !c.same(attrs, lit.Type, nil) || len(lit.Elts) == 0 || len(lit.Elts) > maxAttr {
		return node{}, false
	}
	for _, e := range lit.Elts {
		found := map[string]string{}
		e, ok := e.(*ast.CompositeLit)
		if !ok || e.Type != nil && !c.same(attr.Type, e.Type, nil) || !c.same(attr.Elts, e.Elts, found) {
			return node{}, false
		}
		v, ok := texts(found, "K", "V")
		if !ok {
			return node{}, false
		}
		n.attr = append(n.attr, v...)
	}
	return n, true
}

// find compares the first statements of a list with a pattern and returns the
// texts that were found in it.
func (c *compactor) find(pattern, list []ast.Stmt, names ...string) ([]string, bool) {
	found := map[string]string{}
	if len(pattern) > len(list) || !c.same(pattern, list[:len(pattern)], found) {
		return nil, false
	}
	return texts(found, names...)
}

func (c *compactor) same(pattern, v any, found map[string]string) bool {
	return c.like(reflect.ValueOf(pattern), reflect.ValueOf(v), found)
}

// texts are what string literals say that can be parts of a text of nodes.
func texts(found map[string]string, names ...string) (out []string, ok bool) {
	for _, name := range names {
		s, err := strconv.Unquote(found[name])
		if err != nil || found[name][0] == '\'' || strings.Contains(s, "\x00") {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}
