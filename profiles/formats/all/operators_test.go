package all

import (
	"strings"
)

const operatorsHead = `{"format":"memtide/1","kind":"operators",`

func init() {
	owns["operators"] = &own{
		bombs: func() []bomb {
			return []bomb{
				{name: "2 million storages", content: content(operatorsHead, `"storages":[1`, strings.Repeat(",1", 2<<20),
					"]}"), want: "There are more than 1048576 storages"},
				{name: "a long list of inputs", content: content(operatorsHead, `"inputs":[1`, strings.Repeat(",1", 2<<20),
					"]}"), want: "inputs is"},
				{name: "units without calls", content: content(operatorsHead,
					`"storages":[],"resident":[],"ops":[],"forward_ops":0,"calls":[],"keeps":[],"units":[0]}`),
					want: "units is something else"},
			}
		},
		samples: []string{"mlp.json"},
		mutate:  mutateOperators,
	}
}

// mutateOperators mutates samples.
func mutateOperators(sample []byte, s *script) []byte {
	keys := []string{"args", "autocast", "batch", "call", "calls", "class", "dtype", "end", "events", "format",
		"forward_ops", "in", "inputs", "keeps", "kind", "name", "new",
		"op", "ops", "outs", "parent", "pass", "path", "plain_bytes", "python_frees", "resident", "roles", "source",
		"storages", "temp_bytes", "tied", "time_s", "units", "view", "write"}
	texts := []string{"forward", "backward", "operators", "aten.addmm.default", "f32", "bfloat16", "weight", "grad",
		"Linear", "-1", "0", "0#1", "34"}

	return mutateJSON(sample, s, keys, texts)
}
