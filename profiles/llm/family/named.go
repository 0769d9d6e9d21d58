package family

import (
	"cmp"
	_ "embed" // models.txt
	"strings"

	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
)

// configs has a line for each model of ask.Diffusers and ask.Others.
//
//go:embed models.txt
var configs string

// Lookup returns the model with a name, see ask.Named, or nil if it is not known. The model may be shared and must not
// be changed.
func Lookup(name string) *llm.Model { return cmp.Or(llm.Lookup(name), configured(name)) }

func configured(name string) *llm.Model {
	if known := ask.Named(name); known != nil {
		name = known.ID
	}
	for line := range strings.Lines(configs) {
		id, config, _ := strings.Cut(line, " ")
		if id != name {
			continue
		}
		m, err := Read([]byte(config))
		if err != nil {
			return nil // as for the # of comments
		}
		m.Name = name
		return m.Model
	}
	return nil
}
