package chart

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/wasm/proto"
	"memtide/web/chart/template"
	"memtide/web/display"
	"memtide/web/question"
)

// The embedded template is what go-echarts makes now.
func TestQuestionTemplateIsCurrent(t *testing.T) {
	got, err := template.Question(template.Margins{Left: px(answerLeft), Right: px(answerRight), Top: px(answerTop), Bottom: px(answerBottom)})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.File(t, "question.template.json", got)
	questionTemplate = got // what is written with -update is used by the other tests
	checkSeries(t, got, map[int]string{seriesPresent: "present", seriesMethod: "strategy", seriesMark: "point"})
}

// answered is the chart of a question with two strategies and a failure.
func answered(name string, width, height float64) *Answer {
	var a question.Answers
	s := question.Subject{Method: proto.Method{Strategy: "rotor"}, Batch: 8, Bandwidth: 16e9}
	add := func(x proto.Answer) { a.List = append(a.List, x) }
	if name == "links" {
		for i, tenths := range []engine.Rate{10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1400, 2000} {
			r := tenths * 1e8
			add(proto.Answer{Strategy: "rotor", Rate: r, StepTime: 120 * ms})
			add(proto.Answer{Strategy: "dynprog", Rate: r, StepTime: max(500*ms-time.Duration(50*i)*ms, 100*ms)})
		}
		add(proto.Answer{Strategy: "pofo", Rate: 1e9, Failure: proto.Fail(proto.Infeasible, "too small")})
	} else {
		for i, b := range []int{1, 2, 4, 8, 16} {
			add(proto.Answer{Strategy: "rotor", Batch: b, StepTime: time.Duration(20+5*i*i) * ms})
		}
		add(proto.Answer{Strategy: "rotor", Batch: 20, StepTime: 110 * ms, Largest: true})
		add(proto.Answer{Strategy: "dynprog", Batch: 0, Largest: true, Failure: proto.Fail(proto.Infeasible, "too small")})
		add(proto.Answer{Strategy: "dynprog", Batch: 32, Failure: proto.Fail(proto.Infeasible, "too small")})
	}
	return &Answer{Chart: question.Lookup(name).Chart(&a, s), Width: width, Height: height}
}

func TestAnswerGoldens(t *testing.T) {
	for name, r := range map[string]*Answer{"links": answered("links", 600, 250), "batch": answered("batch", 380, 250)} {
		raw, err := r.Option(Look{Colours: display.Palette(display.Light), Font: "sans-serif"})
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
		golden.File(t, file, got.Bytes())
	}
}

// Points are found where they are drawn.
func TestAnswerPoints(t *testing.T) {
	for _, name := range []string{"links", "batch"} {
		r := answered(name, 600, 250)
		for _, l := range r.Lines {
			for _, p := range l.Points {
				x, y := r.X(p.X), r.Y(p.Y)
				if p.Y > r.Top {
					continue
				}
				if x < answerLeft-0.01 || x > 600 || y < answerTop || y > 250-answerBottom {
					t.Errorf("%s, %s: the point %+v is at %.0f, %.0f, outside of the plot", name, l.Title, p, x, y)
				}
				if found := r.Nearest(x, y); found < 0 || found != p.Answer && (l.Mark == nil || found != l.Mark.Answer || l.Mark.X != p.X) {
					t.Errorf("%s: at the point %+v the answer %d is found", name, p, found)
				}
			}
		}
		if found := r.Nearest(-200, -200); found >= 0 {
			t.Errorf("%s: far from every point the answer %d is found", name, found)
		}
	}
}

// Names of lines never stand on each other, and stay beside the plot.
func TestAnswerNames(t *testing.T) {
	r := &Answer{Chart: &question.Chart{From: 1, To: 100, Low: 0, Top: 10}, Width: 600, Height: 250}
	for i, y := range []float64{0, 0.1, 0.2, 5, 5.01, 9.9} {
		r.Lines = append(r.Lines, question.Line{Strategy: strconv.Itoa(i), Title: "name", Points: []question.Point{{X: 100, Y: y}}})
	}
	at := r.names()
	for i := range at {
		if at[i] < 0 || at[i] > 250-answerBottom+0.01 {
			t.Errorf("name %d is at %.0f; want it beside the plot", i, at[i])
		}
		for j := range i {
			if d := at[i] - at[j]; d > -labelHeight+0.01 && d < labelHeight-0.01 {
				t.Errorf("names %d and %d are at %.1f and %.1f; want %v between them", i, j, at[i], at[j], labelHeight)
			}
		}
	}
}
