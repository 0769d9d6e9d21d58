package all

import (
	"os"
	"path/filepath"
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestDamage changes every sample in many ways, and cuts it at many places, short
// ones at every byte. Each is refused in words or is a profile that can be used;
// nothing panics or goes on for ever. MEMTIDE_LONG makes it 10,000 ways each.
func TestDamage(t *testing.T) {
	for _, file := range formattest.Samples(t, "../*/testdata") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rounds := min(200, max(20, (2<<20)/(1+len(data))))
			if os.Getenv("MEMTIDE_LONG") != "" {
				rounds = 10_000
			}
			for seed := range rounds {
				formattest.DecodeDamaged(t, formattest.Damage(data, uint64(seed)), seed)
			}
			step := 1
			if len(data) > 8<<10 {
				step += len(data) / rounds
			}
			for end := 0; end < len(data); end += step {
				formattest.DecodeDamaged(t, data[:end], -end)
			}
		})
	}
}
