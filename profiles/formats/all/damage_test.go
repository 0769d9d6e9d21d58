package all

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// TestDamage changes every sample in many ways and cuts it at many places, short ones at every byte. Each result
// is refused with an error or is a valid profile. No input may cause a panic or an endless loop. With
// MEMTIDE_LONG set it tries 10,000 changes of each sample.
func TestDamage(t *testing.T) {
	for _, file := range sampleFiles(t) {
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
				decodeDamaged(t, damage(data, uint64(seed)), seed)
			}
			step := 1
			if len(data) > 8<<10 {
				step += len(data) / rounds
			}
			for end := 0; end < len(data); end += step {
				decodeDamaged(t, data[:end], -end)
			}
		})
	}
}

// mostPolls is far more than the largest sample takes. It ends decoding that would never end. Decoding that never
// ends and does not poll either runs into the limit of go test.
const mostPolls = 10_000_000

// decodeDamaged reads damaged content. seed identifies it in messages.
func decodeDamaged(t *testing.T, data []byte, seed int) {
	t.Helper()
	failed := t.Failed()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
		if t.Failed() && !failed {
			t.Logf("this was mutation %d:\n%q", seed, data)
		}
	}()
	p, err := profiles.Decode("mutation", profiles.Bytes(data),
		engine.NewPoll(engine.LimitCalls(t.Context(), mostPolls), nil))
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("decoding goes on after %d polls", mostPolls)
	}
	checkRead(t, p, err)
}
