//go:build !js

package ui

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/lookup"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// askAll opens the questions and answers one with the engine itself.
func askAll(t *testing.T, s *state.State, name string) {
	t.Helper()
	s.View.Questions, s.View.Question = true, name
	for _, e := range s.Update(state.StartQuestion{Name: name}) {
		if e, ok := e.(state.Question); ok {
			var heard []state.Message
			end := jobs.Question(context.Background(), new(serve.Local), e, func(m state.Message) { heard = append(heard, m) })
			for _, m := range append(heard, end) {
				s.Update(m)
			}
		}
	}
	if a := s.Answers(question.Lookup(name)); a == nil || !a.Complete() || len(a.List) == 0 {
		t.Fatalf("%s: got %+v; want all answers", name, a)
	}
}

// small is the page of a network that is solved at once.
func small(t *testing.T) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset = "alexnet-b16"
	s, err := jobs.First(context.Background(), new(serve.Local), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The smallest budget is what the engine finds: with it the step is as fast as was
// asked for.
func TestSmallestAnswer(t *testing.T) {
	s := small(t)
	s.View.Questions, s.View.Question = true, "smallest"
	c := &Question{S: s, Q: question.Lookup("smallest")}
	if !c.CanAsk() || c.AskText() != "Compute" || c.Sentence() != "" || c.HTML() != "" || c.HasChart() {
		t.Errorf("before it is asked: %q, %q; want only the button", c.AskText(), c.Sentence())
	}
	askAll(t, s, "smallest")
	if got := c.Sentence(); !strings.Contains(got, " are enough for at most 10 % more: ") || !strings.HasSuffix(got, ".") {
		t.Errorf("the sentence is %q", got)
	}
	if got := c.SetText(); !strings.HasPrefix(got, "Set ") {
		t.Errorf("the button says %q; want Set and a budget", got)
	}
	pagetest.WellFormed(t, pageOf(t, s))
	s.Update(state.UseAnswer{Name: "smallest"})
	r, err := new(serve.Local).Do(context.Background(), &proto.Request{Op: proto.OpSolve, Solve: &proto.Solve{
		Setting: proto.Setting{Network: s.Network.Ref(), Device: engine.Device{ToHost: s.Choice.ToHost, ToDev: s.Choice.ToDev, Duplex: s.Choice.Duplex}, Transfers: s.Choice.Transfers},
		Method:  proto.Method{Strategy: s.Choice.Strategy}, Budget: s.Choice.Budget}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := r.Solved.Trace.Makespan, r.Solved.KeepAll.StepTime*11/10; got > most {
		t.Errorf("with the budget that is set the step takes %v; want at most %v", got, most)
	}
}

// A table has its rows in their order, and every row that can be used has a button.
func TestAnswerTable(t *testing.T) {
	s := small(t)
	askAll(t, s, "help")
	q := question.Lookup("help")
	html, at, uses := string((&Question{S: s, Q: q}).HTML()), 0, 0
	for _, r := range q.Table(&s.Answers(q).Answers, s.Subject()).Rows {
		k := strings.Index(html[at:], `<th scope="row">`+r.Head+`</th>`)
		if k < 0 {
			t.Errorf("%s is not in the table behind %q", r.Head, html[:at])
			continue
		}
		at += k
		if r.Use != "" {
			uses++
		}
	}
	if got := strings.Count(html, `data-do="use-answer"`); got != uses || uses < 3 {
		t.Errorf("%d answers can be used; want %d, of at least 3\n%s", got, uses, html)
	}
	pagetest.WellFormed(t, pageOf(t, s))
}

// Names of files get into no table as HTML.
func TestAnswersAreEscaped(t *testing.T) {
	s := small(t)
	askAll(t, s, "help")
	q := question.Lookup("help")
	a := s.Answers(q)
	a.List[0].Name, a.List[0].StepTime, a.List[0].Failure = "<i>&", 0, proto.Fail(proto.Infeasible, `"<b>`)
	if html := string((&Question{S: s, Q: q}).HTML()); strings.Contains(html, "<i>") || strings.Contains(html, "<b>") || strings.Contains(html, `""`) {
		t.Errorf("the table is not escaped:\n%s", html)
	}
}

func TestBatchAndLinkAnswers(t *testing.T) {
	s := small(t)
	askAll(t, s, "batch")
	batch := &Question{S: s, Q: question.Lookup("batch")}
	if got := batch.Sentence(); !strings.Contains(got, "trains a batch of up to ") || !batch.HasChart() {
		t.Errorf("%q, chart %v; want the largest batch and a chart", got, batch.HasChart())
	}
	if got := string(batch.HTML()); strings.Count(got, `<th scope="row">`) != 4 || !strings.Contains(got, "data-do=\"use-answer\"") || strings.Contains(got, " samples/s<") {
		t.Errorf("want four strategies, of which those that fit can be used, and numbers without unit:\n%s", got)
	}
	askAll(t, s, "links")
	links := &Question{S: s, Q: question.Lookup("links")}
	if got := links.Sentence(); !strings.Contains(got, " than Best choice of blocks") {
		t.Errorf("%q; want where offloading beats recomputing", got)
	}
	if got := links.Label(); !strings.Contains(got, "Best choice of blocks from ×") || !strings.Contains(got, " at 200 GB/s") {
		t.Errorf("the chart is called %q; want what its lines do", got)
	}
	pagetest.WellFormed(t, pageOf(t, s))
	s.View.Questions = false
	if links.Sentence() != "" || links.HasChart() || batch.HTML() != "" {
		t.Error("what is closed is on the page")
	}
}

func TestQuestionCommands(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		in   input.Command
		want state.Message
	}{
		{input.Command{Do: "questions", Arg: "batch", Settled: true}, state.OpenQuestion{Name: "batch"}},
		{input.Command{Do: "all-answers", Settled: true}, state.OpenQuestion{Name: "help"}},
		{input.Command{Do: "ask", Arg: "help", Settled: true}, state.StartQuestion{Name: "help"}},
		{input.Command{Do: "unask", Arg: "links", Settled: true}, state.StopQuestion{Name: "links"}},
		{input.Command{Do: "use-answer", Arg: "batch", Index: 3, Settled: true}, state.UseAnswer{Name: "batch", Index: 3}},
		{input.Command{Do: "slowdown", Value: "5.5", Settled: true}, state.SetSlowdown{Slowdown: 550}},
		{input.Command{Do: "slowdown", Value: "5."}, state.Type{Field: "slowdown", Text: "5."}},
		{input.Command{Do: "slowdown", Value: "-1", Settled: true}, state.Refuse{Field: "slowdown", Text: `The slowdown is "-1"; 0 to 10000 per cent are possible.`}},
		{input.Command{Do: "chain", Settled: true}, state.ToggleChain{}},
		{input.Command{Do: "layers", Settled: true}, state.ToggleLayers{}},
		{input.Command{Do: "layers-sort", Arg: "3", Settled: true}, state.SortLayers{By: tell.LayerSize}},
		{input.Command{Do: "layers-sort", Arg: "99", Settled: true}, nil},
		{input.Command{Do: "layers-find", Value: "conv"}, state.FindLayers{Text: "conv"}},
	} {
		if got := c.in.Message(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: message %#v; want %#v", c.in, got, c.want)
		}
	}
	if a, ok := input.KeyOf(input.Key{Code: "KeyK", Key: "k"}); !ok || a.Act(s) != (state.ToggleChain{}) {
		t.Errorf("K does %#v; want the critical chain", a)
	}
}

// Only rows on screen are in the table; what stands for the others has their
// height.
func TestLayerRows(t *testing.T) {
	s := pagetest.First(t)
	s.Update(state.ToggleLayers{})
	c := &Layers{S: s}
	total := len(s.LayerRows())
	for _, top := range []int{0, 7, total - 5, total + 50} {
		s.View.Layers.Top = top
		html := string(c.HTML())
		rows := strings.Count(html, `data-do="row"`)
		if rows > layerRows || rows < 10 || len(html) > 15<<10 {
			t.Errorf("from row %d on there are %d rows in %d bytes; want at most %d in 15 KiB", top, rows, len(html), layerRows)
		}
		empty := 0
		for _, part := range strings.Split(html, "height:")[1:] {
			n := 0
			for _, r := range part[:strings.Index(part, "px")] {
				n = n*10 + int(r-'0')
			}
			empty += n
		}
		if empty != (total-rows)*LayerRowHeight {
			t.Errorf("from row %d on the empty rows are %d px high; want %d", top, empty, (total-rows)*LayerRowHeight)
		}
	}
	s.View.Layers.Top = 0
	s.Update(state.Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 2}})
	if html := string(c.HTML()); strings.Count(html, `class="selected" aria-current="true"`) != 1 {
		t.Error("the selected row is not marked once")
	}
	s.Update(state.SortLayers{By: tell.LayerSize})
	for i, h := range c.Heads() {
		want := "none"
		if i == int(tell.LayerSize) {
			want = "descending"
		}
		if h.Sort != want {
			t.Errorf("column %s is sorted %s; want %s", h.Title, h.Sort, want)
		}
	}
	pagetest.WellFormed(t, pageOf(t, s))
	s.Shown.Network.Profile.Chain.Stages[0].Name = "<script>"
	if strings.Contains(string(c.HTML()), "<script>") {
		t.Error("names are not escaped")
	}
}

func TestLayerTop(t *testing.T) {
	for _, c := range []struct {
		row             int
		scrolled, shown float64
		want            float64
	}{{-1, 0, 260, -1}, {0, 0, 260, -1}, {9, 0, 260, -1}, {10, 0, 260, 26}, {3, 100, 260, 78}, {4, 104, 260, -1}} {
		if got := LayerTop(c.row, c.scrolled, c.shown); got != c.want {
			t.Errorf("row %d, scrolled by %v, %v shown: %v; want %v", c.row, c.scrolled, c.shown, got, c.want)
		}
	}
}

// With everything open the tree stays small enough to be drawn within a frame.
func TestOpenTreeIsSmall(t *testing.T) {
	s := small(t)
	for _, q := range []string{"help", "smallest"} {
		askAll(t, s, q)
	}
	s.Update(state.ToggleLayers{})
	s.Update(state.ToggleChain{})
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	results := env.RunBuild(&Root{S: s})
	elements := 0
	var visit func(n *vugu.VGNode)
	visit = func(n *vugu.VGNode) {
		if n.Component != nil {
			visit(results.ResultFor(n.Component).Out[0])
			return
		}
		if n.Type == vugu.ElementNode && n.Data != "" { // vg-template is none
			elements++
		}
		if n.InnerHTML != nil && len(*n.InnerHTML) > 15<<10 {
			t.Errorf("the content of a %s is %d bytes long; want at most 15 KiB", n.Data, len(*n.InnerHTML))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(results.Out.Out[0])
	if elements > 522 {
		t.Errorf("with questions and layers open the page has %d elements; want at most 522", elements)
	}
	t.Logf("%d elements", elements)
}

// Of a graph of operations the questions are answered by what takes graphs.
func TestQuestionsOfGraph(t *testing.T) {
	s := graphPage(t, nil)
	for _, q := range question.All() {
		askAll(t, s, q.Name)
		for _, x := range s.Answers(q).List {
			if st := engine.Lookup(x.Strategy); st == nil || !st.Graphs && st.Name != "keepall" {
				t.Errorf("%s: an answer is about %q, which takes no graphs", q.Name, x.Strategy)
			}
		}
	}
	s.Update(state.ToggleLayers{})
	if html := string((&Layers{S: s}).HTML()); strings.Count(html, `data-do="row"`) < 10 {
		t.Errorf("the table of layers has too few rows:\n%s", html)
	}
	pagetest.WellFormed(t, pageOf(t, s))
}
