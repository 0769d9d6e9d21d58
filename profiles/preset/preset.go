package preset

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
)

// MaxBatch is the largest batch size of presets that have no limit of their own.
const MaxBatch = 4096

// Preset is a network that can be built at many batch sizes, or a hand-made chain or list of requests.
type Preset struct {
	ID           string // stable, link-safe: "resnet101"
	Title        string // for people: "ResNet-101"
	Doc          string // one sentence on what it is and what it shows
	Group        string // heading it is listed under
	DefaultBatch int    // samples per step if not chosen
	MaxBatch     int    // largest batch size; 0 means the constant MaxBatch
	DType        string // type of the activations: f32, f16 or bf16
	URL          string // the paper that describes the network

	Optimizer string // optimizer whose states stay on the device, for people; empty without states

	Suggest *Suggestion // settings that show its point; nil for networks

	own       Options // the preset's choices for zero Options
	of        *Preset // the listed preset of which this is a variant; nil if it is listed itself
	minImage  int     // smallest side of images
	maxTokens int     // longest sequence; 0 means MaxTokens

	sizes    profiles.Origin
	tokenNet bool                                    // times are a share of the peak, see setting.utilised
	notes    func(s setting, params string) []string // params is the number of parameters, with commas
	model    *ask.Known                              // the language model whose step it is, instead of build
	build    func(s setting) network
	chain    func() *engine.Chain    // a hand-made chain of batch size 1, instead of build
	memory   func() *profiles.Memory // requests for memory, instead of build
}

// presets are the listed presets.
var presets = slices.Concat(residualPresets(), plainPresets(), densePresets(), inceptionPresets(), stepPresets(),
	[]*Preset{lemma3(), lemma3Mirror(), nonpersistent()}, sequencePresets())

// earlier are the language models that older links and tables name: by published formulas, without an optimizer.
// They are not listed, but such links still open them unchanged.
var earlier = tokenPresets()

// Presets returns the listed presets in their order, one group after the other. The slice is the caller's.
func Presets() []*Preset { return append([]*Preset(nil), presets...) }

// Lookup returns the preset with the id, listed or not, or nil if there is none.
func Lookup(id string) *Preset {
	for _, list := range [][]*Preset{presets, earlier} {
		if i := slices.IndexFunc(list, func(p *Preset) bool { return p.ID == id }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// Unit returns the name of one element of a batch: "sequence", "image" or "sample".
func (p *Preset) Unit() string {
	switch {
	case p.Sequences():
		return "sequence"
	case p.Images():
		return "image"
	}
	return "sample"
}

// Largest returns the largest batch size of the preset.
func (p *Preset) Largest() int { return cmp.Or(p.MaxBatch, MaxBatch) }

func (p *Preset) checkBatch(batch int) error {
	if batch < 1 || batch > p.Largest() {
		return fmt.Errorf("preset %q: batch size %d; 1 to %d are possible, for example %s", p.ID, batch, p.Largest(),
			Ref(p.ID, p.DefaultBatch))
	}
	return nil
}

// Profile builds the preset at a batch size from 1 to Largest, with the preset's own choices for everything else.
// Each call returns a new profile.
func (p *Preset) Profile(batch int) (*profiles.Profile, error) {
	if err := p.checkBatch(batch); err != nil { // Build would take 0 for the default
		return nil, err
	}
	return p.Build(Options{Batch: batch})
}

// Problem returns the network at a batch size as a problem without a device, transfers and a budget: the chain,
// or the operations of a variant without a chain.
func (p *Preset) Problem(batch int) (*engine.Problem, error) {
	profile, err := p.Profile(batch)
	switch {
	case err != nil:
		return nil, err
	case profile.Chain != nil:
		return engine.NewChainProblem(profile.Chain, engine.Device{}, engine.Whole, 0), nil
	case profile.Graph != nil:
		return &engine.Problem{Graph: profile.Graph}, nil
	}
	return nil, fmt.Errorf("%s is a list of buffers; there is nothing to schedule", p.Title)
}

// Build builds the preset with these options. Sizes of networks are computed from shapes, times by a model;
// hand-made presets are fixed. Source says which: times are Analytic where the model is fitted or its only
// assumption is named, and Estimated on other devices. Each call returns a new profile.
func (p *Preset) Build(o Options) (*profiles.Profile, error) {
	o = p.filled(o)
	v, err := p.With(o)
	if err != nil {
		return nil, err
	}
	if p.model != nil {
		return v.step(o)
	}
	s := o.setting()
	out := &profiles.Profile{
		Name:   fmt.Sprintf("%s, batch %d", v.Title, o.Batch),
		Batch:  o.Batch,
		DType:  o.Precision,
		Format: "preset",
		Source: profiles.Source{Tool: "preset", Times: profiles.Exact, Sizes: p.sizes, URL: p.URL},
	}
	ref := Ref(v.ID, o.Batch)
	if p.build == nil {
		p.made(out, ref)
		return out, nil
	}
	out.Source.Times, out.Source.Device = p.timed(s)
	out.Device = &s.device.Device
	net, optimizer := p.build(s), profiles.FindOptimizer(o.Optimizer)
	out.Source.Notes = p.notes(s, thousands(int64(net.resident.Weights/s.precision.bytes())))
	if optimizer != nil {
		net.resident.Optimizer = optimizer.States(net.resident.Weights, o.Precision)
	}
	if o.Separate {
		net.separate()
	}
	if o.Graph {
		out.Graph = net.graph()
	} else {
		out.Chain = net.chain(ref, o.Batch)
		if o.Fast {
			for i := range net.stages {
				out.Chain.Stages[i].Fast = net.stages[i].fast(s.model())
			}
			out.Source.Notes = append(out.Source.Notes, fastNote)
		}
		out.Source.Notes = append(out.Source.Notes, net.leanNote())
	}
	if optimizer == nil {
		return out, nil
	}
	return out.Trained(optimizer, s.device.MemoryRate)
}

// made fills in the profile of a hand-made preset.
func (p *Preset) made(out *profiles.Profile, ref string) {
	out.Name, out.Source.Notes = p.Title, p.notes(setting{}, "")
	out.Device = &engine.Device{Name: "1 MiB in 1 ms"}
	if p.Suggest == nil || p.Suggest.Link == 0 {
		*out.Device = card.Default().Device
	} else {
		out.Device.ToHost, out.Device.ToDev = p.Suggest.Link, p.Suggest.Link
	}
	if p.memory != nil {
		out.Memory = p.memory()
		return
	}
	out.Chain = p.chain()
	out.Chain.Name, out.Chain.Batch = ref, out.Batch
}

// timed returns the origin of a network's times, and the device and precision that they are for.
func (p *Preset) timed(s setting) (profiles.Origin, string) {
	on := s.device.Name + ", " + s.precision.bits()
	switch {
	case p.tokenNet && isV100(s.device) && s.efficiency == 0:
		return profiles.Analytic, on
	case p.tokenNet:
		return profiles.Estimated, on
	case isV100(s.device) && !s.precision.half() && s.efficiency == 0:
		return profiles.Analytic, "Tesla V100, 32-bit"
	}
	return profiles.Estimated, on
}
