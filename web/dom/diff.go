package dom

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/vugu/vugu"
)

// alike reports whether the node a of the page can be patched into b. Both have to be texts, or
// elements with the same tag, id, data-testid, names of properties and kind of content.
func alike(a, b *node) bool {
	if a.el == nil || b.el == nil {
		return a.el == nil && b.el == nil
	}
	return a.el.Data == b.el.Data &&
		(a.el.InnerHTML == nil) == (b.el.InnerHTML == nil) &&
		(a.el.JSCreateHandler == nil) == (b.el.JSCreateHandler == nil) &&
		slices.EqualFunc(a.el.Prop, b.el.Prop, func(x, y vugu.VGProperty) bool { return x.Key == y.Key }) &&
		attribute(a.el, "id") == attribute(b.el, "id") &&
		attribute(a.el, "data-testid") == attribute(b.el, "data-testid")
}

// attribute returns the value of an attribute, or the empty string.
func attribute(v *vugu.VGNode, key string) string {
	if i := find(v.Attr, key); i >= 0 {
		return v.Attr[i].Val
	}
	return ""
}

// patch writes the instructions that turn the node old of the page into next, which is alike.
func (t *Tree) patch(old, next *node) {
	next.id = old.id
	if next.el == nil {
		if old.text != next.text {
			t.change("text", next.id, next.text)
		}
		return
	}
	t.attributes(next.id, old.el, next.el)
	t.properties(next.id, old.el, next.el)
	if html := next.el.InnerHTML; html != nil {
		if *html != *old.el.InnerHTML {
			t.change("html", next.id, *html)
		}
		return
	}
	t.children(next.id, old.kids, next.kids)
}

func (t *Tree) attributes(id int, old, next *vugu.VGNode) {
	for i, a := range next.Attr {
		if i < len(old.Attr) && old.Attr[i] == a { // most attributes keep their value and position
			continue
		}
		if j := find(old.Attr, a.Key); j >= 0 && old.Attr[j].Val == a.Val {
			continue
		}
		t.change("set", id, a.Key, a.Val)
	}
	for i, a := range old.Attr {
		if i < len(next.Attr) && next.Attr[i].Key == a.Key || find(next.Attr, a.Key) >= 0 {
			continue
		}
		t.change("unset", id, a.Key)
	}
}

func find(attr []vugu.VGAttribute, key string) int {
	for i := range attr {
		if attr[i].Key == key {
			return i
		}
	}
	return -1
}

// properties writes instructions for the properties that change. Elements that are alike have
// the same properties in the same order.
func (t *Tree) properties(id int, old, next *vugu.VGNode) {
	for i, p := range next.Prop {
		if bytes.Equal(old.Prop[i].JSONVal, p.JSONVal) {
			continue
		}
		t.begin("prop")
		t.number(id)
		t.string(p.Key)
		t.out = append(append(t.out, ','), p.JSONVal...)
		t.end()
	}
}

// children writes the instructions that turn the children old of element id into next. Paired
// children stay in the page, in the same order.
func (t *Tree) children(id int, old, next []node) {
	from := 0
	for from < len(old) && from < len(next) && alike(&old[from], &next[from]) {
		t.patch(&old[from], &next[from])
		from++
	}
	if old, next = old[from:], next[from:]; len(old)+len(next) == 0 { // the usual case
		return
	}
	pair := pairs(old, next)
	stays := make([]bool, len(old))
	for _, at := range pair {
		if at >= 0 {
			stays[at] = true
		}
	}
	for i := range old {
		if !stays[i] {
			t.begin("remove")
			t.out = append(t.out, ',', '[')
			t.removed(&old[i])
			t.end()
			t.end()
		}
	}
	for i, at := range pair {
		if at >= 0 {
			t.patch(&old[at], &next[i])
		}
	}
	before := 0
	for i := len(next) - 1; i >= 0; i-- {
		if pair[i] < 0 {
			t.begin("insert")
			t.number(id)
			t.number(before)
			t.node(&next[i])
			t.end()
		}
		before = next[i].id
	}
}

// removed writes the numbers of a node that is removed and of all nodes below it.
func (t *Tree) removed(n *node) {
	t.out = strconv.AppendInt(t.out, int64(n.id), 10)
	for i := range n.kids {
		t.out = append(t.out, ',')
		t.removed(&n.kids[i])
	}
}

// maxProduct is the largest product of the lengths of two lists that are paired by
// subsequence. Longer lists are replaced.
const maxProduct = 1 << 14

// pairs returns, for each of the next children, the index of the old child that becomes it, or
// -1. It finds as many pairs as possible that keep the order. The first children are not alike.
func pairs(old, next []node) []int {
	pair := make([]int, len(next))
	oldEnd, nextEnd := len(old), len(next)
	for oldEnd > 0 && nextEnd > 0 && alike(&old[oldEnd-1], &next[nextEnd-1]) {
		oldEnd--
		nextEnd--
		pair[nextEnd] = oldEnd
	}
	for i := range nextEnd {
		pair[i] = -1
	}
	if n := oldEnd * nextEnd; n > 0 && n <= maxProduct {
		subsequence(old[:oldEnd], next[:nextEnd], pair)
	}
	return pair
}

// subsequence sets pair to the longest common subsequence of the two lists.
func subsequence(old, next []node, pair []int) {
	width := len(next) + 1
	best := make([]int32, (len(old)+1)*width) // [i*width+j]: number of pairs of old[i:] and next[j:]
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(next) - 1; j >= 0; j-- {
			b := max(best[(i+1)*width+j], best[i*width+j+1])
			if alike(&old[i], &next[j]) {
				b = max(b, best[(i+1)*width+j+1]+1)
			}
			best[i*width+j] = b
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(next); {
		switch b := best[i*width+j]; {
		case alike(&old[i], &next[j]) && b == best[(i+1)*width+j+1]+1:
			pair[j] = i
			i++
			j++
		case b == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
}

// Update sets the tree to the results of a build. It returns the instructions that change the page
// accordingly, and the new hosts in the order of the page. Both are valid until the next call.
func (t *Tree) Update(r *vugu.BuildResults) (instructions []byte, made []Host, err error) {
	var top []node
	if top, err = grow(nil, r, r.Out); err != nil {
		return nil, nil, err
	}
	next := &top[0]
	t.out, t.made = append(t.out[:0], '['), t.made[:0]
	if t.root == nil || !alike(t.root, next) {
		t.begin("adopt")
		t.node(next)
		t.end()
	} else {
		t.patch(t.root, next)
	}
	t.root = next
	return append(t.out, ']'), t.made, nil
}
