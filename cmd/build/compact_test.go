//go:build !js

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestCompactPatterns(t *testing.T) {
	const (
		text    = `vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "\n  "}`
		element = `vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute(nil)}`
		label   = `vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "label", Attr: []vugu.VGAttribute{{Namespace: "", Key: "class", Val: "a b"}, vugu.VGAttribute{Namespace: "", Key: "for", Val: ""}}}`
		put     = "\nvgparent.AppendChild(vgn)\n"
		in      = "{\nvgparent := vgn\n_ = vgparent\n"
	)
	for _, c := range []struct{ what, from, want string }{
		{"a text", text + put, `vgn = vg.Nodes(vgparent, "t\n  \x00")`},
		{"an element without attributes", element + put, `vgn = vg.Nodes(vgparent, "0p\x00")`},
		{"two attributes", label + put, `vgn = vg.Nodes(vgparent, "2label\x00class\x00a b\x00for\x00\x00")`},
		{"a root", element + "\nvgout.Out = append(vgout.Out, vgn)\t// root for output\n", "vgn = vg.Nodes(nil, \"0p\\x00\")\nvg.Root(vgout, vgn)\t// root for output"},
		{"neighbours, with constants", text + put + label + put + "vgn.AddAttrInterface(\"title\", \"x\")\nvgn.SetInnerHTML(vugu.HTML(\"<b>\"))\n" + element + put,
			`vgn = vg.Nodes(vgparent, "t\n  \x003label\x00class\x00a b\x00for\x00\x00title\x00x\x00h<b>\x000p\x00")`},
		{"what is below", element + put + in + text + put + element + put + in + text + put + "}\n}\n" + text + put,
			`vgn = vg.Nodes(vgparent, "0p\x00(t\n  \x000p\x00(t\n  \x00))t\n  \x00")`},
		{"what is below, not known", element + put + in + text + put + "vgn.SetInnerHTML(c.A())\n}\n",
			"vgn = vg.Nodes(vgparent, \"0p\\x00\")\n{\nvgparent := vgn\n_ = vgparent\nvgn = vg.Nodes(vgparent, \"t\\n  \\x00\")\nvg.Inner(vgn, c.A())\n}"},
		{"within a loop", "for _, o := range c.List() {\n" + element + put + "vgn.AddAttrInterface(\"id\", o.ID)\n}",
			"for _, o := range c.List() {\nvgn = vg.Nodes(vgparent, \"0p\\x00\")\nvg.Attr(vgn, \"id\", o.ID)\n}"},
		{"a value", "{\nb, err := vjson.Marshal(a.X(1))\nif err != nil {\npanic(err)\n}\nvgn.Prop = append(vgn.Prop, vugu.VGProperty{Key: \"value\", JSONVal: vjson.RawMessage(b)})\n}",
			`vg.Prop(vgn, "value", a.X(1))`},
		{"a handler", `vgn.JSCreateHandler = vugu.JSValueFunc(func(value js.Value) { c.Give(value) })`,
			`vg.Create(vgn, func(value js.Value) { c.Give(value) })`},
		{"a component", `vgcompKey := vugu.MakeCompKey(0x12^vgin.CurrentPositionHash(), vgiterkey)
vgcomp, _ := vgin.BuildEnv.CachedComponent(vgcompKey).(*Part)
if vgcomp == nil {
	vgcomp = new(Part)
	vgin.BuildEnv.WireComponent(vgcomp)
}
vgin.BuildEnv.UseComponent(vgcompKey, vgcomp)
vgcomp.S = c.S
vgout.Components = append(vgout.Components, vgcomp)
vgn = &vugu.VGNode{Component: vgcomp}` + put,
			"vgcomp := vg.Use(vgin, 0x12, vgiterkey, func() *Part { return new(Part) })\nvgcomp.S = c.S\nvgn = vg.Component(vgout, vgparent, vgcomp)"},

		{"a block after a block", element + put + in + text + put + "}\n" + in + text + put + "}\n",
			"vgn = vg.Nodes(vgparent, \"0p\\x00(t\\n  \\x00)\")\n" + in + "vgn = vg.Nodes(vgparent, \"t\\n  \\x00\")\n}"},
		{"of another type", "vgcompKey := vugu.MakeCompKey(0x12^vgin.CurrentPositionHash(), vgiterkey)\nvgcomp, _ := vgin.BuildEnv.CachedComponent(vgcompKey).(*Part)\nif vgcomp == nil {\nvgcomp = new(Other)\nvgin.BuildEnv.WireComponent(vgcomp)\n}\nvgin.BuildEnv.UseComponent(vgcompKey, vgcomp)", ""},
		{"another namespace", strings.Replace(element, `Namespace: ""`, `Namespace: "svg"`, 1) + put, ""},
		{"an attribute of another namespace", strings.Replace(label, `{Namespace: ""`, `{Namespace: "xlink"`, 1) + put, ""},
		{"no attributes, but not nil", strings.Replace(element, "(nil)", "{}", 1) + put, ""},
		{"another kind of node", strings.Replace(text, "(1)", "(4)", 1) + put, ""},
		{"a zero byte", strings.Replace(text, `\n`, `\x00`, 1) + put, ""},
		{"a text that is not constant", strings.Replace(text, `"\n  "`, "c.A()", 1) + put, ""},
		{"a value that has no type", `vgn.AddAttrInterface("id", nil)`, ""},
		{"a list for a value", `vgn.AddAttrList(c.List()...)`, ""},
		{"an error that is kept", "{\nb, err := vjson.Marshal(a)\nif err != nil {\nreturn err\n}\nvgn.Prop = append(vgn.Prop, vugu.VGProperty{Key: \"value\", JSONVal: vjson.RawMessage(b)})\n}", ""},
	} {
		const before, after = "package p\nfunc _() {\n", "\n}\n"
		got, err := compact([]byte(before + c.from + after))
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		got = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(got, before), after))
		if c.want == "" {
			c.want = strings.TrimSpace(c.from)
		}
		if got != c.want {
			t.Errorf("%s: %s\nbecomes %s\nwant    %s", c.what, c.from, got, c.want)
		}
	}
}

// All that vugugen has written is known. If a version of it writes something
// else, the program is larger until it is known here.
func TestCompactKnowsAll(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := compactComponents(root)
	if err != nil {
		t.Fatal(err)
	}
	long := regexp.MustCompile(`.*(&vugu\.VGNode\{|\.AddAttr|\.SetInnerHTML|vjson\.Marshal|\.CachedComponent|\.Prop = |Handler = |append\().*`)
	made := 0
	for name, text := range files {
		if !strings.HasSuffix(name, generatedEnd) {
			continue
		}
		made++
		for _, line := range long.FindAllString(text, -1) {
			t.Errorf("%s: left as it was: %s", filepath.Base(name), strings.TrimSpace(line))
		}
		if !strings.Contains(text, "vgn = vg.Nodes(") {
			t.Errorf("%s makes no nodes; is it a component?", filepath.Base(name))
		}
	}
	if made < 10 {
		t.Errorf("%d components; want all of them", made)
	}
}

// drawings is a test of the components that prints the nodes they make, in many
// states of the page, with the functions of their other tests.
const drawings = `//go:build !js

package ui

import (
	"fmt"
	"os"
	"testing"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/mount"
	"memtide/web/ui/pagetest"
)

func TestDrawings(t *testing.T) {
	out, err := os.Create(os.Getenv("MEMTIDE_DRAWINGS"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	wired := 0
	env.SetWireFunc(func(vugu.Builder) { wired++ })
	given := ""
	hosts := mount.Hosts(func(name string, _ js.Value) { given += " " + name })
	root := &Root{Hosts: hosts, Page: &permalink.Page{Base: "https://example.org/"}}
	draw := func(what string, s *state.State) {
		root.S, wired, given = s, 0, ""
		results := env.RunBuild(root)
		fmt.Fprintf(out, "# %s: %d new components\n", what, wired)
		var visit func(n, parent *vugu.VGNode)
		visit = func(n, parent *vugu.VGNode) {
			if n.Parent != parent {
				t.Errorf("%s: a %q has another parent", what, n.Data)
			}
			fmt.Fprintf(out, "%d %q %q %#v %T", n.Type, n.Data, n.Namespace, n.Attr, n.Component)
			for _, p := range n.Prop {
				fmt.Fprintf(out, " %s=%s", p.Key, p.JSONVal)
			}
			if n.InnerHTML != nil {
				fmt.Fprintf(out, " inner %q", *n.InnerHTML)
			}
			if n.JSCreateHandler != nil {
				n.JSCreateHandler.JSValueHandle(js.Value{})
				fmt.Fprintf(out, " created %T%s", n.JSCreateHandler, given)
			}
			fmt.Fprintln(out, n.JSPopulateHandler, n.DOMEventHandlerSpecList)
			if n.Component != nil {
				for i, r := range results.ResultFor(n.Component).Out {
					fmt.Fprintln(out, "root", i)
					visit(r, nil)
				}
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.NextSibling != nil && c.NextSibling.PrevSibling != c || c.NextSibling == nil && n.LastChild != c {
					t.Errorf("%s: below %q nodes are not in a list", what, n.Data)
				}
				visit(c, n)
			}
			fmt.Fprintln(out, "end")
		}
		visit(results.Out.Out[0], nil)
	}

	s := pagetest.Small(t)
	root.Starting = true
	draw("starting", s)
	root.Starting = false
	draw("ready", s)
	s.Alert = &state.Alert{Text: "a <b>", Lines: []string{"c", "d"}, Action: "e"}
	draw("alert", s)
	s.Alert, s.OverBudget = nil, &state.OverBudget{Budget: 3, Smallest: 4}
	draw("misfit", s)
	s.OverBudget = nil
	s.Solving = &state.Solving{ID: 99, Choice: s.Choice, Best: s.Shown.Solved}
	draw("solving", s)
	s.Solving = nil
	for _, m := range []state.Message{state.TogglePicker{}, state.FilterPresets{Text: "zebra"}, state.TogglePicker{}, state.ToggleHelp{}, state.ToggleHelp{}} {
		s.Update(m)
		draw(fmt.Sprintf("%T", m), s)
	}
	pagetest.Do(t, s, state.TogglePlaces{})
	for _, a := range alloc.Allocators() {
		pagetest.Do(t, s, state.SetAllocator{Name: a.Name})
		draw(a.Name, s)
	}
	pagetest.Do(t, s, state.ToggleCompare{})
	draw("compare", s)
	s.Sharing, s.View.CanSend = &state.Sharing{Exact: true, Note: "n"}, true
	draw("share", s)
	s.Sharing = nil
	pagetest.Ask(t, s, "smallest")
	s.View.LineList, s.View.Table, s.View.Layers.Open, s.View.Frame.Title = true, true, true, "title"
	draw("open", s)
	for _, m := range engine.Strategies() {
		s.Choice.Strategy = m.Name
		draw(m.Name, s)
	}
	s.Tuning = &tradeoff.Tuning{ID: 1, Params: []tradeoff.Param{{}}}
	draw("tuning", s)
	s.Tuning = &tradeoff.Tuning{Stopped: true}
	draw("tuned", s)
	draw("nothing", state.New())
}
`

// Components that were made shorter make the very same nodes.
func TestCompactDrawsTheSame(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := compactComponents(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := func(files map[string]string) string {
		dir := t.TempDir()
		files[filepath.Join(root, components, "vg_drawings_test.go")] = drawings
		list, err := overlayOf(files, dir)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "drawings")
		out, err := run(root, []string{"MEMTIDE_DRAWINGS=" + file}, "go", "test", "-count=1", "-vet=off", "-overlay="+list, "-run=^TestDrawings$", "./"+components)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want, got := strings.Split(drawn(map[string]string{}), "\n"), strings.Split(drawn(parts), "\n")
	state := ""
	for i := range min(len(want), len(got)) {
		if strings.HasPrefix(want[i], "#") {
			state = want[i]
		}
		if got[i] != want[i] {
			t.Fatalf("%s: node %d\nis   %s\nwant %s", state, i, got[i], want[i])
		}
	}
	if len(got) != len(want) || len(want) < 10_000 {
		t.Errorf("%d lines; want %d, and at least 10,000", len(got), len(want))
	}
	t.Logf("%d lines", len(want))
}
