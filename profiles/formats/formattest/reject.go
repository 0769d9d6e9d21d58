package formattest

import (
	"os"
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
	if p, err := profiles.Decode("x", profiles.Bytes(build(engine.MaxStages-1)), nil); err != nil || p.Totals().Stages != engine.MaxStages-1 {
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
		if checkRead(t, p, err); p != nil {
			CheckRoundTrip(t, p)
		}
	})
}
