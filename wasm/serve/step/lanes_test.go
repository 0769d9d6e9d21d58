package step

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"memtide/engine/pipeline"
)

// cost returns 10 for a forward pass and for each half of a split backward pass, and 20 for a whole backward
// pass.
func cost(x pipeline.Pass) time.Duration {
	switch x.Kind {
	case pipeline.Forward, pipeline.Inputs, pipeline.Weights:
		return 10
	}
	return 20
}

func played(t *testing.T, name string, ranks, micro int) *pipeline.Trace {
	t.Helper()
	s, err := pipeline.New(name, pipeline.Request{Ranks: ranks, Micro: micro, Cost: cost})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Play()
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestLanes checks the picture of GPipe with two ranks and two micro batches, which takes 90. Adjacent passes of
// one kind are one line. The axis ends at the longest of the compared steps, 100, and a line marks the end of the
// chosen step, 45.
func TestLanes(t *testing.T) {
	got := lanes(played(t, "gpipe", 2, 2), 45, 100)
	want := `<svg class="lanes" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true"><path class="f" d="M0 2h200M100 6h200"/><path class="b" d="M500 2h400M300 6h400"/><path class="w" d=""/><path class="bar-mark" d="M449 0V8"/></svg>`
	if got != want {
		t.Errorf("lanes are\n%s; want\n%s", got, want)
	}
}

// TestLanesAreBounded checks that both parts of a joined pass are visible and that the picture of a large step is
// small, because narrow passes are joined.
func TestLanesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name         string
		ranks, micro int
		most         int
	}{{"dualpipe", 4, 8, 4_000}, {"zb-h1", 64, 128, 40_000}} {
		trace := played(t, c.name, c.ranks, c.micro)
		got := lanes(trace, trace.Makespan, trace.Makespan)
		if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil || len(got) > c.most {
			t.Errorf("%s: %d bytes, %v; want XML of at most %d", c.name, len(got), err, c.most)
		}
		if n := strings.Count(got, "M0 "); n == 0 || strings.Count(got, `h`) < 3*min(c.ranks, mostLanes) {
			t.Errorf("%s: %d lanes begin at 0 in\n%s; want one at least, and several runs of each rank", c.name, n, got)
		}
	}
}

// TestMade checks that a rank is said to have most of the passes of the critical path only if it has more than half.
func TestMade(t *testing.T) {
	for micro, want := range map[int]string{1: ", at most 12 % of them on one rank, ", 40: ", most of them on rank "} {
		s, err := pipeline.New("1f1b", pipeline.Request{Ranks: 8, Micro: micro, Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		trace, err := s.Play()
		if err != nil {
			t.Fatal(err)
		}
		if got := made(trace, s.Problem.Critical(trace), trace.Makespan); !strings.Contains(got, want) {
			t.Errorf("of %d micro batches it says %q; want %q", micro, got, want)
		}
	}
}
