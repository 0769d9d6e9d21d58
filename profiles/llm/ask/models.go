package ask

import (
	_ "embed" // models.txt
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
			out = append(out, Known{f[0], f[2], strings.Contains(f[1], "usual"), strings.Contains(f[1], "experts")})
		}
		return out
	}
	groups := strings.Split(listed, "\n\n")
	return read(groups[0]), read(groups[1]), read(groups[2])
}
