package llm

import (
	"slices"
	"testing"

	"memtide/engine"
)

// small is a question about a model whose fp32 states, 16 bytes of a parameter, are more
// than a V100 has.
func small() Ask {
	s := Setup{Model: Lookup("llama3.2-1b"), Seq: 1024}
	FindProgram("hf").Apply(&s)
	return Ask{Setup: s, Card: CardOf("V100"), GPUs: 1, Context: engine.GiB}
}

func answer(t *testing.T, a Ask) *Answer {
	t.Helper()
	out, err := a.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVerdicts(t *testing.T) {
	a := answer(t, small())
	if a.Verdict != FitsNot || a.States <= a.Capacity || a.States != size(16*small().Setup.Model.Params(), 1) {
		t.Errorf("one card: %s with states of %d bytes in %d; want that they alone do not fit: 16 bytes of %d parameters", a.Verdict, a.States, a.Capacity, small().Setup.Model.Params())
	}
	for _, c := range []struct {
		room float64 // of the reserved memory
		want Verdict
	}{{1.06, Fits}, {1.04, Uncertain}, {0.97, Uncertain}, {0.90, FitsNot}} {
		q := small()
		card := *q.Card
		card.Memory = q.Context + engine.Bytes(float64(a.High)*c.room)
		if c.want == FitsNot {
			card.Memory = q.Context + engine.Bytes(float64(a.Low)*c.room)
		}
		q.Card = &card
		if got := answer(t, q).Verdict; got != c.want {
			t.Errorf("%.2f of what is reserved: %s, want %s", c.room, got, c.want)
		}
	}
}

// What is found fits, turns different knobs, and says what it turned; it is the same
// every time.
func TestFixes(t *testing.T) {
	knobs, err := Turn(small(), nil)
	if err != nil || len(knobs) < 8 {
		t.Fatalf("%d knobs were turned (%v), want at least 8", len(knobs), err)
	}
	fixes, err := Fixes(knobs, nil)
	if err != nil || len(fixes) == 0 {
		t.Fatalf("%d fixes (%v), want some", len(fixes), err)
	}
	var names []string
	for _, f := range fixes {
		if f.Answer.Verdict != Fits {
			t.Errorf("%q: %s, want that it fits", f.Names, f.Answer.Verdict)
		}
		names = append(names, f.Names...)
	}
	if all := len(names); len(slices.Compact(slices.Sorted(slices.Values(names)))) != all {
		t.Errorf("the fixes turn %q; want each knob once", names)
	}
	again, _ := Fixes(knobs, nil)
	for i := range fixes {
		if !slices.Equal(fixes[i].Names, again[i].Names) {
			t.Errorf("fix %d: %q, and the second time %q", i, fixes[i].Names, again[i].Names)
		}
	}
}

// The longest sequence fits and one step more does not.
func TestLongestSequence(t *testing.T) {
	a := small()
	a.Setup.LoRA = &LoRA{Rank: 8, On: []string{"q"}}
	a.Setup.Weight, a.Setup.Moments = 2, 0
	got, err := LongestSequence(a, 1<<16, nil)
	if err != nil || got == 0 {
		t.Fatalf("%d tokens (%v), want some", got, err)
	}
	for _, c := range []struct {
		seq  int64
		fits bool
	}{{got, true}, {got + seqStep, false}} {
		a.Setup.Seq = c.seq
		if v := answer(t, a).Verdict; (v == Fits) != c.fits {
			t.Errorf("the longest sequence is said to be %d tokens; %d: %s", got, c.seq, v)
		}
	}
}

// The switches of a program and the knobs leave the question that they started from.
func TestKnobsChangeACopy(t *testing.T) {
	a := small()
	a.Setup.Batch = 2
	for _, k := range knobs {
		b := a
		if !k.apply(&b) {
			continue
		}
		if a.GPUs != 1 || a.Setup.LoRA != nil || a.Setup.Checkpoint != "" || a.Setup.Batch != 2 || a.Setup.Moments != 8 {
			t.Errorf("%s changed the question itself: %+v", k.name, a.Setup)
		}
	}
}
