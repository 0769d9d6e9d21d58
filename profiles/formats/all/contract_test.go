package all

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// own holds what the tests in this package need to know of one format. A file for each format registers it.
type own struct {
	refused []rejection
	bombs   func() []bomb // built when needed, since they are large
	// factor is how many times mostSpent the bombs of the format may allocate in all, 0 means once. Formats that
	// are read row by row make garbage.
	factor uint64
	long   func(n int) string // returns content of n stages; nil if another test covers the limit

	samples []string // names of files in testdata, for mutate
	mutate  func(sample []byte, s *script) []byte
}

// owns holds the formats by name. Their folders have the same names, except for those in folders.
var owns = map[string]*own{}

var folders = map[string]string{"memtide": "native", "rotor": "rotorlist", "hfconfig": "hf"}

// testdata returns the content of a sample of the given format.
func testdata(t testing.TB, format, name string) []byte {
	t.Helper()
	folder := folders[format]
	if folder == "" {
		folder = format
	}
	data, err := os.ReadFile("../" + folder + "/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rejection is content that is refused, with the complete text of the error.
type rejection struct{ name, input, want string }

// TestRejections checks the complete text of the error for content that a format refuses.
func TestRejections(t *testing.T) {
	for format, o := range owns {
		for _, r := range o.refused {
			t.Run(format+"/"+r.name, func(t *testing.T) {
				p, err := profiles.Decode("some file.csv", profiles.Bytes(r.input), nil)
				if err == nil {
					t.Fatalf("Decode(%.200q) reads %s, want the error %q", r.input, dump(p), r.want)
				}
				if err.Error() != r.want {
					t.Errorf("Decode(%.200q)\ngot  %s\nwant %s", r.input, err, r.want)
				}
				formattest.CheckProblems(t, err)
			})
		}
	}
}

// TestTooManyStages checks that content with one stage too many is refused, and that content with one stage less
// is read.
func TestTooManyStages(t *testing.T) {
	for format, o := range owns {
		if o.long == nil {
			continue
		}
		t.Run(format, func(t *testing.T) {
			p, err := profiles.Decode("x", profiles.Bytes(o.long(engine.MaxStages-1)), nil)
			if err != nil || p.Totals().Stages != engine.MaxStages-1 {
				t.Errorf("%d stages: %v, want to be read", engine.MaxStages-1, err)
			}
			_, err = profiles.Decode("x", profiles.Bytes(o.long(engine.MaxStages)), nil)
			if err == nil || !strings.Contains(err.Error(), "more than ") {
				t.Errorf("%d stages: %v, want to be refused", engine.MaxStages, err)
			}
		})
	}
}

// FuzzDecode checks that any content is refused with a place and a remedy, or is a valid profile that can be
// written.
func FuzzDecode(f *testing.F) {
	for _, file := range sampleFiles(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, o := range owns {
		for _, r := range o.refused {
			f.Add([]byte(r.input))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if claims := profiles.Claimants(data); len(claims) > 1 {
			t.Errorf("claimed by %s and %s", claims[0].Name, claims[1].Name)
		}
		p, err := profiles.Decode("fuzz", profiles.Bytes(data), nil)
		if checkRead(t, p, err); p != nil {
			checkRoundTrip(t, p)
		}
	})
}

// mostSpent is the limit on what reading a bomb may allocate in all, garbage included. The memory in use at any
// time is less.
const mostSpent = 280 << 20

// bomb is content that is small, or says little, and that could take much memory to read.
type bomb struct {
	name    string
	content func() string
	want    string // part of the error
}

// content returns a function that joins parts when it is called.
func content(parts ...string) func() string {
	return func() string { return strings.Join(parts, "") }
}

// TestBombs checks that refusing content never takes much memory. The error says what was found, where, and what
// the limit is.
func TestBombs(t *testing.T) {
	for format, o := range owns {
		if o.bombs == nil {
			continue
		}
		for _, b := range o.bombs() {
			t.Run(format+"/"+b.name, func(t *testing.T) {
				data := []byte(b.content())
				if claims := profiles.Claimants(data); len(claims) != 1 || claims[0].Name != format {
					t.Fatalf("not claimed by %s, but by %d formats", format, len(claims))
				}
				var err error
				bytes, most := spent(func() { _, err = profiles.Decode("bomb", profiles.Bytes(data), nil) }),
					max(1, o.factor)*mostSpent
				formattest.CheckProblems(t, err)
				if b.want != "" && (err == nil || !strings.Contains(err.Error(), b.want)) {
					t.Errorf("%d bytes: %.300v\nwant %s", len(data), err, b.want)
				}
				if bytes > most {
					t.Errorf("%d bytes: %d MiB allocated in all, want at most %d", len(data), bytes>>20, most>>20)
				}
				t.Logf("%d KiB: %d MiB in all: %.200v", len(data)>>10, bytes>>20, err)
			})
		}
	}
}

// manyKeys returns n different keys of an object, each with a text.
func manyKeys(n int) string {
	return rows(n, func(i int) string { return fmt.Sprintf(`"k%d":"v",`, i) })
}

// rows returns the concatenated results of row(0) to row(n-1), with commas between objects.
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

// spent returns the number of bytes that f allocates in all.
func spent(f func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
