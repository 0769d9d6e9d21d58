//go:build !js

package controls

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/panel"
)

// said returns the names of the options that are in the sentence, or with is false of those that it can still have.
func said(s *state.State, is bool) (out []string) {
	for _, list := range [][]Word{words(s, measured, is), words(s, trained, is), words(s, spread, is), words(s, policy, is)} {
		for _, w := range list {
			out = append(out, w.Name)
		}
	}
	return out
}

// TestStepControls checks that every option of a step that is open by itself has one control, in the sentence or in
// what it can still say. Those about sides are there only for models of pictures, and in place of tokens once they are
// chosen, and those about frames only for models of videos. Those about several cards are there only for several.
func TestStepControls(t *testing.T) {
	const diffuser, video = `{"_class_name": "FluxTransformer2DModel"}`, `{"_class_name": "WanTransformer3DModel"}`
	const config = `{"model_type": "llama"}`
	sides := []string{"frames", "height", "width"}
	for _, c := range []struct {
		model string
		args  engine.Args
		not   []string
	}{
		{config, engine.Args{"gpus": "2", "seq": "1024", "ep": "2"}, append(sides, "beside")},
		{config, engine.Args{"gpus": "2", "pp": "2", "ckpt": "full"}, append(sides, "beside", "shard", "ep", "split")},
		{config, engine.Args{"lora": "8", "host": "yes"}, append(sides, "beside", "states", "shard", "tp", "cp", "ep", "pp", "schedule")},
		{diffuser, engine.Args{"gpus": "2"}, append(ofWords, "ep", "frames")},
		{diffuser, engine.Args{"gpus": "2", "height": "512"}, append(ofWords, "seq", "ep", "frames")},
		{video, engine.Args{"gpus": "2", "height": "512"}, append(ofWords, "seq", "ep", "references")},
		{"gpt2", engine.Args{"gpus": "2"}, append(sides, "beside", "towers", "kernels", "ep")},
	} {
		s := state.New()
		s.Step = &state.OpenStep{}
		s.Choice.Step, s.Choice.StepArgs = c.model, c.args
		var want []string
		for _, o := range ask.Options {
			pipeline := o.Name != "schedule" || c.args["pp"] != ""
			if ask.Matters(c.args, o.Name) && !slices.Contains(c.not, o.Name) && pipeline && o.Name != "base" &&
				o.Name != "gpus" && o.Name != "device" {
				want = append(want, o.Name)
			}
		}
		if c.args["lora"] != "" {
			want = append(want, "base")
		}
		got := slices.Sorted(slices.Values(append(said(s, true), said(s, false)...)))
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s, %v: controls of %q; want %q", c.model, c.args, got, want)
		}
	}
}

// TestBatchLabel checks that the name of the batch for screen readers says what is counted.
func TestBatchLabel(t *testing.T) {
	s := state.New()
	s.Step, s.Choice.Step = &state.OpenStep{}, "flux1-dev"
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{nil, "Sequences at once"}, {engine.Args{"height": "512"}, "Pictures at once"},
		{engine.Args{"height": "512", "frames": "81"}, "Videos at once"},
	} {
		if got := stepWord(s, c.args, "batch", "at").Label; got != c.want {
			t.Errorf("%v: %q; want %q", c.args, got, c.want)
		}
	}
}

// TestStepCommands checks that a control changes the link. A value that it cannot take gives an alert and changes
// nothing.
func TestStepCommands(t *testing.T) {
	s := pagetest.Step(t, "gpt2", engine.Args{"seq": "1024", "ckpt": "budget", "compile": "yes", "graph": "model"})
	do := func(c input.Command) {
		if m := c.Message(s); m != nil {
			s.Update(m)
		}
	}
	do(input.Command{Do: "option", Arg: "gpus", Value: input.OtherNumber, Settled: true})
	do(input.Command{Do: "option-number", Arg: "gpus", Value: "12"})
	if w := cards(s)[0]; s.Choice.StepArgs["gpus"] != "" || !w.Typed || w.Number != "12" {
		t.Errorf("while it is typed: %v, %+v; want it in the field alone", s.Choice.StepArgs, w)
	}
	do(input.Command{Do: "option-number", Arg: "gpus", Value: "12", Settled: true})
	if w := cards(s)[0]; w.Typed || panel.Selected(w.Options) != "12 ×" {
		t.Errorf("twelve cards: %+v; want them in the list", w)
	}
	do(input.Command{Do: "option-number", Arg: "seq", Value: "0", Settled: true})
	if s.Alert == nil || s.Alert.Text != `Tokens: "0" is not possible; 1 to `+format.Count(16777216)+" are." {
		t.Errorf("no tokens: %+v; want what is possible", s.Alert)
	}
	l := permalink.Of(s, link.Link{})
	if got, want := l.String(), "v=1&step=gpt2&step.ckpt=budget&step.compile=yes&step.gpus=12&step.graph=model&step.seq=1024"; got != want {
		t.Errorf("the link is %s; want %s", got, want)
	}
	_, m, notes := permalink.Read(l.String())
	if !m.Choice.Equal(s.Choice) || len(notes) > 0 {
		t.Errorf("the link reads as %+v, %q; want what was chosen", m.Choice, notes)
	}
}

// TestSentenceOfAdapters checks that the sentence names what is trained, and what is stored in another form or
// moved, if that is not as usual. It has no control of optimizer states beside adapters.
func TestSentenceOfAdapters(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{nil, "batch seq lora optimizer ckpt"},
		{engine.Args{"lora": "32", "base": "fp8", "swap-blocks": "30", "height": "480", "width": "832", "frames": "81"},
			"batch frames height width lora base ckpt swap-blocks"},
	} {
		s := state.New()
		s.Choice.Step, s.Choice.StepArgs, s.Step = "wan2.1-14b", c.args, &state.OpenStep{}
		if got := strings.Join(said(s, true), " "); got != c.want {
			t.Errorf("%v: the sentence has %s; want %s", c.args, got, c.want)
		}
	}
}

// TestJoined checks how words of a step continue the sentence: "with all weights and AdamW for DPO".
func TestJoined(t *testing.T) {
	for before, want := range map[string]string{"train": "with", "with": "and", "loss": "and loss", "for": "for",
		"of rank": "of rank", "of it": "of it", "beside": "beside", "there on": "there on", "at": "at"} {
		if got := joined(before, before == "train"); got != want {
			t.Errorf("%q continues the sentence as %q; want %q", before, got, want)
		}
	}
}

// TestModules checks that several modules that are computed again are an option of their list, which is chosen.
func TestModules(t *testing.T) {
	for modules, want := range map[string]int{"mlp": 8, "mlp+layernorm": 9} {
		s := state.New()
		s.Step = &state.OpenStep{}
		s.Choice.Step, s.Choice.StepArgs = "llama3-8b", engine.Args{"ckpt": "modules", "recompute": modules}
		list := stepWord(s, s.Choice.StepArgs, "recompute", "").Options
		i := slices.IndexFunc(list, func(o panel.Option) bool { return o.Selected })
		if len(list) != want || i < 0 || list[i].ID != modules {
			t.Errorf("%s: option %d of %v is chosen; want it of %d", modules, i, list, want)
		}
	}
}

// TestLayersOfStages checks that the layers of each stage are offered only where they are said, and in place of how
// many fewer the ends have.
func TestLayersOfStages(t *testing.T) {
	for split, want := range map[string]string{"": "lighter lighter-first", "15+17": "split"} {
		s := state.New()
		s.Step = &state.OpenStep{}
		s.Choice.Step, s.Choice.StepArgs = "llama3-8b", engine.Args{"gpus": "2", "pp": "2", "program": "megatron"}
		if split != "" {
			s.Choice.StepArgs["split"] = split
		}
		got := slices.DeleteFunc(slices.Concat(said(s, true), said(s, false)), func(name string) bool {
			return name != "split" && !strings.HasPrefix(name, "lighter")
		})
		if strings.Join(got, " ") != want {
			t.Errorf("layers %q: the page offers %q; want %q", split, got, want)
		}
		for _, w := range words(s, spread, true) {
			if strings.Contains(w.Before, "|") {
				t.Errorf("before %s the sentence has %q; want words", w.Name, w.Before)
			}
		}
	}
}

// TestInvalidFields checks that a field whose text is refused says so and names the message, and that Escape gives up
// the text, the message and a field for another number together.
func TestInvalidFields(t *testing.T) {
	s := pagetest.Preset(t, "llama3-8b-step-b1")
	s.Update(state.ToggleMore{})
	do := func(c input.Command) {
		if m := c.Message(s); m != nil {
			s.Update(m)
		}
	}
	for _, c := range []struct{ do, arg, text string }{
		{"option-number", "seq", "0"}, {"budget-text", "", "-3"}, {"bandwidth-text", "", "fast"}, {"own-card", "", "many"},
	} {
		if c.do == "own-card" {
			s.Update(state.SetGPU{ID: "24gib"})
		}
		if c.arg != "" {
			do(input.Command{Do: "option", Arg: c.arg, Value: input.OtherNumber, Settled: true})
		}
		const invalid = `aria-invalid="true"`
		do(input.Command{Do: c.do, Arg: c.arg, Value: c.text})
		if page := pagetest.HTML(t, &Case{S: s}); strings.Contains(page, invalid) || !strings.Contains(page, `data-do="`+c.do) {
			t.Errorf("while %q is typed into %s it is invalid, or is not there", c.text, c.do)
		}
		do(input.Command{Do: c.do, Arg: c.arg, Value: c.text, Settled: true})
		_, field, _ := strings.Cut(pagetest.HTML(t, &Case{S: s}), `data-do="`+c.do)
		if field, _, _ = strings.Cut(field, ">"); !strings.Contains(field, invalid) {
			t.Errorf("the field of %s with %q is %s; want it invalid", c.do, c.text, field)
		}
		s.Update(state.Dismiss{})
		if s.Alert != nil || s.View.Typed != "" || strings.Contains(pagetest.HTML(t, &Case{S: s}), invalid) {
			t.Errorf("after Escape in %s: %+v, %q; want neither the message nor the text", c.do, s.Alert, s.View.Typed)
		}
	}
}
