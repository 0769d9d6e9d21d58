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

// Preset is a network that can be built at any batch size.
type Preset struct {
	ID           string // stable, link-safe: "resnet101"
	Title        string // for people: "ResNet-101"
	Doc          string // one sentence on what it is and why it is here
	Group        string // heading it is listed under
	DefaultBatch int    // samples per step when nobody says
	DType        string // of the activations: f32 or f16
	URL          string // the paper that describes the network

	sizes   profiles.Origin
	timedOn string // the device of the time model
	notes   []string
	build   func(batch int64) network
}

var presets = []*Preset{resnet50(), resnet101(), vgg16(), gpt2Medium()}

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

func (p *Preset) checkBatch(batch int) error {
	if batch < 1 || batch > MaxBatch {
		return fmt.Errorf("preset %q: batch size %d; 1 to %d are possible, for example %s", p.ID, batch, MaxBatch, Ref(p.ID, p.DefaultBatch))
	}
	return nil
}

// Profile builds the network at a batch size of 1 to MaxBatch, on the default
// device. Sizes are computed from shapes, times by a model; Source says so.
// Every call returns a profile of its own.
func (p *Preset) Profile(batch int) (*profiles.Profile, error) {
	if err := p.checkBatch(batch); err != nil {
		return nil, err
	}
	net := p.build(int64(batch))
	device := DefaultDevice().Device
	return &profiles.Profile{
		Name:   fmt.Sprintf("%s, batch %d", p.Title, batch),
		Batch:  batch,
		DType:  p.DType,
		Format: "preset",
		Source: profiles.Source{
			Tool:   "preset",
			Times:  profiles.Analytic,
			Sizes:  p.sizes,
			Device: p.timedOn,
			Notes:  append(append([]string(nil), p.notes...), net.leanNote()),
			URL:    p.URL,
		},
		Device: &device,
		Chain:  net.chain(Ref(p.ID, batch), batch),
	}, nil
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
