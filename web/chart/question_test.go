package chart

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/chart/template"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/state"
)

// The embedded template is what go-echarts makes now.
func TestQuestionTemplateIsCurrent(t *testing.T) {
	got, err := template.Question(template.Margins{Left: px(replyLeft), Right: px(replyRight), Top: px(replyTop), Bottom: px(replyBottom)})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile("question.template.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
		questionTemplate = got
	}
	if !bytes.Equal(got, questionTemplate) {
		t.Errorf("question.template.json is not what package template makes (go test -run Template -update rewrites it):\n%s", got)
	}
	if template.Present != seriesPresent || template.Method != seriesMethod || template.Mark != seriesMark {
		t.Error("the series of the template are not in the order that the chart expects")
	}
}

// asked is a page on which a question was asked, with two strategies and a failure.
func asked(t *testing.T, q proto.Question) *state.State {
	t.Helper()
	s := state.New()
	s.Update(state.Start{Choice: state.Choice{Source: state.Source{Preset: "resnet50-b8"}, ToHost: 16e9, ToDev: 16e9, Budget: choice.DefaultBudget, Strategy: "rotor"}})
	p, _, err := preset.Parse("resnet50-b8")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Profile(8)
	if err != nil {
		t.Fatal(err)
	}
	s.Update(state.Opened{ID: s.Opening.ID, Profile: profile, Reply: &proto.Opened{Totals: proto.Totals{Batch: 8, KeepAllPeak: engine.GiB}}})
	for _, e := range s.Update(state.Ask{Question: q}) {
		e, ok := e.(state.Inquire)
		if !ok {
			continue
		}
		n := 0
		add := func(a proto.Answer) {
			n++
			a.Done, a.Total = n, 30
			s.Update(state.Answered{ID: e.ID, Answer: a})
		}
		if q == proto.Links {
			for i, r := range e.Request.Rates {
				add(proto.Answer{Strategy: "rotor", Rate: r, StepTime: 120 * ms})
				add(proto.Answer{Strategy: "dynprog", Rate: r, StepTime: max(500*ms-time.Duration(50*i)*ms, 100*ms)})
			}
			add(proto.Answer{Strategy: "pofo", Rate: 1e9, Failure: proto.Fail(proto.Infeasible, "too small")})
			continue
		}
		for i, b := range []int{1, 2, 4, 8, 16} {
			add(proto.Answer{Strategy: "rotor", Batch: b, StepTime: time.Duration(20+5*i*i) * ms})
		}
		add(proto.Answer{Strategy: "rotor", Batch: 20, StepTime: 110 * ms, Largest: true})
		add(proto.Answer{Strategy: "dynprog", Batch: 0, Largest: true, Failure: proto.Fail(proto.Infeasible, "too small")})
		add(proto.Answer{Strategy: "dynprog", Batch: 32, Failure: proto.Fail(proto.Infeasible, "too small")})
	}
	return s
}

func TestReplyGoldens(t *testing.T) {
	if got := NewLinks(state.New(), 600, 250); got != nil {
		t.Errorf("without an answer there is a chart: %+v", got)
	}
	for name, r := range map[string]*Reply{"links": NewLinks(asked(t, proto.Links), 600, 250), "batch": NewBatches(asked(t, proto.LargestBatch), 380, 250)} {
		raw, err := r.Option(Look{Colours: draw.Palette(draw.Light), Font: "sans-serif"})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, raw, "", " "); err != nil {
			t.Fatalf("%s: the option is no JSON: %v", name, err)
		}
		got.WriteByte('\n')
		if strings.Contains(got.String(), `"$`) {
			t.Errorf("%s: a placeholder of the template is left", name)
		}
		file := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: the option differs from %s (go test -run Golden -update rewrites it):\n%s", name, file, got.String())
		}
	}
}

// Points are found where they are drawn, and the words say what the lines do.
func TestReplyPoints(t *testing.T) {
	for _, q := range []proto.Question{proto.Links, proto.LargestBatch} {
		s := asked(t, q)
		r := NewLinks(s, 600, 250)
		if q == proto.LargestBatch {
			r = NewBatches(s, 600, 250)
		}
		for _, l := range r.Lines {
			for _, p := range l.Points {
				x, y := r.X(p.X), r.Y(p.Y)
				if p.Y > r.Top {
					continue
				}
				if x < replyLeft-0.01 || x > 600 || y < replyTop || y > 250-replyBottom {
					t.Errorf("%s, %s: the point %+v is at %.0f, %.0f, outside of the plot", q, l.Title, p, x, y)
				}
				found := r.Nearest(x, y)
				if a := s.Asked(q).Answers; found < 0 || a[found].StepTime <= 0 || a[found].Rate != a[p.Answer].Rate || a[found].Batch != a[p.Answer].Batch {
					t.Errorf("%s: at the point %+v the answer %d is found", q, p, found)
				}
				if words := r.PointWords(p.Answer); !strings.HasPrefix(words, l.Title+"\n") {
					t.Errorf("%s: the words of a point are %q", q, words)
				}
			}
		}
		if found := r.Nearest(-200, -200); found >= 0 {
			t.Errorf("%s: far from every point the answer %d is found", q, found)
		}
	}
	if got, want := NewBatches(asked(t, proto.LargestBatch), 600, 250).Words(), "Optimal recomputation from 50/s at batch 1 to 182/s at batch 20"; got != want {
		t.Errorf("words %q; want %q", got, want)
	}
	if got, want := NewLinks(asked(t, proto.Links), 600, 250).Words(), "Optimal recomputation from 120 ms at 1 GB/s to 120 ms at 200 GB/s; Optimal set for streamed transfers from 500 ms at 1 GB/s to 100 ms at 200 GB/s"; got != want {
		t.Errorf("words %q; want %q", got, want)
	}
}

// Names of lines never stand on each other, and stay beside the plot.
func TestReplyNames(t *testing.T) {
	r := &Reply{Width: 600, Height: 250, From: 1, To: 100, Low: 0, Top: 10}
	for i, y := range []float64{0, 0.1, 0.2, 5, 5.01, 9.9} {
		r.Lines = append(r.Lines, ReplyLine{Strategy: strconv.Itoa(i), Title: "name", Points: []ReplyPoint{{X: 100, Y: y}}})
	}
	at := r.names()
	for i := range at {
		if at[i] < 0 || at[i] > 250-replyBottom+0.01 {
			t.Errorf("name %d is at %.0f; want it beside the plot", i, at[i])
		}
		for j := range i {
			if d := at[i] - at[j]; d > -labelHeight+0.01 && d < labelHeight-0.01 {
				t.Errorf("names %d and %d are at %.1f and %.1f; want %v between them", i, j, at[i], at[j], labelHeight)
			}
		}
	}
}
