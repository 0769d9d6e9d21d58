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

// MaxBatch is the largest batch size a preset is built for.
const MaxBatch = 4096

// Preset is a network that can be built at many batch sizes, or a hand-made one.
type Preset struct {
	ID           string // stable, link-safe: "resnet101"
	Title        string // for people: "ResNet-101"
	Doc          string // one sentence on what it is and why it is here
	Group        string // heading it is listed under
	DefaultBatch int    // samples per step by default
	MaxBatch     int    // largest batch size; 0 is the package's MaxBatch
	DType        string // of the activations: f32, f16 or bf16
	URL          string // the paper that describes the network

	Optimizer string // whose states stay on the device, for people; empty if none do

	Suggest *Suggestion // how it is best seen; nil for networks

	own       Options // what is chosen where Options say nothing
	of        *Preset // the preset this one is a variant of; nil if it is listed
	minImage  int     // smallest side of images
	maxTokens int     // longest sequence; 0 is MaxTokens

	sizes    profiles.Origin
	tokenNet bool                                    // the times are a share of the peak, see mfuTime
	notes    func(s setting, params string) []string // told how many parameters there are
	model    *ask.Known                              // instead of build: the step of a language model
	build    func(s setting) network
	chain    func() *engine.Chain    // instead of build: hand-made, of batch size 1
	memory   func() *profiles.Memory // instead of build: requests for memory
}

// presets is the catalogue.
var presets = slices.Concat(residualPresets(), plainPresets(), densePresets(), inceptionPresets(), stepPresets(),
	[]*Preset{lemma3(), lemma3Mirror(), nonpersistent()}, sequencePresets())

// earlier are the language models as links and tables name them that are older than the
// steps: by published formulas, without an optimizer. They are opened as they were, and are in no list.
var earlier = tokenPresets()

// Presets lists every preset in the order they are shown, one group after the
// other. The slice is the caller's.
func Presets() []*Preset { return append([]*Preset(nil), presets...) }

// Lookup finds a preset by its id, one that is not listed, too; nil if there is none.
func Lookup(id string) *Preset {
	for _, list := range [][]*Preset{presets, earlier} {
		if i := slices.IndexFunc(list, func(p *Preset) bool { return p.ID == id }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// Unit returns what its batch counts, one of them.
func (p *Preset) Unit() string {
	switch {
	case p.Sequences():
		return "sequence"
	case p.Images():
		return "image"
	}
	return "sample"
}

// Largest returns the largest batch size that the preset is built for.
func (p *Preset) Largest() int {
	return cmp.Or(p.MaxBatch, MaxBatch)
}

func (p *Preset) checkBatch(batch int) error {
	if batch < 1 || batch > p.Largest() {
		return fmt.Errorf("preset %q: batch size %d; 1 to %d are possible, for example %s", p.ID, batch, p.Largest(),
			Ref(p.ID, p.DefaultBatch))
	}
	return nil
}

// Profile builds the network at a batch size of 1 to Largest, with the preset's
// own choices for everything else. Every call returns a profile of its own.
func (p *Preset) Profile(batch int) (*profiles.Profile, error) {
	if err := p.checkBatch(batch); err != nil { // 0 too, which Build takes for the default
		return nil, err
	}
	return p.Build(Options{Batch: batch})
}

// Problem returns the network at a batch size, as a problem without device, transfers
// and budget: the chain, or the operations of a variant that has no chain.
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

// Build builds the network with these options. Sizes of networks are computed
// from shapes, times by a model; hand-made presets are what they are. Source says
// so: times are Analytic where the model is fitted or its one assumption is
// named, Estimated on other devices. Every call returns a profile of its own.
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

// made fills in what was made by hand.
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

// timed says what the times of a network are and what they are for.
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
