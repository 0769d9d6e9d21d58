package controls

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/web/format"
)

// Origin is how the numbers of one kind came to be.
type Origin struct{ What, How, Title string }

// originWords explain the kinds of origin.
var originWords = map[profiles.Origin]string{
	profiles.Measured:      "Measured: by running it",
	profiles.Exact:         "Exact: from shapes, equal to what a run would allocate",
	profiles.Analytic:      "Analytic: by a stated model",
	profiles.Estimated:     "Estimated: a rule of thumb, see the notes",
	preset.TheoreticalPeak: "Theoretical peak: what the link to the host could carry at best",
}

// Origins say of each kind of number where it comes from.
func (c *About) Origins() (out []Origin) {
	if c.S.Network == nil {
		return nil
	}
	src := c.S.Network.Profile.Source
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
	if d, o := timedDevice(c.S); d != nil {
		text := fmt.Sprintf("%s TFLOP/s in %s, %s", teraflops(d.Peak(o.Precision)), o.Precision, format.Rate(d.MemoryRate))
		if base, _ := source(c.S).Variant(); base.Efficiency(o) == 0 {
			text = "one model, fitted, for every V100"
		}
		out = append(out, Origin{"device", text, format.Sentence(d.Source)})
	}
	out = append(out, c.linkOrigin())
	return append(out, Origin{"results", "simulated from these", "Step time and peak of a schedule follow from the numbers above; a second program checks them."})
}

// linkOrigin is where the rates of the link come from.
func (c *About) linkOrigin() Origin {
	d := preset.LookupDevice(c.S.Choice.Device)
	if d == nil {
		return Origin{"host link", "your own, " + format.Rates(c.S.Choice.ToDev, c.S.Choice.ToHost), "Set in the controls, by the link or by the file"}
	}
	return Origin{"host link", fmt.Sprintf("%s, %s of %s", d.LinkOrigin, d.Link, d.Name), originWords[d.LinkOrigin] + ". " + format.Sentence(d.Source)}
}

// Paper is the address of the description of a preset; empty for files.
func (c *About) Paper() string {
	if n := c.S.Network; n != nil && n.Source.Preset != "" {
		return n.Profile.Source.URL
	}
	return ""
}

// PaperName is the address for people.
func (c *About) PaperName() string {
	return strings.TrimPrefix(strings.TrimPrefix(c.Paper(), "https://"), "doi.org/")
}

func teraflops(f preset.Flops) string {
	return strconv.FormatFloat(float64(f)/1e12, 'g', 4, 64)
}

// Adjustable says whether the share of the peak can be chosen.
func (c *About) Adjustable() bool {
	d, _ := timedDevice(c.S)
	return d != nil && c.S.Network != nil
}

// Efficiency is the share of the peak that products reach, in per cent, or what is
// being typed there; empty where each kind of operator has a fitted share.
func (c *About) Efficiency() string {
	if d := c.S.Draft; d.Field == "efficiency" {
		return d.Text
	}
	base, o := source(c.S).Variant()
	if base == nil {
		return ""
	}
	if share := base.Efficiency(o); share > 0 {
		return strconv.Itoa(share)
	}
	return ""
}

// Assumed says what the share of the peak is when nobody chooses one.
func (c *About) Assumed() string {
	base, o := source(c.S).Variant()
	if base == nil {
		return ""
	}
	chosen := o.Efficiency > 0
	o.Efficiency = 0
	switch share := base.Efficiency(o); {
	case share == 0 && chosen:
		return "% of the peak; empty: as fitted to a trace"
	case share == 0:
		return "fitted to a trace; or % of the peak"
	case chosen:
		return fmt.Sprintf("%% of the peak; empty: %d %%, assumed", share)
	}
	return "% of the peak, assumed"
}
