package preset

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// MaxBatch is the largest batch size a preset is built for.
const MaxBatch = 4096

// Preset is a network that can be built at many batch sizes, or a hand-made one.
type Preset struct {
	ID           string // stable, link-safe: "resnet101"
	Title        string // for people: "ResNet-101"
	Doc          string // one sentence on what it is and why it is here
	Group        string // heading it is listed under
	DefaultBatch int    // samples per step when nobody says
	MaxBatch     int    // largest batch size; 0 is the package's MaxBatch
	DType        string // of the activations: f32 or f16
	URL          string // the paper that describes the network

	Suggest *Suggestion // how it is best seen; nil for networks

	sizes   profiles.Origin
	timedOn string // the device of the time model
	notes   []string
	build   func(batch int64) network
	chain   func() *engine.Chain // instead of build: hand-made, of batch size 1
}

var presets = []*Preset{resnet50(), resnet101(), vgg16(), gpt2Medium(), lemma3(), lemma3Mirror(), nonpersistent()}

// All lists the presets in the order they are shown. The slice is the caller's.
func All() []*Preset { return append([]*Preset(nil), presets...) }

// Lookup finds a preset by its id; nil if there is none.
func Lookup(id string) *Preset {
	for _, p := range presets {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Ref is the spelling of a preset at a batch size in links and on the command
// line: "resnet101-b32". Parse reads it back.
func Ref(id string, batch int) string { return id + "-b" + strconv.Itoa(batch) }

// Parse reads what Ref writes. Without a batch ("resnet101") it returns the
// preset's default. The error names the known presets or the legal batch sizes.
func Parse(ref string) (*Preset, int, error) {
	if p := Lookup(ref); p != nil {
		return p, p.DefaultBatch, nil
	}
	id, digits := ref, ""
	if i := strings.LastIndex(ref, "-b"); i >= 0 {
		id, digits = ref[:i], ref[i+len("-b"):]
	}
	p := Lookup(id)
	if p == nil {
		return nil, 0, fmt.Errorf("there is no preset %q; known are %s", id, strings.Join(knownIDs(), ", "))
	}
	batch, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return nil, 0, fmt.Errorf("preset %q: the batch size %q is not a whole number; write %s", ref, digits, Ref(p.ID, p.DefaultBatch))
	}
	if err := p.checkBatch(int(batch)); err != nil {
		return nil, 0, err
	}
	return p, int(batch), nil
}

func knownIDs() []string {
	ids := make([]string, len(presets))
	for i, p := range presets {
		ids[i] = p.ID
	}
	return ids
}

// Largest is the largest batch size that the preset is built for.
func (p *Preset) Largest() int {
	if p.MaxBatch > 0 {
		return p.MaxBatch
	}
	return MaxBatch
}

func (p *Preset) checkBatch(batch int) error {
	if batch < 1 || batch > p.Largest() {
		return fmt.Errorf("preset %q: batch size %d; 1 to %d are possible, for example %s", p.ID, batch, p.Largest(), Ref(p.ID, p.DefaultBatch))
	}
	return nil
}

// Profile builds the network at a batch size of 1 to Largest, on the default
// device unless another link is suggested. Sizes of networks are computed from
// shapes, times by a model; hand-made chains are what they are. Source says so.
// Every call returns a profile of its own.
func (p *Preset) Profile(batch int) (*profiles.Profile, error) {
	if err := p.checkBatch(batch); err != nil {
		return nil, err
	}
	out := &profiles.Profile{
		Name:   fmt.Sprintf("%s, batch %d", p.Title, batch),
		Batch:  batch,
		DType:  p.DType,
		Format: "preset",
		Source: profiles.Source{
			Tool:   "preset",
			Times:  profiles.Analytic,
			Sizes:  p.sizes,
			Device: p.timedOn,
			Notes:  append([]string(nil), p.notes...),
			URL:    p.URL,
		},
	}
	if p.chain != nil {
		out.Name, out.Source.Times, out.Source.Device = p.Title, profiles.Exact, ""
		out.Chain = p.chain()
		out.Chain.Name, out.Chain.Batch = Ref(p.ID, batch), batch
	} else {
		net := p.build(int64(batch))
		out.Chain = net.chain(Ref(p.ID, batch), batch)
		out.Source.Notes = append(out.Source.Notes, net.leanNote())
	}
	device := p.device()
	out.Device = &device
	return out, nil
}

// device is the default one with the link that the preset suggests.
func (p *Preset) device() engine.Device {
	if p.Suggest == nil || p.Suggest.Link == 0 {
		return DefaultDevice().Device
	}
	return engine.Device{Name: "1 MiB in 1 ms", ToHost: p.Suggest.Link, ToDev: p.Suggest.Link}
}

// network is one network at one batch size: what its stages do, and the memory
// that stays.
type network struct {
	input    engine.Bytes
	stages   []stage
	loss     *stage // nil: a loss without cost or size
	resident engine.Resident
}

// chain adds up the operators of each stage. The images or tokens need no
// gradient, so the gradient of the input has no size.
func (n *network) chain(name string, batch int) *engine.Chain {
	c := &engine.Chain{Name: name, Batch: batch, Input: n.input, Resident: n.resident}
	for i := range n.stages {
		c.Stages = append(c.Stages, n.stages[i].measure())
	}
	last := engine.Stage{Name: "loss", Kind: "loss"}
	if n.loss != nil {
		last = n.loss.measure()
	}
	c.Stages = append(c.Stages, last)
	return c
}

// leanNote says how far the temporaries fall short of a forward that keeps
// nothing, at the stage where that is most.
func (n *network) leanNote() string {
	var most engine.Bytes
	where := ""
	for i := range n.stages {
		if short := n.stages[i].leanShortfall(); short > most {
			most, where = short, n.stages[i].name
		}
	}
	note := "Temporaries are those of a forward that keeps the saved set"
	if most == 0 {
		return note + "; one that keeps nothing needs no more."
	}
	return fmt.Sprintf("%s; one that keeps nothing would need up to %d MiB more (stage %s).", note, (most+engine.MiB-1)/engine.MiB, where)
}
