package dom

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
)

// e returns an element. head is its tag, followed by attributes as name=value and properties as .name=value. In
// place of these, host stands for a handler, and html=... for the content. kids are the children: elements, or
// strings for texts.
func e(head string, kids ...any) *vugu.VGNode {
	n := &vugu.VGNode{Type: vugu.ElementNode}
	for i, f := range strings.Fields(head) {
		key, value, _ := strings.Cut(f, "=")
		switch {
		case i == 0:
			n.Data = key
		case key == "html":
			n.InnerHTML = &value
		case key == "host":
			n.JSCreateHandler = vugu.JSValueFunc(func(js.Value) {})
		case key[0] == '.':
			n.Prop = append(n.Prop, vugu.VGProperty{Key: key[1:], JSONVal: []byte(value)})
		default:
			n.Attr = append(n.Attr, vugu.VGAttribute{Key: key, Val: value})
		}
	}
	for _, k := range kids {
		switch k := k.(type) {
		case string:
			n.AppendChild(&vugu.VGNode{Type: vugu.TextNode, Data: k})
		case *vugu.VGNode:
			n.AppendChild(k)
		}
	}
	return n
}

// build returns the build of a component whose output is the tree n.
func build(t *testing.T, n *vugu.VGNode) *vugu.BuildResults {
	t.Helper()
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	return env.RunBuild(vugu.NewBuilderFunc(func(*vugu.BuildIn) *vugu.BuildOut {
		return &vugu.BuildOut{Out: []*vugu.VGNode{n}}
	}))
}

func update(t *testing.T, tree *Tree, n *vugu.VGNode) (string, []Host) {
	t.Helper()
	out, hosts, err := tree.Update(build(t, n))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out) {
		t.Fatalf("the instructions are no JSON: %s", out)
	}
	return string(out), hosts
}

func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		name      string
		old, next *vugu.VGNode
		want      string
	}{
		{"nothing", e("p id=app", "a", e("b", "c")), e("p id=app", "a", e("b", "c")), `[]`},
		{"text", e("p", "a"), e("p", "b\n\"c\""), `[["text",2,"b\u000a\"c\""]]`},
		{"attributes", e("p a=1 b=2 c=3"), e("p b=2 a=4 d=5"), `[["set",1,"a","4"],["set",1,"d","5"],["unset",1,"c"]]`},
		{"an attribute comes and goes", e("p", e("i hidden=hidden"), e("i")), e("p", e("i"), e("i hidden=hidden")),
			`[["unset",2,"hidden"],["set",3,"hidden","hidden"]]`},
		{"property", e(`p .value="a" .checked=true`), e(`p .value="a" .checked=false`), `[["prop",1,"checked",false]]`},
		{"html", e("p html=a"), e("p html=<b>"), `[["html",1,"<b>"]]`},
		{"what was a condition goes before a host", e("p", " ", e("i"), " ", e("i host"), " "),
			e("p", " ", " ", e("i host"), " "),
			`[["text",2,"  "],["remove",[3]],["remove",[4]]]`},
		{"and comes again", e("p", " ", " ", e("i host"), " "), e("p", " ", e("i", "x"), " ", e("i host"), " "),
			`[["text",2," "],["insert",1,3,[5," "]],["insert",1,5,[6,"i",[],[],[[7,"x"]]]]]`},
		{"two conditions around a host", e("p", e("a"), e("i host"), e("b", "x", e("u"))), e("p", e("i host")),
			`[["remove",[2]],["remove",[4,5,6]]]`},
		{"a list shrinks to nothing", e("p", e("i", "1"), e("i", "2")), e("p"), `[["remove",[2,3]],["remove",[4,5]]]`},
		{"a list grows", e("p", e("i", "1")), e("p", e("i", "1"), e("i", "2"), e("i", "3")),
			`[["insert",1,0,[4,"i",[],[],[[5,"3"]]]],["insert",1,4,[6,"i",[],[],[[7,"2"]]]]]`},
		{"what has a name of its own is not made another", e("p", e("i id=a"), e("i id=b"), e("i id=c")),
			e("p", e("i id=a"), e("i id=c")),
			`[["remove",[3]]]`},
		{"text and content are filled in differently", e("p", e("i", "x")), e("p", e("i html=x")),
			`[["remove",[2,3]],["insert",1,0,[4,"i",[],[],"x"]]]`},
		{"a host keeps what others put into it", e("p"), e("p", e("i host")), `[["insert",1,0,[2,"i",[],[],null]]]`},
		{"another root", e("p"), e("div .hidden=true a=b", "x"),
			`[["adopt",[2,"div",["a","b"],["hidden",true],[[3,"x"]]]]]`},
		{"templates have no element", e("p", &vugu.VGNode{Type: vugu.ElementNode}), e("p", "a", func() *vugu.VGNode {
			n := &vugu.VGNode{Type: vugu.ElementNode}
			n.AppendChild(e("i"))
			return n
		}()), `[["insert",1,0,[2,"i",[],[],[]]],["insert",1,2,[3,"a"]]]`},
	} {
		var tree Tree
		update(t, &tree, c.old)
		if got, _ := update(t, &tree, c.next); got != c.want {
			t.Errorf("%s: the instructions are\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestFirst(t *testing.T) {
	var tree Tree
	n := func() *vugu.VGNode {
		return e("div id=app", "\n", e("i class=a .x=1", e("b html=<u>")), " ", "\t", e("i host"), e("i host", "x"))
	}
	const want = `[["adopt",[1,"div",["id","app"],[],[[2,"\u000a"],[3,"i",["class","a"],["x",1],[[4,"b",[],[],"<u>"]]],[5," \u0009"],[6,"i",[],[],null],[7,"i",[],[],[[8,"x"]]]]]]]`
	got, hosts := update(t, &tree, n())
	if got != want {
		t.Errorf("the first instructions are\n%s\nwant\n%s", got, want)
	}
	if len(hosts) != 2 || hosts[0].ID != 6 || hosts[1].ID != 7 {
		t.Errorf("hosts %v; want 6 and 7", hosts)
	}
	if got, hosts = update(t, &tree, n()); got != "[]" || len(hosts) != 0 {
		t.Errorf("the same again: %s, hosts %v; want nothing", got, hosts)
	}
	tree.Forget()
	if got, hosts = update(t, &tree, n()); !strings.HasPrefix(got, `[["adopt",[9,"div"`) || len(hosts) != 2 {
		t.Errorf("after it was forgotten: %s, hosts %v; want all of it", got, hosts)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		n    *vugu.VGNode
		want string
	}{
		{e("p", &vugu.VGNode{Type: vugu.CommentNode}), "type 4"},
		{e("p", &vugu.VGNode{Type: vugu.ElementNode, Data: "svg", Namespace: "svg"}), "<svg>"},
		{e("p", &vugu.VGNode{Type: vugu.ElementNode, Data: "a",
			DOMEventHandlerSpecList: make([]vugu.DOMEventHandlerSpec, 1)}), "<a>"},
	} {
		var tree Tree
		if _, _, err := tree.Update(build(t, c.n)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v; want one with %q", err, c.want)
		}
	}
}

// page executes instructions as web/static/dom.js does.
type page struct {
	nodes map[int]*element
	root  *element
}

type element struct {
	id     int
	head   string // tag, attributes and properties, or the text
	attr   map[string]string
	prop   map[string]any
	html   any
	kids   []*element
	parent *element
}

func (p *page) make(v []any) *element {
	el := &element{id: int(v[0].(float64)), head: v[1].(string)}
	p.nodes[el.id] = el
	if len(v) == 2 {
		return el
	}
	el.attr, el.prop = map[string]string{}, map[string]any{}
	for i, a := 0, v[2].([]any); i < len(a); i += 2 {
		el.attr[a[i].(string)] = a[i+1].(string)
	}
	for i, a := 0, v[3].([]any); i < len(a); i += 2 {
		el.prop[a[i].(string)] = a[i+1]
	}
	if kids, ok := v[4].([]any); ok {
		for _, k := range kids {
			kid := p.make(k.([]any))
			kid.parent = el
			el.kids = append(el.kids, kid)
		}
	} else {
		el.html = v[4]
	}
	return el
}

func (p *page) carryOut(t *testing.T, instructions string) {
	t.Helper()
	var list [][]any
	if err := json.Unmarshal([]byte(instructions), &list); err != nil {
		t.Fatalf("%s: %v", instructions, err)
	}
	for _, in := range list {
		at := func(i int) *element { return p.nodes[int(in[i].(float64))] }
		switch in[0] {
		case "adopt":
			p.nodes = map[int]*element{}
			p.root = p.make(in[1].([]any))
		case "insert":
			parent, before := at(1), at(2)
			n := p.make(in[3].([]any))
			n.parent = parent
			where := len(parent.kids)
			for i, k := range parent.kids {
				if k == before {
					where = i
				}
			}
			parent.kids = append(parent.kids[:where], append([]*element{n}, parent.kids[where:]...)...)
		case "remove":
			for i, id := range in[1].([]any) {
				n := p.nodes[int(id.(float64))]
				delete(p.nodes, n.id)
				for at, k := range n.parent.kids {
					if i == 0 && k == n {
						n.parent.kids = append(n.parent.kids[:at], n.parent.kids[at+1:]...)
						break
					}
				}
			}
		case "text":
			at(1).head = in[2].(string)
		case "html":
			at(1).html = in[2]
		case "set":
			at(1).attr[in[2].(string)] = in[3].(string)
		case "unset":
			delete(at(1).attr, in[2].(string))
		case "prop":
			at(1).prop[in[2].(string)] = in[3]
		default:
			t.Fatalf("unknown instruction %v", in)
		}
	}
}

func (el *element) String() string {
	if el.attr == nil {
		return fmt.Sprintf("%q", el.head)
	}
	return fmt.Sprintf("<%s %v %v %v %v>", el.head, el.attr, el.prop, el.html, el.kids) // fmt sorts the keys of maps
}

// randomTree returns a random tree of the given depth. It uses few tags and attributes, so that its results
// resemble each other.
func randomTree(r *rand.Rand, depth int) *vugu.VGNode {
	head := []string{"p", "p", "i", "p id=a", "p id=b", "i host", "p data-testid=x",
		"i .value=" + fmt.Sprint(r.IntN(2)), "i html=" + fmt.Sprint(r.IntN(3))}[r.IntN(9)]
	if depth > 1 {
		head = "p"
	}
	for _, a := range []string{" k=1", " l=2", " k=3"} {
		if r.IntN(3) == 0 && !strings.Contains(head, a[:2]) {
			head += a
		}
	}
	n := e(head)
	for range r.IntN(5) * min(depth, 1) {
		if n.InnerHTML != nil {
			break
		}
		if r.IntN(3) == 0 {
			n.AppendChild(&vugu.VGNode{Type: vugu.TextNode, Data: []string{"", " ", "x"}[r.IntN(3)]})
		} else {
			n.AppendChild(randomTree(r, depth-1))
		}
	}
	return n
}

// TestAnyToAny checks that instructions turn any tree of the page into the next one, which then equals the tree
// of a new page.
func TestAnyToAny(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	kept, all := 0, 0
	for range 400 {
		var tree Tree
		p := &page{}
		for range 6 {
			n := e("div", randomTree(r, 3), randomTree(r, 3))
			before := len(p.nodes)
			last := tree.last
			got, _ := update(t, &tree, n)
			p.carryOut(t, got)
			var fresh Tree
			want := &page{}
			all0, _ := update(t, &fresh, n)
			want.carryOut(t, all0)
			if p.root.String() != want.root.String() {
				t.Fatalf("%s\nmakes\n%v\nwant\n%v", got, p.root, want.root)
			}
			if len(p.nodes) != len(want.nodes) {
				t.Fatalf("%d nodes have numbers; want %d", len(p.nodes), len(want.nodes))
			}
			if before > 0 {
				all += len(p.nodes)
				kept += len(p.nodes) - (tree.last - last)
			}
		}
	}
	t.Logf("%d of %d nodes were kept", kept, all)
	if kept*4 < all {
		t.Errorf("%d of %d nodes were kept; want at least a quarter", kept, all)
	}
}

// TestLongList checks that lists are updated correctly even if they are too long to find the best pairing of old
// and new children.
func TestLongList(t *testing.T) {
	list := func(shift int) *vugu.VGNode {
		n := e("p", e("b"))
		for i := range 200 {
			n.AppendChild(e(fmt.Sprintf("i id=%d", (i+shift)%200)))
		}
		return n
	}
	var tree Tree
	p := &page{}
	for _, shift := range []int{0, 1, 100, 0} {
		got, _ := update(t, &tree, list(shift))
		p.carryOut(t, got)
		if n := len(p.root.kids); n != 201 || p.root.kids[1].attr["id"] != fmt.Sprint(shift) ||
			p.root.kids[200].attr["id"] != fmt.Sprint((shift+199)%200) {
			t.Errorf("shifted by %d: %d children, %v ... %v", shift, n, p.root.kids[1], p.root.kids[n-1])
		}
	}
}
