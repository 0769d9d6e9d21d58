package ask

import (
	_ "embed" // models.txt
	"strings"
)

// listed are the known models: the transformers of diffusion models, then, below an empty line, the language models,
// ordered by family. A line has the id, whether the model is Usual, and the title.
//
//go:embed models.txt
var listed string

// Models are the known language models, Diffusers the transformers of diffusion models, whose blocks package family
// knows.
var Diffusers, Models = known()

func known() (diffusers, models []Known) {
	first, second, _ := strings.Cut(listed, "\n\n")
	read := func(text string) (out []Known) {
		for line := range strings.Lines(text) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 3)
			out = append(out, Known{f[0], f[2], f[1] == "usual"})
		}
		return out
	}
	return read(first), read(second)
}
