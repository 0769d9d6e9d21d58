package preset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"memtide/profiles"
	"memtide/profiles/card"
)

// Ref returns the reference to a preset at a batch size, as links and the command line spell it: "resnet101-b32".
// Parse reads it.
func Ref(id string, batch int) string { return id + "-b" + strconv.Itoa(batch) }

// Parse reads a reference to a preset from a link or the command line:
//
//	ref   = id { "-" part }
//	part  = "b" number        batch size                    resnet101-b32
//	      | number "px"       side of the images            vgg16-500px-b64
//	      | number "tok"      length of the sequences       gpt2-medium-512tok-b8
//	      | "f32" | "f16" | "bf16"   precision              resnet50-f16-b32
//	      | number "pct"      efficiency                    resnet50-60pct-b32
//	      | "mp"              two algorithms for convolutions  vgg16-mp-b64
//	      | "sgd" | "adamw"   the optimizer's states and step  resnet50-adamw-b32
//	      | "graph"           the operators, not the chain  resnet50-graph-b32
//	      | "separate"        each operator a function of its own, with graph  resnet50-graph-separate-b32
//	      | "on-" device      the card of the times, an id of package card  resnet50-on-a100-sxm-40gb-b32
//	      | option "." value  of a step, as memtide plan has it, "_" for "-"  llama3-8b-step-optimizer.adamw_8bit-b1
//
// Parts can come in any order, each at most once. Ref writes the batch size last, and the other parts in the
// order above. Options that are not named are the preset's own choices. All characters are lower-case letters,
// digits, hyphens, points and underscores, so that links need no escapes.
//
// Parse returns the variant that the reference names, whose Profile needs only the batch size; Base returns the
// listed preset. Equal variants are the same pointer. The error says what was not understood, and what is known.
func Parse(ref string) (*Preset, int, error) {
	variants.Lock()
	known, ok := variants.byRef[ref]
	variants.Unlock()
	if ok { // the page asks for the same reference many times a frame
		return known.preset, known.batch, nil
	}
	p, batch, err := parse(ref)
	if err == nil {
		variants.Lock()
		variants.byRef[ref] = variant{p, batch}
		variants.Unlock()
	}
	return p, batch, err
}

// UnknownError is the error for an ID that no preset has.
type UnknownError string

// Error lists the IDs that are known.
func (e UnknownError) Error() string {
	return fmt.Sprintf("there is no preset %q; known are %s", string(e), strings.Join(knownIDs(), ", "))
}

func parse(ref string) (*Preset, int, error) {
	base, rest := cut(ref)
	if base == nil {
		id, _, _ := strings.Cut(ref, "-b")
		return nil, 0, UnknownError(id)
	}
	o, err := base.readParts(ref, rest)
	if err != nil {
		return nil, 0, err
	}
	o.Batch = cmp.Or(o.Batch, base.DefaultBatch)
	p, err := base.With(o)
	if err != nil {
		return nil, 0, err
	}
	return p, o.Batch, nil
}

// cut returns the preset with the longest id that ref begins with, and the rest of ref.
func cut(ref string) (p *Preset, rest string) {
	for _, known := range slices.Concat(presets, earlier) {
		after, ok := strings.CutPrefix(ref, known.ID)
		if ok && (after == "" || after[0] == '-') && (p == nil || len(known.ID) > len(p.ID)) {
			p, rest = known, after
		}
	}
	if p != nil {
		return p, rest
	}
	for _, old := range renamed {
		if after, ok := strings.CutPrefix(ref, old[0]); ok && (after == "" || after[0] == '-') {
			return cut(old[1] + after)
		}
	}
	return nil, ""
}

// renamed are what older links call the steps of models.
var renamed = [][2]string{{"llama3-8b-hf", "llama3-8b-step-optimizer.adamw_8bit-states.bf16"},
	{"llama3-8b", "llama3-8b-step"}, {"gpt2-large", "gpt2-large-step"}, {"gpt2-xl", "gpt2-xl-step"},
	{"gpt2", "gpt2-step"}, {"bert-large", "bert-large-step"}}

// knownIDs returns the ids of the listed presets for a message. One entry stands for all language models, since
// they are many.
func knownIDs() (ids []string) {
	for _, p := range presets {
		if p.model == nil {
			ids = append(ids, p.ID)
		}
	}
	return append(ids, stepPresets()[0].ID+" and the steps of other language models")
}

// readParts reads the parts behind the id of ref.
func (p *Preset) readParts(ref, rest string) (o Options, err error) {
	seen := map[string]bool{}
	for rest != "" && err == nil {
		part, after, _ := strings.Cut(rest[1:], "-")
		if rest = rest[1+len(part):]; part == "on" {
			o.Device, rest = card.Cut(after)
		}
		kind := ""
		switch {
		case p.model != nil && strings.Contains(part, "."):
			kind, err = p.stepPart(ref, part, &o)
		case part == string(f32) || part == string(f16) || part == string(bf16):
			kind, o.Precision = "precision", part
		case part == "graph":
			kind, o.Graph = "graph", true
		case profiles.FindOptimizer(part) != nil:
			kind, o.Optimizer = "optimizer", part
		case part == "mp":
			kind, o.Fast = "pair of algorithms", true
		case part == "separate":
			kind, o.Separate = "separation", true
		case part == "on":
			if kind = "device"; o.Device == "" {
				err = fmt.Errorf("preset %q: \"on\" is followed by %q, which is not a known device; %s", ref, after,
					card.Like(after))
			}
		case strings.HasPrefix(part, "b"):
			kind = "batch size"
			o.Batch, err = p.number(ref, kind, part[1:], p.Largest(), Ref(p.ID, p.DefaultBatch))
		case strings.HasSuffix(part, "px"):
			kind = "image side"
			o.Image, err = p.number(ref, kind, strings.TrimSuffix(part, "px"), MaxImage,
				Ref(p.ID+"-224px", p.DefaultBatch))
		case strings.HasSuffix(part, "pct"):
			kind = "efficiency"
			o.Efficiency, err = p.number(ref, kind, strings.TrimSuffix(part, "pct"), 100,
				Ref(p.ID+"-45pct", p.DefaultBatch))
		case strings.HasSuffix(part, "tok"):
			kind = "sequence length"
			o.Tokens, err = p.number(ref, kind, strings.TrimSuffix(part, "tok"), p.largestTokens(),
				Ref(p.ID+"-1024tok", p.DefaultBatch))
		default:
			return o, fmt.Errorf("there is no preset %q: %s is followed by %q, which is not understood; write %s, or one of %s",
				ref, p.ID, part, Ref(p.ID, p.DefaultBatch), strings.Join(knownIDs(), ", "))
		}
		if err == nil && seen[kind] {
			err = fmt.Errorf("preset %q: the %s appears twice; name it once", ref, kind)
		}
		seen[kind] = true
	}
	return o, err
}

// number reads the whole number of a part. It refuses 0, which Options would take for a choice that was not made.
func (p *Preset) number(ref, what, digits string, most int, example string) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("preset %q: the %s %q is not a whole number; write %s", ref, what, digits, example)
	}
	if n == 0 {
		return 0, fmt.Errorf("preset %q: %s 0; 1 to %d are possible, for example %s", ref, what, most, example)
	}
	return int(n), nil
}

// variants are the presets that With has made, by id, and the references that Parse has read.
var variants = struct {
	sync.Mutex
	byID  map[string]*Preset
	byRef map[string]variant
}{byID: map[string]*Preset{}, byRef: map[string]variant{}}

type variant struct {
	preset *Preset
	batch  int
}

// With returns the variant of the preset with these options. The batch size stays open. Equal options give the
// same pointer. Errors are those of Build.
func (p *Preset) With(o Options) (*Preset, error) {
	base := p.Base()
	o = p.filled(o)
	if err := base.check(o); err != nil {
		return nil, err
	}
	if chosen := o.Efficiency; chosen > 0 { // the share that is assumed anyway makes no variant
		if o.Efficiency = 0; base.Efficiency(o) != chosen {
			o.Efficiency = chosen
		}
	}
	part, words := base.chosen(o)
	if part == "" {
		return base, nil
	}
	id := base.ID + part
	variants.Lock()
	defer variants.Unlock()
	if v := variants.byID[id]; v != nil {
		return v, nil
	}
	v := *base
	v.ID, v.Title, v.DType = id, base.Title+words, o.Precision
	v.own, v.of = o, base
	v.own.Batch = 0
	switch opt := profiles.FindOptimizer(o.Optimizer); {
	case v.model != nil:
		v.Optimizer = trained(o.Step)
	case opt != nil:
		v.Optimizer = opt.Title
	}
	variants.byID[id] = &v
	return &v, nil
}

// Base returns the listed preset of which p is a variant, or p itself if it is listed.
func (p *Preset) Base() *Preset { return cmp.Or(p.of, p) }

// chosen returns what options add to the id and to the title of a listed preset.
func (p *Preset) chosen(o Options) (id, title string) {
	add := func(differs bool, part, words string) {
		if differs {
			id, title = id+part, title+words
		}
	}
	add(o.Image != p.own.Image, fmt.Sprintf("-%dpx", o.Image), fmt.Sprintf(", %d px", o.Image))
	add(o.Tokens != p.own.Tokens, fmt.Sprintf("-%dtok", o.Tokens), fmt.Sprintf(", %d tokens", o.Tokens))
	add(o.Precision != p.own.Precision, "-"+o.Precision, ", "+o.Precision)
	add(o.Step != p.own.Step, o.Step, stepWords(o.Step))
	add(o.Efficiency > 0, fmt.Sprintf("-%dpct", o.Efficiency), fmt.Sprintf(", %d %% of the peak", o.Efficiency))
	if opt := profiles.FindOptimizer(o.Optimizer); opt != nil {
		add(true, "-"+opt.Name, ", "+opt.Title)
	}
	add(o.Fast, "-mp", ", two algorithms")
	add(o.Graph, "-graph", ", operators")
	add(o.Separate, "-separate", " one by one")
	add(o.Device != p.own.Device, "-on-"+o.Device, " on "+card.Lookup(o.Device).Name)
	return id, title
}
