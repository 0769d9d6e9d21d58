package operators_test

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine/play"
	"memtide/profiles/formats/operators"
)

// good is a step of one operator.
const good = `{"format":"memtide/1","kind":"operators","storages":[8,4],"resident":[0],"ops":[{"name":"a","in":[0],"new":[1],"time_s":0}],"forward_ops":1,` +
	`"calls":[{"path":"","class":"M","op":0,"end":1,"args":[[0,[]]]}],"keeps":[[1,0]],"units":[0],"tied":[],` +
	`"events":[["enter",0],["op",0],["pack",0],["leave",0],["backward",0],["unpack",0],["release",0],["free",1]],"python_frees":[[1,1]]}`

// TestRejections checks that files that are not valid traces are refused, with the place and what was expected.
func TestRejections(t *testing.T) {
	if _, _, err := operators.Read("good", []byte(good), nil); err != nil {
		t.Fatalf("the file that the others are made of: %v", err)
	}
	for _, c := range [][3]string{
		{`"storages":[8,4]`, `"storages":[8,-4]`, "Sizes cannot be negative"},
		{`"new":[1]`, `"new":[2]`, "ops[0].new is something else. A whole number below 2 is expected."},
		{`"end":1`, `"end":2`, "calls[0].end"},
		{`["pack",0]`, `["pack",1]`, "events[2]"},
		{`["pack",0]`, `["sell",0]`, "events[2]"},
		{`["leave",0],`, ``, "Every call is entered and left once"},
		{`["backward",0],`, ``, "The backward begins once."},
		{`[[1,1]]`, `[[1]]`, "A storage and an operator are expected."},
		{`"forward_ops":1`, `"forward_ops":9`, "forward_ops is something else"},
		{`"keeps":[[1,0]]`, `"keeps":7`, "keeps is something else. A list is expected."},
	} {
		_, _, err := operators.Read("bad", []byte(strings.Replace(good, c[0], c[1], 1)), nil)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "events[2]: events[2]", "events[2]"), c[2]) {
			t.Errorf("%s instead of %s: %v, want %q", c[1], c[0], err, c[2])
		}
	}
}

// TestWarningsOfSteps checks that the warnings in a file go into every plan made from it, once, and that a plan
// does not accept a file of another model as a shape of its own. Files without these fields are read as before.
func TestWarningsOfSteps(t *testing.T) {
	step := func(more string) *play.Plan {
		_, trace, err := operators.Read("step",
			[]byte(strings.Replace(good, `"forward_ops":1`, more+`"forward_ops":1`, 1)), nil)
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		return play.NewPlayer(trace).Plan(nil, "nested", "a test", 9)
	}
	const said = `"warnings":["depends on random\u001b numbers"],"modules_sha":"%s",`
	first, old := step(strings.Replace(said, "%s", "ab", 1)), step("")
	if want := []string{"depends on random\ufffd numbers"}; !slices.Equal(first.Warnings, want) ||
		first.Model.Modules != "ab" {
		t.Errorf("a plan warns %q of modules %q, want %q of ab", first.Warnings, first.Model.Modules, want)
	}
	if old.Warnings != nil || old.Model.Modules != "" {
		t.Errorf("a plan of an old file warns %q of modules %q, want nothing", old.Warnings, old.Model.Modules)
	}
	again := step(strings.Replace(said, "%s", "ab", 1) + `"inputs":[["0",[2],"float32"]],`)
	if err := first.Add(again); err != nil || len(first.Warnings) != 1 || len(first.Shapes) != 1 {
		t.Errorf("a plan with another shape: %v, %d warnings, %d shapes, want 1 and 1", err, len(first.Warnings),
			len(first.Shapes))
	}
	if err := first.Add(step(strings.Replace(said, "%s", "cd", 1) + `"inputs":[["0",[3],"float32"]],`)); err == nil {
		t.Error("the plan of a model of other modules is added, want a refusal")
	}
}
