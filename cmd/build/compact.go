//go:build !js

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"memtide/cmd/cli"
)

// What vugugen writes out for every element is long: the Build methods of the
// components are the largest functions of the program, and a browser compiles
// them before the first drawing. The compiler is given shorter ones, which do
// the same in the same order by calls of the functions below, which are a package that only
// the compiler sees. Nodes that are
// known when the program is built, with all that is below them, become one text,
// which is taken apart when it is needed (see compact_nodes.go). What
// is not known here is left as it is.
//
// Build methods are then 130 KB of WebAssembly instead of 390, and the program is
// 12 KB smaller with brotli (0.9 %). One test sees that these components make the very
// same nodes, another that all that vugugen writes is known.
const shorthand = `package vg

import (
	"strings"

	"github.com/vugu/vjson"
	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
)

// Nodes appends the nodes of a text to a parent, if there is one, and returns
// the last one made.
func Nodes(parent *vugu.VGNode, text string) (n *vugu.VGNode) {
	for text != "" {
		op := text[0]
		text = text[1:]
		switch op {
		case '(':
			parent = n
			continue
		case ')':
			parent = parent.Parent
			continue
		case 'h':
			s := field(&text)
			n.InnerHTML = &s
			continue
		case 't':
			n = &vugu.VGNode{Type: vugu.TextNode, Data: field(&text)}
		default:
			n = &vugu.VGNode{Type: vugu.ElementNode, Data: field(&text)}
			if op != '0' {
				n.Attr = make([]vugu.VGAttribute, op-'0')
				for i := range n.Attr {
					a := &n.Attr[i]
					a.Key = field(&text)
					a.Val = field(&text)
				}
			}
		}
		if parent != nil {
			parent.AppendChild(n)
		}
	}
	return n
}

func field(text *string) string {
	s := *text
	end := strings.IndexByte(s, 0)
	*text = s[end+1:]
	return s[:end]
}

func Attr[T any](n *vugu.VGNode, key string, value T) { n.AddAttrInterface(key, value) }

func Inner[T any](n *vugu.VGNode, value T) { n.SetInnerHTML(value) }

func Prop[T any](n *vugu.VGNode, key string, value T) { propOf(n, key, value) }

func propOf(n *vugu.VGNode, key string, value any) {
	b, err := vjson.Marshal(value)
	if err != nil {
		panic(err)
	}
	n.Prop = append(n.Prop, vugu.VGProperty{Key: key, JSONVal: vjson.RawMessage(b)})
}

func Create(n *vugu.VGNode, f func(js.Value)) { n.JSCreateHandler = vugu.JSValueFunc(f) }

func Root(out *vugu.BuildOut, n *vugu.VGNode) { out.Out = append(out.Out, n) }

func Use[P vugu.Builder](in *vugu.BuildIn, id uint64, iteration any, fresh func() P) P {
	key := vugu.MakeCompKey(id^in.CurrentPositionHash(), iteration)
	c, ok := in.BuildEnv.CachedComponent(key).(P)
	if !ok {
		c = fresh()
		in.BuildEnv.WireComponent(c)
	}
	in.BuildEnv.UseComponent(key, c)
	return c
}

func Component(out *vugu.BuildOut, parent *vugu.VGNode, c vugu.Builder) *vugu.VGNode {
	out.Components = append(out.Components, c)
	n := &vugu.VGNode{Component: c}
	parent.AppendChild(n)
	return n
}
`

// shorter says what stands in the place of statements. A name of one capital
// letter in the first text stands for any expression.
var shorter = []struct {
	from []ast.Stmt
	to   string
}{
	{statements(`vgn.AddAttrInterface(K, X)`), `vg.Attr(vgn, K, X)`},
	{statements(`vgn.SetInnerHTML(X)`), `vg.Inner(vgn, X)`},
	{statements(`{
		b, err := vjson.Marshal(X)
		if err != nil {
			panic(err)
		}
		vgn.Prop = append(vgn.Prop, vugu.VGProperty{Key: K, JSONVal: vjson.RawMessage(b)})
	}`), `vg.Prop(vgn, K, X)`},
	{statements(`vgn.JSCreateHandler = vugu.JSValueFunc(X)`), `vg.Create(vgn, X)`},
	{statements(`vgout.Out = append(vgout.Out, vgn)`), `vg.Root(vgout, vgn)`},
	{statements(`vgcompKey := vugu.MakeCompKey(I^vgin.CurrentPositionHash(), vgiterkey)
	vgcomp, _ := vgin.BuildEnv.CachedComponent(vgcompKey).(*T)
	if vgcomp == nil {
		vgcomp = new(T)
		vgin.BuildEnv.WireComponent(vgcomp)
	}
	vgin.BuildEnv.UseComponent(vgcompKey, vgcomp)`), `vgcomp := vg.Use(vgin, I, vgiterkey, func() *T { return new(T) })`},
	{statements(`vgout.Components = append(vgout.Components, vgcomp)
	vgn = &vugu.VGNode{Component: vgcomp}
	vgparent.AppendChild(vgn)`), `vgn = vg.Component(vgout, vgparent, vgcomp)`},
}

// statements parses what stands in the body of a function.
func statements(text string) []ast.Stmt {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	return file.Decls[0].(*ast.FuncDecl).Body.List
}

// compactor makes one file shorter.
type compactor struct {
	source []byte
	base   token.Pos // of the first byte
	out    strings.Builder
	done   int // bytes of source that are in out, or replaced
}

// compact is a component as vugugen writes it, made shorter.
func compact(source []byte) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	c := &compactor{source: source, base: token.Pos(files.File(file.Pos()).Base())}
	c.blocks(file)
	return c.out.String() + string(source[c.done:]), nil
}

// blocks goes through the lists of statements in a node, from the outside in.
func (c *compactor) blocks(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BlockStmt)
		if ok {
			c.list(b.List)
		}
		return !ok
	})
}

func (c *compactor) list(list []ast.Stmt) {
	for i := 0; i < len(list); {
		n, text := c.nodes(list[i:])
		if n == 0 {
			n, text = c.short(list[i:])
		}
		if n == 0 {
			c.blocks(list[i])
			i++
			continue
		}
		c.out.Write(c.source[c.done : list[i].Pos()-c.base])
		c.out.WriteString(text)
		i += n
		c.done = int(list[i-1].End() - c.base)
	}
}

// short finds what is shorter than the first n statements of a list.
func (c *compactor) short(list []ast.Stmt) (n int, text string) {
	for _, s := range shorter {
		n := len(s.from)
		found := map[string]string{}
		if n > len(list) || !c.like(reflect.ValueOf(s.from), reflect.ValueOf(list[:n]), found) || found["X"] == "nil" {
			continue
		}
		return n, placeholder.ReplaceAllStringFunc(s.to, func(name string) string { return found[name] })
	}
	return 0, ""
}

var placeholder = regexp.MustCompile(`\b[A-Z]\b`)

// like compares syntax but for where it stands, and keeps what was found in the
// places of names of one capital letter.
func (c *compactor) like(pattern, v reflect.Value, found map[string]string) bool {
	if !pattern.IsValid() || !v.IsValid() {
		return pattern.IsValid() == v.IsValid()
	}
	if pattern.Type() != v.Type() {
		return false
	}
	switch pattern.Kind() {
	case reflect.Interface:
		if id, ok := pattern.Interface().(*ast.Ident); ok && placeholder.MatchString(id.Name) {
			if x, ok := v.Interface().(ast.Expr); ok {
				text := string(c.source[x.Pos()-c.base : x.End()-c.base])
				before, again := found[id.Name]
				found[id.Name] = text
				return !again || before == text
			}
		}
		return c.like(pattern.Elem(), v.Elem(), found)
	case reflect.Pointer:
		if pattern.IsNil() || v.IsNil() {
			return pattern.IsNil() == v.IsNil()
		}
		return c.like(pattern.Elem(), v.Elem(), found)
	case reflect.Struct:
		for i := range pattern.NumField() {
			if !c.like(pattern.Field(i), v.Field(i), found) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if pattern.Len() != v.Len() {
			return false
		}
		for i := range pattern.Len() {
			if !c.like(pattern.Index(i), v.Index(i), found) {
				return false
			}
		}
		return true
	}
	if at, ok := pattern.Interface().(token.Pos); ok { // as of the dots of append(a, b...)
		return at.IsValid() == v.Interface().(token.Pos).IsValid()
	}
	return pattern.Equal(v)
}

// compactComponents are the components and what they call, by the names of the
// files that the compiler reads.
func (s *site) compactComponents() map[string]string {
	files := map[string]string{filepath.Join(s.root, components, "vg", "vg.go"): shorthand}
	for _, folder := range s.componentFolders() {
		for _, name := range cli.Must(filepath.Glob(filepath.Join(folder, "*"+generatedEnd))) {
			cli.Within(name, func() {
				text := cli.Must(compact(cli.Must(os.ReadFile(name))))
				files[name] = strings.Replace(text, "\nimport ", "\nimport \"memtide/"+components+"/vg\"\nimport ", 1)
			})
		}
	}
	return files
}
