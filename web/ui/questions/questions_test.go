//go:build !js

package questions

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/timeline"
)

// The smallest budget is what the engine finds: with it the step is as fast as was
// asked for.
func TestSmallestAnswer(t *testing.T) {
	s := pagetest.Small(t)
	s.View.Questions, s.View.Question = true, "smallest"
	c := &Question{S: s, Q: question.Lookup("smallest")}
	if !c.CanAsk() || c.AskText() != "Compute" || c.Sentence() != "" || c.HTML() != "" || c.HasChart() {
		t.Errorf("before it is asked: %q, %q; want only the button", c.AskText(), c.Sentence())
	}
	pagetest.Ask(t, s, "smallest")
	if got := c.Sentence(); !strings.Contains(got, " are enough for at most 10 % more: ") || !strings.HasSuffix(got, ".") {
		t.Errorf("the sentence is %q", got)
	}
	if got := c.SetText(); !strings.HasPrefix(got, "Set ") {
		t.Errorf("the button says %q; want Set and a budget", got)
	}
	pagetest.WellFormed(t, pagetest.HTML(t, &Questions{S: s}))
	s.Update(state.UseAnswer{Name: "smallest"})
	r, err := proto.Do(context.Background(), new(serve.Local).Do, &proto.Solve{
		Setting: proto.Setting{Network: s.Network.Ref(), Device: engine.Device{ToHost: s.Choice.ToHost, ToDev: s.Choice.ToDev, Duplex: s.Choice.Duplex}, Transfers: s.Choice.Transfers},
		Method:  proto.Method{Strategy: s.Choice.Strategy}, Budget: s.Choice.Budget}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := r.Trace.Makespan, r.KeepAll.StepTime*11/10; got > most {
		t.Errorf("with the budget that is set the step takes %v; want at most %v", got, most)
	}
}

// A table has its rows in their order, and every row that can be used has a button.
func TestAnswerTable(t *testing.T) {
	s := pagetest.Small(t)
	pagetest.Ask(t, s, "least")
	q := question.Lookup("least")
	html, at, uses := string((&Question{S: s, Q: q}).HTML()), 0, 0
	for _, r := range q.Table(&s.Answers(q).Answers, s.Subject()).Rows {
		k := strings.Index(html[at:], r.Head+`</th>`)
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
	pagetest.WellFormed(t, pagetest.HTML(t, &Questions{S: s}))
}

// Names of files get into no table as HTML.
func TestAnswersAreEscaped(t *testing.T) {
	s := pagetest.Small(t)
	pagetest.Ask(t, s, "least")
	q := question.Lookup("least")
	a := s.Answers(q)
	a.List[0].Name, a.List[0].StepTime, a.List[0].Failure = "<i>&", 0, proto.Fail(proto.Infeasible, `"<b>`)
	if html := string((&Question{S: s, Q: q}).HTML()); strings.Contains(html, "<i>") || strings.Contains(html, "<b>") || strings.Contains(html, `""`) {
		t.Errorf("the table is not escaped:\n%s", html)
	}
}

func TestBatchAndLinkAnswers(t *testing.T) {
	s := pagetest.Small(t)
	pagetest.Ask(t, s, "batch")
	batch := &Question{S: s, Q: question.Lookup("batch")}
	if got := batch.Sentence(); !strings.Contains(got, "trains a batch of up to ") || !batch.HasChart() {
		t.Errorf("%q, chart %v; want the largest batch and a chart", got, batch.HasChart())
	}
	if got := string(batch.HTML()); strings.Count(got, `<th scope="row">`) != 4 || !strings.Contains(got, "data-do=\"use-answer\"") || strings.Contains(got, " samples/s<") {
		t.Errorf("want four strategies, of which those that fit can be used, and numbers without unit:\n%s", got)
	}
	pagetest.Ask(t, s, "links")
	links := &Question{S: s, Q: question.Lookup("links")}
	if got := links.Sentence(); !strings.Contains(got, " than Best choice of blocks") {
		t.Errorf("%q; want where offloading beats recomputing", got)
	}
	if got := links.Label(); !strings.Contains(got, "Best choice of blocks from ×") || !strings.Contains(got, " at 200 GB/s") {
		t.Errorf("the chart is called %q; want what its lines do", got)
	}
	pagetest.WellFormed(t, pagetest.HTML(t, &Questions{S: s}))
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
		{input.Command{Do: "ask", Arg: "help", Settled: true}, state.StartQuestion{Name: "help"}},
		{input.Command{Do: "unask", Arg: "links", Settled: true}, state.StopQuestion{Name: "links"}},
		{input.Command{Do: "use-answer", Arg: "batch", Index: 3, Settled: true}, state.UseAnswer{Name: "batch", Index: 3}},
		{input.Command{Do: "slowdown", Value: "5.5", Settled: true}, state.SetSlowdown{Slowdown: 550}},
		{input.Command{Do: "slowdown", Value: "5."}, state.Type{Field: "slowdown", Text: "5."}},
		{input.Command{Do: "slowdown", Value: "-1", Settled: true}, state.Refuse{Field: "slowdown", Text: `The slowdown is "-1"; 0 to 10000 per cent are possible.`}},
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

// Of a graph of operations the questions are answered by what takes graphs.
func TestQuestionsOfGraph(t *testing.T) {
	s := pagetest.Graph(t, nil)
	for _, q := range question.All() {
		pagetest.Ask(t, s, q.Name)
		for _, x := range s.Answers(q).List {
			if st := engine.Lookup(x.Strategy); st == nil || !st.Graphs && st.Name != "keepall" {
				t.Errorf("%s: an answer is about %q, which takes no graphs", q.Name, x.Strategy)
			}
		}
	}
	s.Update(state.ToggleLayers{})
	if html := string((&timeline.Layers{S: s}).HTML()); strings.Count(html, `data-do="row"`) < 10 {
		t.Errorf("the table of layers has too few rows:\n%s", html)
	}
	pagetest.WellFormed(t, pagetest.HTML(t, &Questions{S: s}))
}
