package controls

import (
	"fmt"
	"strconv"

	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/web/format"
	"memtide/web/state"
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
