//go:build !js

// Package pagetest returns states of the page for the tests of its components. The states come from
// the same jobs and the same engine as on the page.
package pagetest

import (
	"context"
	_ "embed"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"
	"memtide/engine"
	_ "memtide/profiles/formats/all"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/addresses"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
	_ "memtide/wasm/serve/step"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/state"
)

// share is a budget in which not everything can be kept.
var share = choice.Budget{Share: 60 * choice.Percent}

// First returns the state of the page that has opened the default example.
func First(t *testing.T) *state.State {
	t.Helper()
	c := choice.Default()
	c.Budget = share
	return open(t, c)
}

// open returns the state of the page that has opened and solved what was chosen.
func open(t *testing.T, c choice.Choice) *state.State {
	t.Helper()
	s, err := jobs.First(context.Background(), new(serve.Local), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Do updates s by messages, and carries out the effects of each before the next, as the browser
// side would, except for curves, questions and training steps.
func Do(t *testing.T, s *state.State, messages ...state.Message) {
	t.Helper()
	ctx, pool := context.Background(), new(serve.Local)
	for _, m := range messages {
		jobs.Settle(ctx, pool, s, s.Update(m))
	}
}

// AskStep returns a page that has asked about a training step, with the effect.
func AskStep(t *testing.T, model string, args engine.Args) (*state.State, state.AskStep) {
	t.Helper()
	s := state.New()
	c := choice.Default()
	c.Step, c.StepArgs = model, args
	for _, e := range s.Update(state.Start{Choice: c}) {
		if e, ok := e.(state.AskStep); ok {
			return s, e
		}
	}
	t.Fatal("nothing is asked for; want the step")
	return nil, state.AskStep{}
}

// Step returns a page that shows the answer about a training step.
func Step(t *testing.T, model string, args engine.Args) *state.State {
	t.Helper()
	s, e := AskStep(t, model, args)
	e.Request.Limit = 0 // however slow the machine is
	r, err := proto.Do(context.Background(), new(serve.Local).Do, &e.Request, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Update(state.StepAnswered{ID: e.ID, Stepped: r, Whole: true})
	return s
}

// Snapshot returns a page that has opened a memory snapshot from a file in cmd/memtide/testdata.
func Snapshot(t *testing.T, file string) *state.State {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	data, err := os.ReadFile(filepath.Join(self, "../../../../cmd/memtide/testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	s := First(t)
	Do(t, s, state.PickFile{Name: file, Bytes: data})
	if s.Doctor() == nil || s.Doctor().Report == nil || s.Doctor().Advice == nil {
		t.Fatalf("the doctor knows %+v; want a report and advice", s.Doctor())
	}
	return s
}

// HTML renders a component.
func HTML(t *testing.T, component vugu.Builder) string {
	t.Helper()
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := staticrender.New(&b).Render(env.RunBuild(component)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// WellFormed fails if tags are not closed, if ids are not unique, or if a label names an id that does not exist.
func WellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids, labelled := map[string]bool{}, map[string]bool{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] {
					t.Errorf("the id %q is used twice", a.Value)
				}
				ids[a.Value] = true
			case "for", "aria-labelledby", "aria-describedby":
				for id := range strings.FieldsSeq(a.Value) {
					labelled[id] = true
				}
			}
		}
	}
	for id := range labelled {
		if !ids[id] {
			t.Errorf("a label names the id %q, which does not exist", id)
		}
	}
}

// Number reads a number as the page writes it.
func Number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.NewReplacer("−", "-", "±", "").Replace(text), 64)
	if err != nil {
		t.Errorf("%q is no number", text)
	}
	return n
}

// skips is a file with a graph of twelve operations with weights, and their backwards. Every other operation also
// reads the value that was made two operations before.
//
//go:embed skips.json
var skips []byte

// Graph returns a page that shows a graph of operations from a file.
func Graph(t *testing.T, change func(*state.Choice)) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source, c.Budget = state.Source{File: "skips.json", Profile: skips}, share
	if change != nil {
		change(&c)
	}
	return open(t, c)
}

// Ask asks what would help and answers with the engine.
func Ask(t *testing.T, s *state.State) {
	t.Helper()
	for _, e := range s.Update(state.StartQuestion{}) {
		if e, ok := e.(state.Question); ok {
			var heard []state.Message
			end := jobs.Question(context.Background(), new(serve.Local), e,
				func(m state.Message) { heard = append(heard, m) })
			for _, m := range append(heard, end) {
				s.Update(m)
			}
		}
	}
	if a := s.Answers(); a == nil || !a.Complete() || len(a.List) == 0 {
		t.Fatalf("got %+v; want all answers", a)
	}
}

// Small returns the page of a network that is solved fast.
func Small(t *testing.T) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset, c.Budget = "alexnet-b16", choice.Budget{Bytes: 751 * engine.MiB}
	return open(t, c)
}

// Preset returns the state of a page that shows a preset that keeps everything.
func Preset(t *testing.T, ref string) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset, c.Strategy, c.Budget = ref, "keepall", choice.Budget{Share: 100 * choice.Percent}
	return open(t, c)
}
