package formattest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// meaningful are bytes that some format gives a meaning.
const meaningful = "0123456789-.e[]{},\":\x00\x7f\x80\xff"

// Damage changes content in one to four places: a bit, a byte, a number, a piece
// that is removed, doubled, or moved from elsewhere. Equal seeds make equal changes.
func Damage(data []byte, seed uint64) []byte {
	out := bytes.Clone(data)
	state := seed*0x9e3779b97f4a7c15 + 1
	next := func(n int) int { // xorshift* (Vigna, doi:10.1145/2845077)
		state ^= state >> 12
		state ^= state << 25
		state ^= state >> 27
		return int((state * 0x2545f4914f6cdd1d) >> 33 % uint64(max(1, n)))
	}
	for range 1 + next(4) {
		if len(out) == 0 {
			return out
		}
		at := next(len(out))
		size := min(1+next(16), len(out)-at)
		switch next(7) {
		case 0:
			out[at] ^= 1 << next(8)
		case 1:
			out[at] = byte(next(256))
		case 2:
			out[at] = meaningful[next(len(meaningful))]
		case 3:
			out = append(out[:at:at], out[at+size:]...)
		case 4:
			out = append(out[:at+size:at+size], out[at:]...)
		case 5:
			from := next(len(out) - size + 1)
			copy(out[at:at+size], bytes.Clone(out[from:from+size]))
		case 6: // a number that is much longer
			out = append(out[:at:at], append([]byte("9999999999"), out[at:]...)...)
		}
	}
	return out
}

// mostPolls is far above what the largest sample takes; it is there for what never
// ends. What never ends and does not poll either runs into the limit of go test.
const mostPolls = 10_000_000

// DecodeDamaged reads damaged content; seed names it in messages.
func DecodeDamaged(t *testing.T, data []byte, seed int) {
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
	p, err := profiles.Decode("mutation", profiles.Bytes(data), engine.NewPoll(engine.LimitCalls(t.Context(), mostPolls), nil))
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("decoding goes on after %d polls", mostPolls)
	}
	checkRead(t, p, err)
}
