package family

import (
	_ "embed" // classes.txt
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ofWhole are keys of the whole model that describe its parts.
var ofWhole = []string{"tie_word_embeddings", "quantization_config", "_name_or_path", "architectures",
	"vision_config", "audio_config", "speech_config", "encoder_config", "vision_feature_layer",
	"multimodal_projector_bias", "spatial_merge_size", "scale_factor"}

// language continues with the language part of a model that has other parts, if there is one.
func (c *config) language() {
	c.outer = c.text("outer_model_type", "")                         // links have it for the language part of a file
	if thinker, ok := c.all["thinker_config"].(map[string]any); ok { // of Qwen's Omni models
		c.all = thinker
	}
	whole, kind, key := c.all, c.text("model_type", ""), "text_config"
	if whole[key] == nil {
		key = "llm_config"
	}
	text, ok := whole[key].(map[string]any)
	if !ok || ownSizes[kind] || c.has("hidden_size") && c.has("num_hidden_layers") {
		return
	}
	c.all, c.outer = text, kind
	if text["model_type"] == nil {
		text["model_type"] = kind
	}
	c.complete(key, fmt.Sprint(text["model_type"]))
	text["outer_model_type"] = kind
	for _, key := range ofWhole {
		if whole[key] != nil {
			text[key] = whole[key]
		}
	}
}

// complete adds to a config, which messages call name, what it leaves out of the sizes of its class, or of those of the
// keys if there are any, and notes it.
func (c *config) complete(name, kind string, keys ...string) {
	if added := fill(c.all, kind, keys...); len(added) > 0 {
		c.left = append(c.left, added...)
		c.note("%s leaves out %s: they are those of the class of %q.", name, strings.Join(added, ", "), kind)
	}
}

// fill adds to a config what it leaves out of the sizes of its class, or of those of the keys if there are any. It
// returns the keys that it adds.
func fill(in map[string]any, kind string, keys ...string) (added []string) {
	kind = strings.TrimSuffix(kind, "_vision")
	usual, _ := open([]byte(classSizes(kind)))
	if usual == nil {
		return nil
	}
	for key, v := range usual.all {
		if _, given := in[key]; !given && (keys == nil || slices.Contains(keys, key)) {
			in[key] = v
			added = append(added, key)
		}
	}
	slices.Sort(added)
	return added
}

// ofClass adds to a file what Transformers takes from the class of its family: all sizes if the file has none or is the
// language part of another, else heads of keys and their width, which people leave out of files that they write.
func (c *config) ofClass(kind string) {
	usual, _ := open([]byte(classSizes(kind)))
	if usual == nil || usual.all["vocab_size"] == nil {
		return
	}
	if c.outer != "" {
		c.complete("text_config", kind)
		return
	}
	if !c.has(slices.Collect(maps.Keys(usual.all))...) {
		c.complete("The file", kind)
		return
	}
	keys := []string{"head_dim"}
	if c.or(1, "num_attention_heads")%max(1, usual.size("num_key_value_heads")) == 0 {
		keys = append(keys, "num_key_value_heads")
	}
	c.complete("The file", kind, keys...)
}

// classes are the default sizes of classes of Transformers and diffusers, a class on each line. Of nested configs
// save_pretrained writes only keys that differ from these.
//
//go:embed classes.txt
var classes string

// classSizes returns the sizes of a class as JSON, or "".
func classSizes(kind string) string {
	for line := range strings.Lines(classes) {
		if sizes, ok := strings.CutPrefix(line, kind+" "); ok {
			return sizes
		}
	}
	return ""
}
