package controls

import (
	"fmt"
	"strings"

	"github.com/vugu/vugu"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
	"memtide/web/ui/names"
	"memtide/web/view"
)

// source returns the source of what is open, or of what is being opened first. For a training step it has only a name.
func source(s *state.State) state.Source {
	if s.Step != nil {
		return state.Source{File: ask.Title(s.Choice.Step)}
	}
	if s.Network == nil && s.Memory == nil && s.Opening != nil {
		return s.Opening.Choice.Source
	}
	return s.Choice.Source
}

// timedDevice returns the device that the times of the open preset are computed for, or nil if they are not computed,
// and the options of the preset.
func timedDevice(s *state.State) (*card.Card, preset.Options) {
	base, o := source(s).Variant()
	if base == nil || !base.Operators() {
		return nil, o
	}
	return card.Lookup(o.Device), o
}

// The texts of the controls.
const (
	wordsOpen    = "Open your own…"
	wordsStays   = "a model, a trace or a table; it stays in this browser"
	Policy       = "The page may not send anything anywhere: its content security policy forbids the browser to."
	wordsPlan    = "Plan"
	wordsBudget  = "Plan may use"
	wordsAtMost  = "using at most"
	wordsMore    = "+ more"
	wordsSteps   = "Language and diffusion models"
	wordsStepDoc = "Weights, gradients, optimizer, sharding over cards, loss, and the memory that PyTorch reserves: does it train on these cards?"

	wordsMoreTitle = "What else this sentence can say"
	wordsTakeLimit = "Let the plan use what the card leaves"
)

// Origin says where the numbers of one kind come from.
type Origin struct{ What, How, Title string }

// originWords explains the kinds of origin.
var originWords = map[profiles.Origin]string{
	profiles.Measured:    "Measured: by running it",
	profiles.Exact:       "Exact: from shapes, equal to what a run would allocate",
	profiles.Analytic:    "Computed: by a stated model",
	profiles.Estimated:   "Estimated: a rule of thumb, see the notes",
	card.TheoreticalPeak: "Theoretical peak: what the link to the host could carry at best",
}

// origins returns the origin of each kind of number.
func origins(s *state.State) (out []Origin) {
	if s.Network == nil {
		return nil
	}
	src := s.Network.Profile.Source
	if src.Times != profiles.Unknown {
		how := names.Origin(src.Times)
		if src.Device != "" {
			how += ", for " + src.Device
		}
		out = append(out, Origin{"times", how, originWords[src.Times]})
	}
	if src.Sizes != profiles.Unknown {
		out = append(out, Origin{"sizes", names.Origin(src.Sizes), originWords[src.Sizes]})
	}
	if d, o := timedDevice(s); d != nil {
		text := fmt.Sprintf("%.4g TFLOP/s in %s, %s", float64(d.Peak(o.Precision))/1e12, o.Precision,
			format.Rate(d.MemoryRate))
		if base, _ := source(s).Variant(); base.Efficiency(o) == 0 && base.Model() == nil {
			text = "one model, fitted, for every V100"
		}
		out = append(out, Origin{"device", text, format.Sentence(d.Source)})
	}
	out = append(out, linkOrigin(s))
	return append(out, Origin{"results", "simulated from these",
		"Step time and peak of a schedule follow from the numbers above; a second program checks them."})
}

// linkOrigin returns the origin of the rates of the link to the host.
func linkOrigin(s *state.State) Origin {
	d := card.Lookup(s.Choice.Device)
	if d == nil {
		return Origin{"host link", "your own, " + format.Rates(s.Choice.ToDev, s.Choice.ToHost),
			"Set in the controls, by the link or by the file"}
	}
	return Origin{"host link", fmt.Sprintf("%s, %s of %s", d.LinkOrigin, d.Link, d.Name),
		originWords[d.LinkOrigin] + ". " + format.Sentence(d.Source)}
}

// Picker is the button with the name of the open network. While the picker is open it has a search field and a list of
// networks.
type Picker struct {
	S        *state.State
	Starting bool
}

// ID returns the ID of the open preset without its options, or "" for files.
func (c *Picker) ID() string {
	if base, _ := source(c.S).Variant(); base != nil {
		return base.ID
	}
	return ""
}

// Name returns the title of the preset or the name of the file.
func (c *Picker) Name() string {
	src := source(c.S)
	if base, _ := src.Variant(); base != nil {
		return base.Title
	}
	return src.File
}

// Label returns the accessible name of the button.
func (c *Picker) Label() string { return "Network: " + c.Name() }

// Title returns the tooltip of the button.
func (c *Picker) Title() string {
	if base, _ := source(c.S).Variant(); base != nil {
		return base.Doc + " (M: choose another)"
	}
	return c.Name()
}

// Group is a part of the list under a heading.
type Group struct {
	Title   string
	Options []PickerOption
}

// PickerOption is an entry of the list of networks.
type PickerOption struct {
	ID      string // see view.Picker.Entries
	Element string // ID of the element
	Text    vugu.HTML
	Active  bool // it is marked, see view.Picker.Active
}

// Groups returns the entries that match the search.
func (c *Picker) Groups() (out []Group) {
	p := c.S.View.Picker
	for i, m := range p.Steps() {
		if i == 0 {
			out = append(out, Group{Title: wordsSteps})
		}
		id := view.StepEntry + m.ID
		beside := names.Whole
		if other := p.Called(m); other != "" {
			beside = "also " + other
		}
		text := vugu.HTML(m.Title + ` <span class="picker-own">` + beside + `</span>`)
		out[0].Options = append(out[0].Options, PickerOption{id, input.OptionElement(id), text, id == p.Active})
	}
	for _, m := range p.Matches() {
		if n := len(out); n == 0 || out[n-1].Title != m.Group {
			out = append(out, Group{Title: m.Group})
		}
		text := vugu.HTML(m.Title + ` <span class="picker-own">` + own(m) + `</span>`)
		g := &out[len(out)-1]
		g.Options = append(g.Options, PickerOption{m.ID, input.OptionElement(m.ID), text, m.ID == p.Active})
	}
	return out
}

// own returns the default options of a preset.
func own(p *preset.Preset) string {
	o := p.Options()
	switch {
	case p.Images():
		return fmt.Sprintf("%d px, batch %d", o.Image, o.Batch)
	case p.Sequences():
		return fmt.Sprintf("%d tokens, batch %d", o.Tokens, o.Batch)
	}
	return ""
}

// None returns a text that says that nothing matches, or "" if something does.
func (c *Picker) None() string {
	if c.S.View.Picker.Active != "" {
		return ""
	}
	return "memtide knows no network of that name. To ask about it, open a file with it: an ONNX model, a profiler's trace, a config.json or a table of its blocks. " +
		"Or choose one that is like it, such as resnet50 for images."
}

// ActiveElement returns the ID of the element of the active entry, or "" if there is no such entry.
func (c *Picker) ActiveElement() string {
	if id := c.S.View.Picker.Active; id != "" {
		return input.OptionElement(id)
	}
	return ""
}

// About describes the active preset.
func (c *Picker) About() string {
	if strings.HasPrefix(c.S.View.Picker.Active, view.StepEntry) {
		return wordsStepDoc
	}
	p := preset.Lookup(c.S.View.Picker.Active)
	if p == nil {
		return ""
	}
	return p.Doc
}

// Needs returns the number of blocks of the active preset, and what keeping everything needs at the default batch.
func (c *Picker) Needs() string {
	p := preset.Lookup(c.S.View.Picker.Active)
	if p == nil {
		return ""
	}
	profile, err := p.Profile(p.DefaultBatch)
	switch {
	case err != nil:
	case profile.Memory != nil:
		return fmt.Sprintf("%d buffers, for the address view.", len(profile.Memory.Requests.Buffers))
	case profile.Chain != nil:
		t := profile.Totals()
		return fmt.Sprintf("%d blocks; everything needs %s at batch %d.", tell.CountBlocks(profile.Chain, t.Stages),
			format.Bytes(t.KeepAllPeak), profile.Batch)
	}
	return ""
}
