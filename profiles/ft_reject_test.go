package profiles

import (
	"os"
	"strings"
	"testing"

	"memtide/engine"
)

// rejection is content that is refused, with the whole text of the error.
type rejection struct{ name, input, want string }

// runRejections: each is refused with the whole text of its error.
func runRejections(t *testing.T, list []rejection) {
	t.Helper()
	for _, r := range list {
		t.Run(r.name, func(t *testing.T) {
			p, err := Decode("some file.csv", Bytes(r.input), nil)
			if err == nil {
				t.Fatalf("Decode(%.200q) reads %s, want the error %q", r.input, dump(p), r.want)
			}
			if err.Error() != r.want {
				t.Errorf("Decode(%.200q)\ngot  %s\nwant %s", r.input, err, r.want)
			}
			checkProblems(t, err)
		})
	}
}

// runTooManyStages: content with one stage too many is refused; build makes some with n
// stages. The longest chain that is read is the next shorter one.
func runTooManyStages(t *testing.T, build func(n int) string) {
	t.Helper()
	if p, err := Decode("x", Bytes(build(engine.MaxStages-1)), nil); err != nil || p.Totals().Stages != engine.MaxStages-1 {
		t.Errorf("%d stages: %v, want to be read", engine.MaxStages-1, err)
	}
	_, err := Decode("x", Bytes(build(engine.MaxStages)), nil)
	if err == nil || !strings.Contains(err.Error(), "more than ") {
		t.Errorf("%d stages: %v, want to be refused", engine.MaxStages, err)
	}
}

// fuzzContent is a fuzz target over any content, which begins with samples and with
// what is refused.
func fuzzContent(f *testing.F, samples []string, refused []rejection) {
	for _, file := range samples {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, r := range refused {
		f.Add([]byte(r.input))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if claims := Claimants(data); len(claims) > 1 {
			t.Errorf("claimed by %s and %s", claims[0].Name, claims[1].Name)
		}
		p, err := Decode("fuzz", Bytes(data), nil)
		if err != nil {
			checkProblems(t, err)
			return
		}
		if p.Chain == nil && p.Graph == nil && p.Memory == nil {
			t.Fatal("a profile without chain, graph and memory")
		}
		if p.Chain != nil {
			if err := p.Chain.Validate(); err != nil {
				t.Errorf("the chain is not valid: %v", err)
			}
		}
		p.Totals()
		checkRoundTrip(t, p)
	})
}
