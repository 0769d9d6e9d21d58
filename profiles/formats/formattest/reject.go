package formattest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// Rejection is content that is refused, with the whole text of the error.
type Rejection struct{ Name, Input, Want string }

// Rejections: each is refused with the whole text of its error.
func Rejections(t *testing.T, list []Rejection) {
	t.Helper()
	for _, r := range list {
		t.Run(r.Name, func(t *testing.T) {
			p, err := profiles.Decode("some file.csv", profiles.Bytes(r.Input), nil)
			if err == nil {
				t.Fatalf("Decode(%.200q) reads %s, want the error %q", r.Input, Dump(p), r.Want)
			}
			if err.Error() != r.Want {
				t.Errorf("Decode(%.200q)\ngot  %s\nwant %s", r.Input, err, r.Want)
			}
			CheckProblems(t, err)
		})
	}
}

// TooManyStages: content with one stage too many is refused; build makes some with n
// stages. The longest chain that is read is the next shorter one.
func TooManyStages(t *testing.T, build func(n int) string) {
	t.Helper()
	if p, err := profiles.Decode("x", profiles.Bytes(build(engine.MaxStages-1)), nil); err != nil ||
		p.Totals().Stages != engine.MaxStages-1 {
		t.Errorf("%d stages: %v, want to be read", engine.MaxStages-1, err)
	}
	_, err := profiles.Decode("x", profiles.Bytes(build(engine.MaxStages)), nil)
	if err == nil || !strings.Contains(err.Error(), "more than ") {
		t.Errorf("%d stages: %v, want to be refused", engine.MaxStages, err)
	}
}

// FuzzContent is a fuzz target over any content, which begins with samples and with
// what is refused.
func FuzzContent(f *testing.F, samples []string, refused []Rejection) {
	for _, file := range samples {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, r := range refused {
		f.Add([]byte(r.Input))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if claims := profiles.Claimants(data); len(claims) > 1 {
			t.Errorf("claimed by %s and %s", claims[0].Name, claims[1].Name)
		}
		p, err := profiles.Decode("fuzz", profiles.Bytes(data), nil)
		if CheckRead(t, p, err); p != nil {
			CheckRoundTrip(t, p)
		}
	})
}

// Rep returns a text n times.
func Rep(s string, n int) string { return strings.Repeat(s, n) }

// Content builds content of parts when it is asked for.
func Content(parts ...string) func() []byte {
	return func() []byte { return []byte(strings.Join(parts, "")) }
}

// ManyKeys is n different keys of an object, each with a text.
func ManyKeys(n int) string {
	return Rows(n, func(i int) string { return fmt.Sprintf(`"k%d":"v",`, i) })
}

// Rows returns what row says for 0 to n-1; objects have a comma between them.
func Rows(n int, row func(i int) string) string {
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

// Spent returns how much f allocates in all beside what is there.
func Spent(f func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// MostSpent is what reading a bomb may allocate in all, garbage included: what it
// takes at any time is less.
const MostSpent = 280 << 20

// Bomb is content that is small, or says little, and would take much to read.
type Bomb struct {
	Name    string
	Content func() []byte
	Want    string // in the error
}

// Bombs reads bombs of a format. No content takes much of memory to be refused, and
// what is refused is told: what was found, where, and what is the most. Formats that
// read row by row make garbage: they may allocate factor times as much in all.
func Bombs(t *testing.T, format string, factor uint64, list []Bomb) {
	t.Helper()
	for _, b := range list {
		t.Run(b.Name, func(t *testing.T) {
			data := b.Content()
			if claims := profiles.Claimants(data); len(claims) != 1 || claims[0].Name != format {
				t.Fatalf("not claimed by %s, but by %d formats", format, len(claims))
			}
			var err error
			bytes := Spent(func() { _, err = profiles.Decode("bomb", profiles.Bytes(data), nil) })
			CheckProblems(t, err)
			if b.Want != "" && (err == nil || !strings.Contains(err.Error(), b.Want)) {
				t.Errorf("%d bytes: %.300v\nwant %s", len(data), err, b.Want)
			}
			if bytes > factor*MostSpent {
				t.Errorf("%d bytes: %d MiB allocated in all, want at most %d", len(data), bytes>>20,
					factor*MostSpent>>20)
			}
			t.Logf("%d KiB: %d MiB in all: %.200v", len(data)>>10, bytes>>20, err)
		})
	}
}
