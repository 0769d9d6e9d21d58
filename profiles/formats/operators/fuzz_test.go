package operators_test

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// Damaged files are refused with a message, and what is read is whole.
func FuzzOperators(f *testing.F) {
	keys := []string{"args", "autocast", "batch", "call", "calls", "class", "dtype", "end", "events", "format",
		"forward_ops", "in", "inputs", "keeps", "kind", "name", "new",
		"op", "ops", "outs", "parent", "pass", "path", "plain_bytes", "python_frees", "resident", "roles", "source",
		"storages", "temp_bytes", "tied", "time_s", "units", "view", "write"}
	texts := []string{"forward", "backward", "operators", "aten.addmm.default", "f32", "bfloat16", "weight", "grad",
		"Linear", "-1", "0", "0#1", "34"}
	formattest.FuzzSamples(f, []string{"mlp.json"}, func(sample []byte, s *formattest.Script) []byte {
		return formattest.MutateJSON(sample, s, keys, texts)
	})
}
