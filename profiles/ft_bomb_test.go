package profiles

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func rep(s string, n int) string { return strings.Repeat(s, n) }

func content(parts ...string) func() []byte {
	return func() []byte { return []byte(strings.Join(parts, "")) }
}

func manyKeys(n int) string {
	return rows(n, func(i int) string { return fmt.Sprintf(`"k%d":"v",`, i) })
}

func rows(n int, row func(i int) string) string {
	var b strings.Builder
	for i := range n {
		s := row(i)
		b.WriteString(s)
		if i+1 < n && strings.HasPrefix(s, "{\"id\"") {
			b.WriteByte(',')
		}
	}
	return b.String()
}

// spent is how much f allocates in all beside what is there.
func spent(f func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mostSpent is what reading a bomb may allocate in all, garbage included: what it
// takes at any time is less.
const mostSpent = 280 << 20

// bomb is content that is small, or says little, and would take much to read.
type bomb struct {
	name    string
	content func() []byte
	want    string // in the error
}

// runBombs reads bombs of a format. No content takes much of memory to be refused, and
// what is refused is told: what was found, where, and what is the most. Formats that
// read row by row make garbage: they may allocate factor times as much in all.
func runBombs(t *testing.T, format string, factor uint64, list []bomb) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			data := b.content()
			if claims := Claimants(data); len(claims) != 1 || claims[0].Name != format {
				t.Fatalf("not claimed by %s, but by %d formats", format, len(claims))
			}
			var err error
			bytes := spent(func() { _, err = Decode("bomb", Bytes(data), nil) })
			checkProblems(t, err)
			if b.want != "" && (err == nil || !strings.Contains(err.Error(), b.want)) {
				t.Errorf("%d bytes: %.300v\nwant %s", len(data), err, b.want)
			}
			if bytes > factor*mostSpent {
				t.Errorf("%d bytes: %d MiB allocated in all, want at most %d", len(data), bytes>>20, factor*mostSpent>>20)
			}
			t.Logf("%d KiB: %d MiB in all: %.200v", len(data)>>10, bytes>>20, err)
		})
	}
}
