package operators_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
)

// TestSettings checks that the code for a framework stays within the budget when it is played, and has the result
// that is claimed. If no setting fits, a sentence says why.
func TestSettings(t *testing.T) {
	told := map[string]int{}
	stored(t, func(name string, _ *profiles.Profile, trace *play.Trace) {
		player := play.NewPlayer(trace)
		all := player.Play(nil).Peak
		for _, percent := range []engine.Bytes{80, 45} {
			budget := all * percent / 100
			settings, err := player.Settings(budget, nil)
			if err != nil {
				t.Fatalf("%s at %d %%: %v", name, percent, err)
			}
			for _, s := range settings {
				if (s.Code == "") == (s.Why == "") {
					t.Errorf("%s at %d %%, %s: code %q and reason %q; want one of them", name, percent, s.Framework,
						s.Code, s.Why)
				}
				if s.Code == "" {
					continue
				}
				told[s.Framework]++
				if of := trace.ClassOf(s.Segments); of != play.ClassUnit && of != play.ClassWrappable && !says(s, of) {
					t.Errorf("%s at %d %%, %s is a plan of class %s", name, percent, s.Code, of)
				}
				if err := trace.Validate(s.Segments); err != nil {
					t.Errorf("%s at %d %%, %s: %v", name, percent, s.Code, err)
				}
				if got := player.Play(s.Segments); got != s.Result || got.Peak > budget {
					t.Errorf("%s at %d %%, %s: played %+v, told %+v, budget %d", name, percent, s.Code, got, s.Result,
						budget)
				}
			}
		}
	})
	if len(told) != 10 {
		t.Errorf("settings of %v; want all ten", told)
	}
}

// says reports whether the code of a setting states what its plan saves or moves beyond running units again.
func says(s play.Setting, of play.Class) bool {
	for _, segment := range s.Segments {
		for _, saved := range segment.Save {
			op := strings.Split(saved.Op, ".")[1]
			product := op == "mm" || op == "addmm"
			switch {
			case strings.Contains(s.Code, `"op"`) &&
				(op == "mm" && saved.At%2 == 0 || strings.Contains(op, "attention")):
			case strings.Contains(s.Code, "SelectiveAC") &&
				(op == "mm" && saved.At%2 == 0 ||
					slices.Contains([]string{"addmm", "bmm", "convolution", "topk", "max"}, op)):
			case strings.Contains(s.Code, "no_batch_dims") && product:
			case strings.Contains(s.Code, ".dots_saveable") && (product || op == "bmm" || op == "baddbmm"):
			case strings.Contains(s.Code, fmt.Sprintf("%q", fmt.Sprintf("%s-%d", op, saved.At))):
			default:
				return false
			}
		}
	}
	return of == play.ClassSAC || strings.Contains(s.Code, "checkpoint_in_cpu=True")
}

// TestSettingsOfLayers checks that the numbers count the layers of the model's only list: every second of seven
// blocks.
func TestSettingsOfLayers(t *testing.T) {
	_, trace, err := operators.Read("gpt.json.gz", unpacked(t, "testdata/traces/gpt.json.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	player := play.NewPlayer(trace)
	settings, err := player.Settings(player.Play(nil).Peak*60/100, nil)
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, s := range settings[0].Segments {
		units = append(units, strings.Join(s.Units, "+"))
	}
	if got, want := settings[0].Code+" "+strings.Join(units, " "),
		`model.gradient_checkpointing_enable(every_n_layers=2) h.0 h.2 h.4 h.6`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSettingsWords checks that code for a framework is what the framework accepts today, with the versions that
// accept it. torchtitan has other words since June 2026, and checkpoint_sequential only divides a Sequential.
func TestSettingsWords(t *testing.T) {
	for _, c := range []struct {
		file    string
		percent engine.Bytes
		want    []string
	}{
		{"gpt", 80, []string{
			`Transformers | model.gradient_checkpointing_enable(every_n_layers=4) | every_n_layers: added in August 2026, in the documents of 5.17; of a Trainer: TrainingArguments(gradient_checkpointing=True, gradient_checkpointing_kwargs={"every_n_layers": 4})`,
			`torch, checkpoint_sequential | - the model is no Sequential`,
			`torchtitan | activation_checkpoint=SelectiveAC.Config() | main since 15 June 2026 (class SelectiveAC of torchtitan.distributed.activation_checkpoint), in Trainer.Config; as it is typed: activation-checkpoint:selective; there is no every n-th layer any more`,
			`torchtitan up to 0.2.2 | mode = "selective", selective_ac_option = "3" | the released versions, the last of February 2026; in [activation_checkpoint] of the TOML file`,
		}},
		{"gpt", 30, []string{
			`Transformers | model.gradient_checkpointing_enable() | of a Trainer: TrainingArguments(gradient_checkpointing=True)`,
			`torchtitan | activation_checkpoint=FullAC.Config() | main since 15 June 2026 (class FullAC of torchtitan.distributed.activation_checkpoint), in Trainer.Config; as it is typed: activation-checkpoint:full; there is no every n-th layer any more`,
			`torchtitan up to 0.2.2 | mode = "full" | the released versions, the last of February 2026; in [activation_checkpoint] of the TOML file`,
		}},
		{"bn", 60, []string{`torch, checkpoint_sequential | checkpoint_sequential(model, 3, input, use_reentrant=False) | PyTorch 2.0 or later; before, without use_reentrant`}},
		{"unet", 60, []string{`torch, checkpoint_sequential | - the model is no Sequential`}},
	} {
		_, trace, err := operators.Read(c.file, unpacked(t, "testdata/traces/"+c.file+".json.gz"), nil)
		if err != nil {
			t.Fatal(err)
		}
		player := play.NewPlayer(trace)
		settings, err := player.Settings(player.Play(nil).Peak*c.percent/100, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range settings {
			if s.Code == "" {
				got = append(got, s.Framework+" | - "+s.Why)
			} else {
				got = append(got, s.Framework+" | "+s.Code+" | "+s.Note)
			}
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s at %d %%: got\n%s\nwant among it\n%s", c.file, c.percent, strings.Join(got, "\n"), want)
			}
		}
	}
}

// TestClassesAreWithinEachOther checks that a class finds nothing slower than a class contained in it, and that
// the last two classes find what no other has. This holds from the first plays on, so few are tried here.
func TestClassesAreWithinEachOther(t *testing.T) {
	used := map[play.Class]int{}
	stored(t, func(name string, _ *profiles.Profile, trace *play.Trace) {
		player := play.NewPlayer(trace)
		player.Link = 12e9
		all := player.Play(nil).Peak
		for _, percent := range []engine.Bytes{85, 60} {
			var before *play.Result
			for _, class := range play.Classes() {
				segments, got, err := player.Solve(class, all*percent/100, 300, nil, nil)
				switch {
				case err != nil && before != nil:
					t.Errorf("%s at %d %%, %s: %v; a class within it has a plan", name, percent, class, err)
				case err == nil && before != nil && got.Time > before.Time:
					t.Errorf("%s at %d %%: %s takes %v, a class within it %v", name, percent, class, got.Time,
						before.Time)
				case err != nil:
					continue
				}
				if said, log := player.Log(segments); said != got || trace.Validate(segments) != nil ||
					checkPlan(trace, segments, said, log) != nil {
					t.Errorf("%s at %d %%, %s: told %+v, played %+v; valid: %v, refuted: %v", name, percent, class,
						got, said, trace.Validate(segments), checkPlan(trace, segments, said, log))
				}
				used[trace.ClassOf(segments)]++
				if class == play.ClassUnit || class == play.ClassWrappable || class == play.ClassNested {
					before = &got
				}
			}
		}
	})
	for _, class := range play.Classes() {
		if used[class] == 0 && class != play.ClassNested {
			t.Errorf("no plan was of class %s: %v", class, used)
		}
	}
}
