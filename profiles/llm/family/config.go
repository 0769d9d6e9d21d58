package family

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
)

// config is a config.json that is being read. It records the first error, after which everything that is read is 0.
type config struct {
	all   map[string]any
	read  map[string]bool // keys that were read
	left  []string        // keys that the file leaves out, whose values are those of the class
	outer string          // model_type of the file, if this is its text_config
	whole *config         // for a part: the config of the file, which records the error
	notes []string
	err   error
}

// part returns a part of the file as a config. Its errors are recorded by the file's config.
func (c *config) part(of any) *config {
	all, _ := of.(map[string]any)
	return &config{all: all, read: map[string]bool{}, whole: cmp.Or(c.whole, c)}
}

// FormatName is the name of config.json in the list of formats.
const FormatName = "hfconfig"

// Kinds of layers.
const (
	linear  = "linear_attention"
	sliding = "sliding_attention"
)

// unclear describes blocks that a key makes, for messages.
const unclear = "blocks that are not understood"

// correct is the remedy for a wrong number.
const correct = "Correct it in the config.json."

// fail records an error if it is the first: the key, what was found, what was expected and the remedy.
func (c *config) fail(key, found, expected, remedy string) {
	if c = cmp.Or(c.whole, c); c.err == nil {
		c.err = &profiles.FormatError{Path: key, Found: found, Expected: expected, Remedy: remedy}
	}
}

// note adds a note on how the file was read.
func (c *config) note(format string, of ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, of...))
}

// unknown refuses a value of a key that makes blocks which are not known.
func (c *config) unknown(key, why string) {
	c.fail(key, fmt.Sprintf("%s is %s, which makes %s", key, told(c.all[key]), why),
		"Blocks that are known are expected.", wayOut)
}

// flags refuses keys whose flag differs from usual, since they make blocks that are not known.
func (c *config) flags(usual bool, why string, keys ...string) {
	for _, key := range keys {
		if c.flag(key, usual) != usual {
			c.unknown(key, why)
		}
	}
}

// usual refuses a key whose text is not the usual word, which is also that of files without the key.
func (c *config) usual(word, key string) {
	if c.text(key, word) != word {
		c.unknown(key, unclear)
	}
}

// same refuses a key whose size differs from usual.
func (c *config) same(usual int64, key string) {
	if c.or(usual, key) != usual {
		c.unknown(key, unclear)
	}
}

// open parses a config.json as Python writes it. Infinity and NaN read as null, since no size has these values.
func open(data []byte) (*config, error) {
	clean := Plain(data)
	dec := json.NewDecoder(bytes.NewReader(clean))
	dec.UseNumber()
	c := &config{read: map[string]bool{}}
	err := dec.Decode(&c.all)
	if err == nil && c.all == nil {
		err = errors.New("it is null")
	}
	if err == nil {
		return c, nil
	}
	var at *json.SyntaxError
	wrong := &profiles.FormatError{Found: "This is no JSON: " + strings.TrimPrefix(err.Error(), "json: "),
		Expected: "The JSON object that save_pretrained of Transformers writes is expected.",
		Remedy:   "Give the config.json of the model."}
	if errors.As(err, &at) {
		wrong.Line = 1 + bytes.Count(clean[:min(int(at.Offset), len(clean))], []byte("\n"))
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Found = "The file is a JSON " + kind.Value
	}
	return nil, wrong
}

// Plain returns a config.json as JSON: Python's numbers that JSON does not have become null.
func Plain(data []byte) []byte {
	out := make([]byte, 0, len(data))
	inside := false
	for i := 0; i < len(data); i++ {
		if n := strange(data[i:]); !inside && n > 0 {
			out = append(out, "null"...)
			i += n - 1
			continue
		}
		out = append(out, data[i])
		switch {
		case data[i] == '"':
			inside = !inside
		case inside && data[i] == '\\' && i+1 < len(data):
			i++
			out = append(out, data[i])
		}
	}
	return out
}

// strange returns the length of a number at the beginning of text that only Python has, or 0.
func strange(text []byte) int {
	for _, word := range []string{"-Infinity", "Infinity", "NaN"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// value returns the value of a key, or nil if it is missing or null.
func (c *config) value(key string) any {
	c.read[key] = true
	return c.all[key]
}

// has reports whether one of the keys has a value.
func (c *config) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return c.value(key) != nil })
}

// without refuses a rate above 0.
func (c *config) without(key string) {
	if c.above(0, key) {
		c.unknown(key, unclear)
	}
}

// size returns the value of the first key that has one, a whole number in the range of ask.CheckSize, or 0 if no
// key has a value.
func (c *config) size(keys ...string) int64 {
	for _, key := range keys {
		c.read[key] = true
	}
	key := c.named(keys...)
	v := c.value(key)
	n, ok := whole(v)
	if !ok && v != nil {
		c.fail(key, key+" is "+told(v), "A whole number is expected.", correct)
	}
	if err := ask.CheckSize(keys[0], n, 0); err != nil {
		found, _, _ := strings.Cut(err.Error(), ":")
		found, want, _ := strings.Cut(strings.Replace(found, keys[0], key, 1), "; want ")
		c.fail(key, found, "A number of "+want+" is expected.", correct)
		return 0
	}
	return n
}

// named returns the first key that has a value, or the first key.
func (c *config) named(keys ...string) string {
	return keys[max(0, slices.IndexFunc(keys, func(key string) bool { return c.value(key) != nil }))]
}

// side returns a number, such as of pixels, or the first number of a list.
func (c *config) side(key string, usual int64) int64 {
	if list, ok := c.value(key).([]any); ok && len(list) > 0 {
		c.all[key] = list[0]
	}
	return max(1, c.or(usual, key))
}

// or is size, or otherwise if no key has a value.
func (c *config) or(otherwise int64, keys ...string) int64 {
	if !c.has(keys...) {
		return otherwise
	}
	return c.size(keys...)
}

// need is size of at least 1. It records an error if no key has a value.
func (c *config) need(keys ...string) int64 {
	n := c.size(keys...)
	if n == 0 {
		c.fail(keys[0], keys[0]+" is missing or 0", "The config of a model has "+meant(keys[0])+".",
			"Add it, or correct it in the config.json.")
	}
	return n
}

// meant returns what a size counts.
func meant(key string) string {
	switch {
	case strings.Contains(key, "expert"):
		return "the experts"
	case strings.Contains(key, "layers"):
		return "the number of layers"
	case strings.Contains(key, "heads"):
		return "the number of heads"
	case strings.Contains(key, "vocab"):
		return "the number of words"
	}
	return "the width"
}

func whole(v any) (int64, bool) {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	return i, err == nil
}

// told returns a value as text for a message.
func told(v any) string {
	text, _ := json.Marshal(v)
	if len(text) > 40 {
		text = append(text[:40], "..."...)
	}
	return string(text)
}

func (c *config) flag(key string, otherwise bool) bool {
	return scalar(c, key, otherwise, "True or false is expected.")
}

func (c *config) text(key, otherwise string) string {
	return scalar(c, key, otherwise, "A word is expected.")
}

// scalar returns the value of a key, or otherwise if it has none. It refuses a value of another type.
func scalar[T any](c *config, key string, otherwise T, expected string) T {
	v := c.value(key)
	if v == nil {
		return otherwise
	}
	t, ok := v.(T)
	if !ok {
		c.fail(key, key+" is "+told(v), expected, correct)
		return otherwise
	}
	return t
}

// number returns a number, or otherwise if the key has none.
func (c *config) number(key string, otherwise float64) float64 {
	n, _ := c.value(key).(json.Number)
	if f, err := n.Float64(); err == nil {
		return f
	}
	return otherwise
}

func (c *config) above(otherwise float64, key string) bool { return c.number(key, otherwise) > 0 }

// list returns a list with an entry for each layer, or nil if the key has no value.
func (c *config) list(key string, layers int64) []any {
	v := c.value(key)
	if v == nil {
		return nil
	}
	l, ok := v.([]any)
	if !ok || int64(len(l)) < layers {
		c.fail(key, key+" is "+told(v), fmt.Sprintf("A list with an entry for each of the %d layers is expected.",
			layers), correct)
		return nil
	}
	return l
}

// rope returns a number of the rotation from rope_parameters, rope_scaling or the file itself.
func (c *config) rope(key string, otherwise float64) float64 {
	for _, of := range []string{"rope_parameters", "rope_scaling"} {
		in, _ := c.value(of).(map[string]any)
		if n, ok := in[key].(json.Number); ok {
			f, _ := n.Float64()
			return f
		}
	}
	return c.number(key, otherwise)
}

// partial returns how many numbers of a head are rotated, or 0 if all are.
func (c *config) partial(head int64, otherwise float64) int64 {
	share := c.rope("partial_rotary_factor", otherwise)
	if share <= 0 || share >= 1 {
		return 0
	}
	return engine.Int64(float64(head) * share)
}

// layerTypes returns the kind of every layer: as the file says, or the usual kinds.
func (c *config) layerTypes(layers int64, usual func(layer int64) string) (out []string) {
	for _, key := range []string{"layer_types", "layers_block_type"} {
		if given := c.words(key, layers); given != nil {
			return given
		}
	}
	for l := range layers {
		out = append(out, usual(l))
	}
	return out
}

// words returns a list with a word for each layer, or nil if the key has no value.
func (c *config) words(key string, layers int64) (out []string) {
	if list := c.list(key, layers); list != nil {
		for _, v := range list[:layers] {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// indices returns the layers that a list names, or nil if the key has no list.
func (c *config) indices(key string) map[int64]bool {
	list, ok := c.value(key).([]any)
	if !ok {
		return nil
	}
	out := map[int64]bool{}
	for _, v := range list {
		if n, ok := whole(v); ok {
			out[n] = true
		}
	}
	return out
}

// full is the kind of layers that see the whole sequence.
func full(int64) string { return "full_attention" }

// lastFull returns the kinds of layers in groups. The last layer of each group sees the whole sequence, and the
// others are of the kind others. If group is 0, all layers see the whole sequence.
func lastFull(group int64, others string) func(layer int64) string {
	return oneFull(group, group-1, others)
}

// oneFull returns the kinds of layers in groups. The layer at position at of each group sees the whole sequence,
// and the others are of the kind others.
func oneFull(group, at int64, others string) func(layer int64) string {
	return func(l int64) string {
		if group > 0 && l%group != at {
			return others
		}
		return "full_attention"
	}
}

// slide sets the window of layers with sliding attention.
func slide(m *llm.Model, types []string, window int64) {
	where(m, types, func(b *llm.Block) { b.Window = window }, sliding)
}

// where changes the blocks of layers of some kinds.
func where(m *llm.Model, types []string, change func(b *llm.Block), kinds ...string) {
	pattern(m, func(l int64, b *llm.Block) {
		if slices.Contains(kinds, types[l]) {
			change(b)
		}
	})
}

// otherTypes refuses kinds of layers that a family does not have.
func (c *config) otherTypes(types []string, known ...string) {
	for _, t := range types {
		if !slices.Contains(known, t) {
			c.fail("layer_types", fmt.Sprintf("layer_types has %q, whose blocks are not understood", t),
				"Layers of "+strings.Join(known, " or ")+" are expected.", wayOut)
		}
	}
}

// pattern changes the block of each layer. Equal blocks are stored once.
func pattern(m *llm.Model, change func(layer int64, b *llm.Block)) {
	known := map[llm.Block]*llm.Block{}
	blocks := make([]*llm.Block, m.Layers)
	for l := range m.Layers {
		b := *m.At(l)
		change(l, &b)
		if known[b] == nil {
			known[b] = &b
		}
		blocks[l] = known[b]
	}
	m.Pattern = blocks
	if len(known) == 1 {
		m.Block, m.Pattern = *m.Pattern[0], nil
	}
}

// understood returns the keys of the file that were read, as JSON without spaces. It reads as the same model, with the
// same notes.
func (c *config) understood() string {
	out := maps.Clone(c.all)
	maps.DeleteFunc(out, func(key string, v any) bool {
		return !c.read[key] || slices.Contains(c.left, key)
	})
	text, _ := json.Marshal(out)
	return string(text)
}
