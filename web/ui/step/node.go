package step

import (
	"html"

	"github.com/vugu/vjson"
	"github.com/vugu/vugu"
)

// element returns an element with attributes, as pairs of names and values, and what is in it:
// elements, HTML, or text.
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

// attr are attributes of an element.
func attr(pairs ...string) []string { return pairs }

// property sets a property of an element, also where a person has changed it since.
func property(n *vugu.VGNode, name, value string) {
	n.Prop = append(n.Prop, vugu.VGProperty{Key: name, JSONVal: vjson.RawMessage(value)})
}

// span returns a span of a class and a style with a text.
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

// hidden hides an element.
func hidden(n *vugu.VGNode, is bool) *vugu.VGNode {
	if is {
		n.Attr = append(n.Attr, vugu.VGAttribute{Key: "hidden", Val: "hidden"})
	}
	return n
}

// fold returns the line of something that unfolds.
func fold(title, hint string) *vugu.VGNode {
	return element("summary", attr("class", "fold-head"),
		vugu.HTML("<h2>"+title+`</h2>`+span("hint", "", "", html.EscapeString(hint))))
}

// button is one that can be off.
func button(attrs []string, off bool, in vugu.HTML) *vugu.VGNode {
	if attrs = append(attrs, "type", "button"); off {
		attrs = append(attrs, "disabled", "disabled")
	}
	return element("button", attrs, in)
}
