package controls

import (
	"fmt"
	"strconv"

	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/format"
	"memtide/web/state"
)

// source returns what is open, or being opened before anything is; of a training step only its
// name.
func source(s *state.State) state.Source {
	if s.Step != nil {
		return state.Source{File: ask.Title(s.Choice.Step)}
	}
	if s.Network == nil && s.Memory == nil && s.Opening != nil {
		return s.Opening.Choice.Source
	}
	return s.Choice.Source
}

// timedDevice returns the device that the times of the open preset are for, or nil if it
// has none.
func timedDevice(s *state.State) (*card.Card, preset.Options) {
	base, o := source(s).Variant()
	if base == nil || !base.Operators() {
		return nil, o
	}
	return card.Lookup(o.Device), o
}

// The words of the controls, in one place.
const (
	wordsOpen    = "Open your own…"
	wordsStays   = "a model, a trace or a table; it stays in this browser"
	Policy       = "The page may not send anything anywhere: its content security policy forbids the browser to."
	wordsPlan    = "Plan"
	wordsBudget  = "Plan may use"
	wordsAtMost  = "using at most"
	wordsMore    = "+ more"
	wordsSteps   = "Language and diffusion models, whole training step"
	wordsStepDoc = "Weights, gradients, optimizer, sharding over cards, loss, and the memory that PyTorch reserves: does it train on these cards?"

	wordsMoreTitle = "What else this sentence can say"
	wordsTakeLimit = "Let the plan use what the card leaves"
)

// Origin is how the numbers of one kind came to be.
type Origin struct{ What, How, Title string }

// originWords explain the kinds of origin.
var originWords = map[profiles.Origin]string{
	profiles.Measured:    "Measured: by running it",
	profiles.Exact:       "Exact: from shapes, equal to what a run would allocate",
	profiles.Analytic:    "Analytic: by a stated model",
	profiles.Estimated:   "Estimated: a rule of thumb, see the notes",
	card.TheoreticalPeak: "Theoretical peak: what the link to the host could carry at best",
}

// origins say of each kind of number where it comes from.
func origins(s *state.State) (out []Origin) {
	if s.Network == nil {
		return nil
	}
	src := s.Network.Profile.Source
	if src.Times != profiles.Unknown {
		how := string(src.Times)
		if src.Device != "" {
			how += ", for " + src.Device
		}
		out = append(out, Origin{"times", how, originWords[src.Times]})
	}
	if src.Sizes != profiles.Unknown {
		out = append(out, Origin{"sizes", string(src.Sizes), originWords[src.Sizes]})
	}
	if d, o := timedDevice(s); d != nil {
		text := fmt.Sprintf("%s TFLOP/s in %s, %s", teraflops(d.Peak(o.Precision)), o.Precision,
			format.Rate(d.MemoryRate))
		if base, _ := source(s).Variant(); base.Efficiency(o) == 0 {
			text = "one model, fitted, for every V100"
		}
		out = append(out, Origin{"device", text, format.Sentence(d.Source)})
	}
	out = append(out, linkOrigin(s))
	return append(out, Origin{"results", "simulated from these",
		"Step time and peak of a schedule follow from the numbers above; a second program checks them."})
}

// linkOrigin returns where the rates of the link come from.
func linkOrigin(s *state.State) Origin {
	d := card.Lookup(s.Choice.Device)
	if d == nil {
		return Origin{"host link", "your own, " + format.Rates(s.Choice.ToDev, s.Choice.ToHost),
			"Set in the controls, by the link or by the file"}
	}
	return Origin{"host link", fmt.Sprintf("%s, %s of %s", d.LinkOrigin, d.Link, d.Name),
		originWords[d.LinkOrigin] + ". " + format.Sentence(d.Source)}
}

func teraflops(f card.Flops) string {
	return strconv.FormatFloat(float64(f)/1e12, 'g', 4, 64)
}
