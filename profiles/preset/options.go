package preset

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

// MaxImage is the largest side of an image, in pixels.
const MaxImage = 2048

// MaxTokens is the longest sequence of presets that have no limit of their own.
const MaxTokens = 131072

// Options are the choices about a preset. A zero field means the preset's own choice, so that the zero Options
// are the preset as listed.
type Options struct {
	Batch     int    // samples per step
	Image     int    // side of the images in pixels; networks on images only
	Tokens    int    // length of the sequences; transformers only
	Precision string // of the activations: f32, f16 or bf16
	Device    string // id of the card that the times are for, see package card
	// Efficiency is the share of the device's peak that matrix products and convolutions reach, in per cent.
	Efficiency int
	Graph      bool // build the operators, with skip connections and weights, instead of the chain
	// Separate makes every operator a function of its own, including operators that work in place. It needs Graph.
	Separate bool
	// Step chooses options of a language model's step, see StepText. Other presets have none.
	Step string
	// Optimizer is the name of one of profiles.Optimizers, whose states and step the network then has. If it is
	// empty, the network has states by the preset's own rule, and no step.
	Optimizer string
	// Fast gives convolutions a second, performance-optimal algorithm beside the memory-optimal one. Only chains
	// of AlexNet and VGG have it.
	Fast bool
}

// precision is a value of Options.Precision; the empty precision means that none is chosen.
type precision string

const (
	f32  precision = "f32"
	f16  precision = "f16"
	bf16 precision = "bf16"
)

func (p precision) half() bool { return p != f32 }

func (p precision) bytes() engine.Bytes {
	if p.half() {
		return fp16Bytes
	}
	return fp32Bytes
}

// bits returns the width of the precision for people.
func (p precision) bits() string {
	if p.half() {
		return "16-bit"
	}
	return "32-bit"
}

// setting is Options with every gap filled, as networks are built for.
type setting struct {
	batch, side, tokens int64
	precision           precision
	device              *card.Card
	efficiency          int // in per cent; 0: the time model's own
}

// setting returns options that are filled in as a setting.
func (o Options) setting() setting {
	return setting{int64(o.Batch), int64(o.Image), int64(o.Tokens), precision(o.Precision), card.Lookup(o.Device),
		o.Efficiency}
}

// filled returns o with the preset's own choices for zero fields.
func (p *Preset) filled(o Options) Options {
	own := p.own
	o.Batch = cmp.Or(o.Batch, p.DefaultBatch)
	o.Image = cmp.Or(o.Image, own.Image)
	o.Tokens = cmp.Or(o.Tokens, own.Tokens)
	o.Precision = cmp.Or(o.Precision, own.Precision)
	o.Device = cmp.Or(o.Device, own.Device)
	o.Efficiency = cmp.Or(o.Efficiency, own.Efficiency)
	o.Step = cmp.Or(o.Step, own.Step)
	o.Optimizer = cmp.Or(o.Optimizer, own.Optimizer)
	o.Graph = o.Graph || own.Graph
	o.Separate = (o.Separate || own.Separate) && o.Graph
	o.Fast = (o.Fast || own.Fast) && !o.Graph // operators have one algorithm
	return o
}

// check returns an error for the first option, of options that are filled in, for which the preset cannot be built.
func (p *Preset) check(o Options) error {
	if err := cmp.Or(p.checkBatch(o.Batch),
		p.checkSize("image side", "pixels", "px", o.Image, p.minImage, MaxImage, p.own.Image),
		p.checkSize("sequence length", "tokens", "tok", o.Tokens, 1, p.largestTokens(), p.own.Tokens)); err != nil {
		return err
	}
	made := p.hand()
	switch precision(o.Precision) {
	case f32, f16, bf16:
		if made && o.Precision != p.DType {
			return fmt.Errorf("preset %q: it is made by hand and has no other precision than %s", p.ID, p.DType)
		}
	default:
		return fmt.Errorf("preset %q: precision %q; f32, f16 and bf16 are possible", p.ID, o.Precision)
	}
	if o.Efficiency < 0 || o.Efficiency > 100 {
		return fmt.Errorf("preset %q: an efficiency of %d %%; 1 to 100 are possible, for example %s", p.ID,
			o.Efficiency, Ref(p.ID+"-45pct", p.DefaultBatch))
	}
	if made && (o.Graph || o.Device != p.own.Device || o.Efficiency != 0) {
		return fmt.Errorf("preset %q: it is made by hand; it has neither operators nor times of a device", p.ID)
	}
	if o.Step != "" && p.model == nil {
		return fmt.Errorf("preset %q: it is no step of a language model, which alone has%s", p.ID,
			strings.ReplaceAll(o.Step, "-", " "))
	}
	if o.Optimizer != "" && (p.build == nil || profiles.FindOptimizer(o.Optimizer) == nil) {
		return fmt.Errorf("preset %q: an optimizer %q; networks that are no steps already may have sgd or adamw, for example %s", p.ID, o.Optimizer, Ref("resnet50-adamw", 32))
	}
	if o.Fast && p.Group != plainGroup {
		return fmt.Errorf("preset %q: it has one algorithm for each convolution; the networks under \"%s\" have two, for example %s", p.ID, plainGroup, Ref("vgg16-mp", 64))
	}
	switch d := card.Lookup(o.Device); {
	case d == nil:
		return fmt.Errorf("preset %q: there is no device %q (others are told by their figures, such as 24gib-link25gbps-rate165tflops); %s", p.ID, o.Device, card.Like(o.Device))
	case !d.Timed():
		return fmt.Errorf("preset %q: no rate of %s is known, so it has no times there; take those of another device, or give its figures, such as 24gib-link25gbps-rate165tflops", p.ID, d.Name)
	}
	return nil
}

// checkSize checks a size that only some networks have. own is the preset's own size, or 0 if the preset has no
// such size.
func (p *Preset) checkSize(what, unit, suffix string, got, least, most, own int) error {
	if own == 0 {
		if got != 0 {
			return fmt.Errorf("preset %q: %s of %d %s; this preset has none", p.ID, what, got, unit)
		}
		return nil
	}
	if got < least || got > most {
		return fmt.Errorf("preset %q: %s of %d %s; %d to %d are possible, for example %s", p.ID, what, got, unit,
			least, most,
			Ref(p.Base().ID+"-"+strconv.Itoa(own)+suffix, p.DefaultBatch))
	}
	return nil
}

func (p *Preset) largestTokens() int { return cmp.Or(p.maxTokens, MaxTokens) }

// Images reports whether the image side can be chosen.
func (p *Preset) Images() bool { return p.own.Image > 0 }

// Sequences reports whether the sequence length can be chosen.
func (p *Preset) Sequences() bool { return p.own.Tokens > 0 }

// Operators reports whether the preset can be shown as a graph of operators.
func (p *Preset) Operators() bool { return !p.hand() }

// Options returns the preset's own choices at its default batch size.
func (p *Preset) Options() Options { return p.filled(Options{}) }

// Efficiency returns the share of the peak that products reach with these options, in per cent: the chosen one,
// or the one that the preset assumes. It is 0 if the time model has a fitted share for each kind of operator, and
// for hand-made presets.
func (p *Preset) Efficiency(o Options) int {
	o = p.filled(o)
	d := card.Lookup(o.Device)
	switch {
	case o.Efficiency > 0 || p.build == nil || d == nil: // a step uses the card's share
		return o.Efficiency
	case p.tokenNet:
		return utilisation * 100
	case isV100(d) && !precision(o.Precision).half():
		return 0
	}
	return analytic.OtherShare
}
