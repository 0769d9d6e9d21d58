package profiles

import "testing"

// FuzzCSV mutates tables of stages.
func FuzzCSV(f *testing.F) {
	names := []string{"name", "kind", "forward_s", "backward_s", "output_bytes", "saved_bytes", "# batch: 3", "# weights: 1e9", "#", "loss", "1,5"}
	fuzzSamples(f, []string{"stages.csv", "semicolons.csv", "pasted.tsv"}, func(sample []byte, s *script) []byte {
		return mutateCells(sample, s, s.pick([]string{",", ";", "\t", ": "}), names)
	})
}
