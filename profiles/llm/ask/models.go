package ask

import (
	_ "embed" // models.txt
	"slices"
	"strings"
)

// listed are the known models: the transformers of diffusion models, then, below empty lines, the language models,
// ordered by family. A line has the id, whether the model is Usual and has Experts, and the title.
//
//go:embed models.txt
var listed string

// Models are language models whose step is a preset, too, Diffusers the transformers of diffusion models, and Others
// language models whose blocks, like those of Diffusers, package family knows.
var Diffusers, Models, Others = known()

func known() (diffusers, models, others []Known) {
	read := func(text string) (out []Known) {
		for line := range strings.Lines(text) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 3)
			is := func(word string) bool { return strings.Contains(f[1], word) }
			out = append(out, Known{f[0], f[2], is("usual"), is("experts"), is("videos")})
		}
		return out
	}
	groups := strings.Split(listed, "\n\n")
	return read(groups[0]), read(groups[1]), read(groups[2])
}

// aliases are other names of models with the same architecture.
var aliases = map[string]string{
	"llama3.1-8b": "llama3-8b", "llama-3-8b": "llama3-8b", "llama3.1-70b": "llama3-70b", "llama3.3-70b": "llama3-70b",
	"llama3-405b": "llama3.1-405b", "deepseek-v3": "deepseek-v3-671b",
	"qwen2-7b": "qwen2.5-7b", "llama3-1b": "llama3.2-1b", "llama3-3b": "llama3.2-3b", "tinyllama-1.1b": "tinyllama",
	"smollm2": "smollm2-1.7b", "gpt2-small": "gpt2",
	"wan2.2-14b": "wan2.1-14b", "wan2.2-a14b": "wan2.1-14b", // either of its two experts
}

// untold are the parts of a repository's name that say nothing about the architecture.
var untold = strings.Fields("meta instruct it chat base hf pt preview 2507 bnb 4bit v0.1 v0.2 v1.0 uncased diffusers t2v turbo")

// Named returns the known model called name, or nil if no model has that name. The name is an ID in upper or lower
// case, an alias of one, or a repository on Hugging Face such as "meta-llama/Llama-3.1-8B-Instruct".
func Named(name string) *Known {
	short := squeezed(name)
	for alias, id := range aliases {
		if squeezed(alias) == short {
			return Lookup(id)
		}
	}
	for _, list := range [][]Known{Models, Diffusers, Others} {
		if i := slices.IndexFunc(list, func(k Known) bool { return squeezed(k.ID) == short }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// squeezed returns a name without its owner, without what is untold, and without signs.
func squeezed(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	parts := slices.DeleteFunc(strings.Split(name, "-"), func(s string) bool { return slices.Contains(untold, s) })
	text := strings.NewReplacer(".", "", "_", "", " ", "").Replace(strings.Join(parts, ""))
	return strings.Replace(text, "stablediffusion", "sd", 1)
}
