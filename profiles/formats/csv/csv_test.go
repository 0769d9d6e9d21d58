package csv

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// FuzzCSV mutates tables of stages.
func FuzzCSV(f *testing.F) {
	names := []string{"name", "kind", "forward_s", "backward_s", "output_bytes", "saved_bytes", "# batch: 3",
		"# weights: 1e9", "#", "loss", "1,5"}
	formattest.FuzzSamples(f, []string{"stages.csv", "semicolons.csv", "pasted.tsv"},
		func(sample []byte, s *formattest.Script) []byte {
			return formattest.MutateCells(sample, s, s.Pick([]string{",", ";", "\t", ": "}), names)
		})
}
