package ask

import (
	_ "embed" // models.txt
	"slices"
	"strings"
)

// listed are the known models: the transformers of diffusion models, then, below empty lines, the language models,
// ordered by family. A line has the id, whether the model is Usual and has Experts, the title, and behind an equals
// sign the titles of other models of that architecture.
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
			title, also, found := strings.Cut(f[2], " = ")
			k := Known{ID: f[0], Title: title, Usual: is("usual"), Experts: is("experts"), Videos: is("videos")}
			if found {
				k.Also = strings.Split(also, ", ")
			}
			out = append(out, k)
		}
		return out
	}
	groups := strings.Split(listed, "\n\n")
	return read(groups[0]), read(groups[1]), read(groups[2])
}

// untold are the parts of a repository's name that say nothing about the architecture.
var untold = strings.Fields("meta instruct it chat base hf pt thinking preview 2507 unsloth bnb 4bit v0.1 v0.2 v1.0 uncased diffusers t2v turbo")

// Told returns the words of a name that say something about the architecture, or all of them if none does. They are in
// lower case.
func Told(words []string) []string {
	out := slices.DeleteFunc(slices.Clone(words), func(s string) bool { return slices.Contains(untold, s) })
	if len(out) == 0 {
		return words
	}
	return out
}

// Named returns the known model called name, or nil if no model has that name. The name is an ID or a title in upper or
// lower case, the title of another model of that architecture, or a repository on Hugging Face such as
// "meta-llama/Llama-3.1-8B-Instruct".
func Named(name string) *Known {
	short := squeezed(name)
	means := func(other string) bool { return squeezed(other) == short }
	for _, list := range [][]Known{Models, Diffusers, Others} {
		if i := slices.IndexFunc(list, func(k Known) bool {
			return means(k.ID) || means(k.Title) || slices.ContainsFunc(k.Also, means)
		}); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// squeezed returns a name without its owner, without what is untold, and without signs.
func squeezed(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	parts := strings.Join(Told(strings.Split(name, "-")), "")
	text := strings.NewReplacer(".", "", "_", "", " ", "").Replace(parts)
	return strings.Replace(text, "stablediffusion", "sd", 1)
}
