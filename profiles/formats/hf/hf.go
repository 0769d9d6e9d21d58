// Package hf reads a Hugging Face config.json. Package family reads the model, and package llm
// plays its training step.
package hf

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/jsonfile"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:  family.FormatName,
		Title: "Hugging Face config.json",
		Doc: `A transformer from its config.json: the step that memtide plan plays with
Transformers, and times by a stated model.

Families are known by their model_type; others are refused by name. What a config
does not say can be added to it:

	"memtide": {"batch":1, "seq":1024, "precision":"bf16", "flash":true, "tp":1,
	            "mfu":52, "tflops":989, "bytes_per_sbh":34}

batch is sequences per step (1), seq their length (as many positions as the network
has, at most 8192), precision bf16, f16 or f32 (bf16), flash whether attention is
fused (true), tp over how many devices each layer is split (1), mfu the percent of
the card's peak that products reach (52), tflops that peak (an H100's).
bytes_per_sbh replaces what a layer keeps by so many bytes for each of its
seq x batch x hidden numbers. The defaults are in brackets.`,
		Extensions: []string{".json"},
		MaxSize:    maxConfig,
		Match:      matchHFConfig,
		Decode:     decodeHFConfig,
	})
}

// maxConfig is the largest file that is read, far above the longest list of labels in a config.
const maxConfig = 4 << 20

// Names for one size in the configs of different models.
var (
	hidden = []string{"hidden_size", "n_embd", "d_model"}
	layers = []string{"num_hidden_layers", "n_layer", "num_layers", "n_layers"}
)

// denoisers lists the ends of class names of transformers in diffusers, whose config.json has no
// model_type.
var denoisers = []string{"Transformer2DModel\"", "Transformer3DModel\"", "UNet2DConditionModel\""}

// matchHFConfig claims an object that has a model_type, the class of a transformer of diffusers,
// or the sizes of a transformer, and is neither a profile nor a trace.
func matchHFConfig(head []byte) bool {
	// Reading a head as JSON takes milliseconds in a browser; most other files do not even
	// contain these words.
	contains := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return bytes.Contains(head, []byte(key)) })
	}
	denoiser := contains("_class_name") && contains(denoisers...)
	if !contains("model_type") && !denoiser && !(contains(hidden...) && contains(layers...)) {
		return false
	}
	var keys []string
	for key := range jsonfile.Outer(head) {
		keys = append(keys, key)
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return slices.Contains(keys, key) })
	}
	if has("traceEvents") || native.Claims(head) {
		return false
	}
	return has("model_type") || denoiser && has("_class_name") || has(hidden...) && has(layers...)
}

// Limits of a step.
const (
	mostLayers = 300 // more than any model has; each takes about 60 KiB
	mostTokens = 8192
)

// thousandth reads numbers with three decimal places.
var thousandth = parse.Quantity{Plural: "Such numbers", Unit: "one", Shift: 3}

// choices holds the "memtide" object of a file, with defaults.
type choices struct {
	batch, seq, tp int64
	precision      string
	flash          bool
	mfu, tflops    int64 // thousandths
	perSBH         int64 // thousandths of a byte; 0 if sizes follow from the operators
}

func decodeHFConfig(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	profiles.End(poll.Err())
	m, err := family.Read(data)
	profiles.End(err)
	errs := parse.NewErrors(len(data))
	top := jsonfile.Open(family.Plain(data), errs)
	c, warnings := readChoices(top, m)
	c.check(m, errs)
	errs.End()
	if text := top.Text("_name_or_path"); text != "" && !strings.Contains(text, "..") {
		name = profiles.Clip(strings.TrimSuffix(text[strings.LastIndex(text, "/")+1:], "/"))
	}
	s, card := c.setup(m.Model)
	p, err := llm.Profile(s, card)
	if err != nil {
		errs.Fail(&profiles.FormatError{Found: "This step is not played: " + err.Error(),
			Expected: "A step that memtide plan plays is expected.",
			Remedy:   `Change the sizes, or batch and seq of "memtide".`})
	}
	p.Name, p.Chain.Name, p.DType, p.Warnings = name, name, c.precision, append(warnings, m.Notes...)
	if p.Step = c.options(); p.Step != nil {
		p.Model = m.Config
	}
	if c.perSBH > 0 {
		c.override(p, m.Hidden)
	}
	(&parse.StageReader{Errs: errs}).Finish(p.Chain, true)
	if p.Graph != nil {
		errs.CheckGraph(p.Graph)
	}
	p.Source = profiles.Source{Tool: "Hugging Face config", Times: profiles.Estimated, Sizes: profiles.Analytic,
		Device: card.Name, Notes: c.notes(m.Model, card)}
	if c.perSBH > 0 {
		p.Source.Sizes = profiles.Estimated
	}
	return p
}

// options returns the options of package ask with which memtide plan plays the step, or nil if
// the file makes a choice for which there is no option.
func (c *choices) options() engine.Args {
	if c.tp > 1 || c.precision != "bf16" || c.mfu > 0 || c.tflops > 0 || c.perSBH > 0 {
		return nil
	}
	args := engine.Args{"batch": strconv.FormatInt(c.batch, 10), "seq": strconv.FormatInt(c.seq, 10)}
	if !c.flash {
		args["attention"] = string(llm.AttentionEager)
	}
	return args
}

// readChoices reads the "memtide" object, and returns warnings about unknown keys.
func readChoices(top *jsonfile.Object, m *family.Reading) (*choices, []string) {
	o := top.Object("memtide")
	or := func(key string, q parse.Quantity, otherwise int64) int64 {
		if o.Value(key) == nil {
			return otherwise
		}
		return max(o.Count(key, q), 1)
	}
	usual := int64(mostTokens)
	if m.Longest > 0 {
		usual = min(m.Longest, usual)
	}
	sizes := parse.Quantity{Plural: "Sizes of a network", Unit: "units", Whole: true}
	c := &choices{batch: or("batch", parse.Samples, 1), seq: or("seq", sizes, usual), tp: or("tp", sizes, 1),
		precision: "bf16", flash: true,
		mfu: or("mfu", thousandth, 0), tflops: or("tflops", thousandth, 0), perSBH: or("bytes_per_sbh", thousandth, 0)}
	for _, key := range []string{"batch", "seq", "tp", "mfu", "tflops", "bytes_per_sbh"} {
		if text, ok := o.Number(key); ok && top.Errs.Err() == nil && strings.Trim(text, "0.-") == "" {
			o.Wrong(key, o.Value(key), "A number above 0 is expected.")
		}
	}
	if text := o.Text("precision"); text != "" {
		c.precision = text
	}
	if !slices.Contains([]string{"bf16", "f16", "f32"}, c.precision) {
		o.Wrong("precision", c.precision, "bf16, f16 or f32 is expected.")
	}
	if o.Value("flash") != nil {
		c.flash = o.Flag("flash")
	}
	o.NoteOthers()
	return c, o.Known.Warning("in memtide")
}

// check adds errors about impossible choices.
func (c *choices) check(m *family.Reading, errs *parse.Errors) {
	add := func(found, expected, remedy string) {
		errs.Add(&profiles.FormatError{Found: found, Expected: expected, Remedy: remedy})
	}
	if m.Layers > mostLayers {
		add(fmt.Sprintf("There are %d layers", m.Layers), fmt.Sprintf("At most %d are read.", mostLayers),
			"Check the number of layers.")
	}
	if m.Positions > 0 && m.Longest > 0 && c.seq > m.Longest {
		add(fmt.Sprintf("The sequence length is %d", c.seq),
			fmt.Sprintf("This network learns %d positions.", m.Longest),
			`Set "seq" in "memtide" to no more than that.`)
	}
	if c.tp > 1 && m.Heads%c.tp != 0 {
		add(fmt.Sprintf("%d heads cannot be split over %d devices", m.Heads, c.tp),
			"Every device has the same number of heads.",
			`Set "tp" in "memtide" to a divisor of the heads.`)
	}
	if c.mfu > 100_000 {
		add(fmt.Sprintf("mfu is %g %%", float64(c.mfu)/1000), "No product is faster than the peak.",
			"Set it between 1 and 100, in percent.")
	}
}

// setup returns the step that memtide plan plays by default, changed by the choices of the file,
// and the card for its times: an H100, or a card with the peak that the file gives.
func (c *choices) setup(m *llm.Model) (llm.Setup, *llm.Card) {
	s := llm.Setup{Model: m, Work: llm.Work{Batch: c.batch, Seq: c.seq},
		Layout: llm.Layout{Tensor: c.tp, NoSP: c.tp > 1}}
	llm.FindProgram("hf").Apply(&s)
	if c.precision == "f32" {
		s.Widen()
	}
	s.Attention = llm.AttentionFlash
	if !c.flash {
		s.Attention = llm.AttentionEager
	}
	card := *llm.CardOf("H100-SXM")
	if c.tflops > 0 {
		card.Peak = float64(c.tflops) * 1e9
		card.Name = fmt.Sprintf("a device of %g TFLOP/s", card.Peak/1e12)
	}
	if c.mfu > 0 {
		card.Share = float64(c.mfu) / 100_000
	}
	s.Workspace = card.Workspace
	return s, &card
}

// override sets the saved bytes of every layer to those of the file. The operations are then
// unknown.
func (c *choices) override(p *profiles.Profile, width int64) {
	size := float64(c.perSBH) * float64(c.seq) * float64(c.batch) * float64(width)
	if size > 1000*(1<<53) {
		profiles.End(&profiles.FormatError{Found: "A layer would keep more than 2^53 bytes",
			Expected: "Sizes of a network that a device could hold a part of are expected.",
			Remedy:   "Check bytes_per_sbh, the batch and the sequence length."})
	}
	whole, part := c.perSBH/1000, c.perSBH%1000
	n := c.seq * c.batch * width
	saved := engine.Bytes(n*whole + (n/1000)*part + (n%1000*part+999)/1000)
	for i := range p.Chain.Stages {
		if s := &p.Chain.Stages[i]; s.Kind == "block" {
			s.Saved = max(s.Out, saved)
		}
	}
	p.Graph = nil
}

// notes returns the choices, how to change them, and the origin of the numbers.
func (c *choices) notes(m *llm.Model, card *llm.Card) []string {
	attention, state := "not fused",
		"32-bit weights, gradients and two moments of AdamW, 16 bytes a parameter; products read copies of the weights in 16 bits"
	percent := math.Round(card.Share*1e5) / 1e3
	if c.flash {
		attention = "fused (FlashAttention)"
	}
	if c.precision == "f32" {
		state = "32-bit weights, gradients and two moments of AdamW, 16 bytes a parameter"
	}
	layer := "Sizes: from the operators of a layer, with what autograd keeps of each, as memtide plan plays them."
	if c.perSBH > 0 {
		layer = fmt.Sprintf("Sizes: a layer keeps %g bytes for each of its seq x batch x hidden numbers, as the file says. There are no operations then.", float64(c.perSBH)/1000)
	}
	notes := []string{
		fmt.Sprintf(`Chosen: %s of %d tokens, %s, attention %s, layers split over %s. To choose otherwise, add "memtide": {"batch":%d, "seq":%d, "precision":"%s", "flash":%v, "tp":%d, "mfu":%g} to the file.`,
			profiles.Count(int(c.batch), "sequence"), c.seq, c.precision, attention,
			profiles.Count(int(c.tp), "device"), c.batch, c.seq, c.precision, c.flash, c.tp, percent),
		layer,
		fmt.Sprintf("Times: products at %g %% of a peak of %g TFLOP/s, an estimate. Set mfu and tflops for others.",
			percent, card.Peak/1e12),
		fmt.Sprintf("Resident: %s; %d parameters in all.", state, m.Params()),
		"The last stage computes the logits of all tokens and the loss; its copy of the logits is 32-bit.",
	}
	if c.tp > 1 {
		notes = append(notes, "The numbers are those of one of the devices that share the layers.")
	}
	return notes
}
