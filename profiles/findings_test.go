package profiles

import (
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
)

// plain returns a profile without findings: six stages and a loss.
func plain() *Profile {
	c := &engine.Chain{Input: engine.MiB}
	for i := range 6 {
		c.Stages = append(c.Stages, engine.Stage{Name: StageName("", i+1),
			Forward: time.Duration(i+1) * 100 * time.Microsecond,
			Back:    time.Duration(i+1) * 200 * time.Microsecond, Out: engine.MiB, Saved: 2 * engine.MiB,
			Grad: engine.MiB})
	}
	c.Stages = append(c.Stages, engine.Stage{Name: "loss"})
	return &Profile{Name: "plain", Batch: 4, Chain: c}
}

// TestLint checks that one change to a plain profile leads to each finding.
func TestLint(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Profile, s []engine.Stage)
		want   []string // prefixes of the warnings
	}{
		{"nothing", func(*Profile, []engine.Stage) {}, nil},
		{"a slow backward", func(_ *Profile, s []engine.Stage) { s[5].Back = 20 * time.Millisecond },
			[]string{"The backward takes 10.95 times"}},
		{"a fast backward", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Back /= 4
			}
		}, []string{"The backward takes 0.50 times"}},
		{"no backward", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Back = 0
			}
		}, []string{"The forward takes 2.1ms and the backward 0s"}},
		{"no times", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Forward, s[i].Back = 0, 0
			}
		}, []string{"All times are 0"}},
		{"no times from the collector", func(p *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Forward, s[i].Back = 0, 0
			}
			p.Source.Tool = "collect.py"
		}, []string{"All times are 0: only memory can be compared. collect.py --meta --times DEVICE writes"}},
		{"a common floor", floorTimes, []string{"No forward takes less than 250µs, and 3 are close to it"}},
		{"a common floor of a model", func(p *Profile, s []engine.Stage) {
			floorTimes(p, s)
			p.Source.Times = Analytic
		}, nil},
		{"no output in the saved set", func(_ *Profile, s []engine.Stage) { s[2].Saved = 7 },
			[]string{"In 1 stage, the saved set is smaller"}},
		{"a fast algorithm that is not", func(_ *Profile, s []engine.Stage) {
			s[1].Fast = &engine.Algorithm{Forward: s[1].Forward, Back: s[1].Back, BwdTemp: 5}
			s[2].Fast = &engine.Algorithm{Forward: s[2].Forward, Back: s[2].Back - 1, BwdTemp: 5}
		}, []string{"In 1 stage, the second algorithm is neither faster nor smaller"}},
		{"one large stage", func(_ *Profile, s []engine.Stage) { s[3].Saved = 100 * engine.MiB },
			[]string{"This is no useful chain: one stage holds 91 % of all memory (stage 4, stage 4)"}},
		{"milliseconds for seconds", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Forward, s[i].Back = s[i].Forward*1e6, s[i].Back*1e6
			}
		}, []string{"One step takes 1h45m0s: the times may be 1000 times too large"}},
		{"seconds for milliseconds", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Forward, s[i].Back = s[i].Forward/1000, s[i].Back/1000
			}
		}, []string{"One step takes 6.3µs: the times may be 1000 times too small"}},
		{"KiB for bytes", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Saved, s[i].Out = s[i].Saved/1024, s[i].Out/1024
			}
		}, []string{"No stage saves more than 2048 bytes"}},
		{"bytes for KiB", func(_ *Profile, s []engine.Stage) {
			for i := range s {
				s[i].Saved *= 4 << 20
			}
		}, []string{"One stage saves 8192 GiB"}},
	} {
		p := plain()
		c.change(p, p.Chain.Stages)
		got := Lint(p)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// floorTimes sets the times of three small and three large layers, as measured with a fixed wait of 0.25 ms per
// layer.
func floorTimes(_ *Profile, s []engine.Stage) {
	for i, us := range []time.Duration{250, 260, 300, 3000, 4000, 5000} {
		s[i].Forward, s[i].Back = us*time.Microsecond, 2*us*time.Microsecond
	}
}

func TestTotals(t *testing.T) {
	p := plain()
	got := p.Totals()
	// Forward 0.1 + ... + 0.6 ms, backward twice that. Keeping everything peaks at the last backward of a stage: the
	// input of 1 MiB, six saved sets of 2 MiB, and two gradients of 1 MiB.
	want := Totals{Stages: 6, Forward: 2100 * time.Microsecond, Back: 4200 * time.Microsecond, Input: engine.MiB,
		Out: 6 * engine.MiB, Saved: 12 * engine.MiB, KeepAllPeak: 15 * engine.MiB}
	if got != want {
		t.Errorf("Totals()\ngot  %+v\nwant %+v", got, want)
	}
	p.Chain.LossGradAllocated = true // then the last stage is not a loss
	if n := p.Totals().Stages; n != 7 {
		t.Errorf("%d stages with a seed that is born, want 7", n)
	}
}
