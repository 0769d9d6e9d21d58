package draw

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/lookup"
)

// oneOne returns the schedule 1F1B for the given numbers of ranks and micro batches. A forward takes 1 ms, a
// backward 2 ms, and a message no time. Each micro batch holds 1 GiB in addition to the 10 GiB of its rank. If
// split is set, the backward has two parts.
func oneOne(ranks, micro int, split bool) *Passes {
	f, b := make([][]time.Duration, ranks), make([][]time.Duration, ranks) // when the passes end
	list := make([]PassRank, ranks)
	var stages []PassStage
	for r := range ranks {
		f[r], b[r] = make([]time.Duration, micro), make([]time.Duration, micro)
		list[r].Base = 10 * engine.GiB
		stages = append(stages, PassStage{First: r == 0, Last: r == ranks-1, Act: engine.GiB,
			Rest: engine.GiB / 2})
	}
	next, nextB, free := make([]int, ranks), make([]int, ranks), make([]time.Duration, ranks)
	for left := 2 * ranks * micro; left > 0; {
		for r := range ranks {
			forward := next[r] < micro && next[r]-nextB[r] < min(micro, ranks-r)
			switch {
			case forward && (r == 0 || f[r-1][next[r]] > 0):
				start := free[r]
				if r > 0 {
					start = max(start, f[r-1][next[r]])
				}
				free[r] = start + ms
				f[r][next[r]] = free[r]
				list[r].Passes = append(list[r].Passes, Pass{PassForward, next[r], r, start, free[r]})
				next[r]++
				left--
			case !forward && nextB[r] < next[r] && (r == ranks-1 || b[r+1][nextB[r]] > 0):
				start := free[r]
				if r < ranks-1 {
					start = max(start, b[r+1][nextB[r]])
				}
				free[r] = start + 2*ms
				b[r][nextB[r]] = free[r]
				if split {
					list[r].Passes = append(list[r].Passes, Pass{PassInputs, nextB[r], r, start, start + ms},
						Pass{PassWeights, nextB[r], r, start + ms, free[r]})
				} else {
					list[r].Passes = append(list[r].Passes, Pass{PassBackward, nextB[r], r, start, free[r]})
				}
				nextB[r]++
				left--
			}
		}
	}
	return NewPasses(list, stages, 15*engine.GiB, 0)
}

func idle(n int) lookup.Target { return lookup.Target{Kind: lookup.OnIdle, Index: n} }

// TestWaitsOfAPipeline checks the waits of two ranks with two micro batches. Rank 0 runs F0 at 0 ms and F1 at 1
// ms, and B0 at 4 ms, when that of rank 1 has ended. Rank 1 begins at 1 ms and has done everything at 7 ms.
func TestWaitsOfAPipeline(t *testing.T) {
	x := oneOne(2, 2, false)
	if x.End() != 9*ms || x.Count() != 8 {
		t.Fatalf("%d passes end at %v; want 8 at 9ms", x.Count(), x.End())
	}
	for _, c := range []struct {
		t    lookup.Target
		want Wait
		says string
	}{
		{idle(2), Wait{0, 2 * ms, 4 * ms, 2, 5, 0},
			"Rank 0 waits 2 ms, from 2 ms to 4 ms, for the backward of micro batch 0 on rank 1, which ends at 4 ms."},
		{idle(4), Wait{1, 0, 1 * ms, 4, 0, 0},
			"Rank 1 waits 1 ms, from 0 ms to 1 ms, for the forward of micro batch 0 on rank 0, which ends at 1 ms. Nothing has arrived before."},
		{idle(9), Wait{1, 7 * ms, 9 * ms, -1, -1, 0},
			"Rank 1 waits 2 ms, from 7 ms to 9 ms: it has nothing left to do."},
	} {
		if got := x.Wait(c.t); got != c.want {
			t.Errorf("idle %d is %+v; want %+v", c.t.Index, got, c.want)
		}
		if got := x.Why(c.t)[0]; got != c.says {
			t.Errorf("idle %d says %q; want %q", c.t.Index, got, c.says)
		}
	}
	if got, want := x.Why(idle(2))[2],
		"Of the step rank 0 is idle 33 %: 0 ms before its first pass, 3 ms between passes, 0 ms after its last."; !strings.HasPrefix(got, want) {
		t.Errorf("rank 0 says %q; want %q", got, want)
	}
}

// TestCausesLeadToTheBeginning checks that the causes of every idle interval lead to the beginning of the step,
// and that each cause is earlier than the one before.
func TestCausesLeadToTheBeginning(t *testing.T) {
	for _, split := range []bool{false, true} {
		x := oneOne(5, 9, split)
		for n := range x.Count() + x.Ranks() {
			at := idle(n)
			if from, to, _ := x.Interval(at); to <= from {
				continue
			}
			for {
				_, was, _ := x.Interval(at)
				next := x.Follow(at)
				if next == at {
					break
				}
				if _, to, _ := x.Interval(next); (to > was || to == was && next.Kind == lookup.OnIdle) &&
					at.Index < x.Count() {
					t.Fatalf("idle %d: from %+v until %v to %+v until %v; want earlier", n, at, was, next, to)
				}
				at = next
			}
			if p, _ := x.Pass(at.Index); at.Kind != lookup.OnPass || p.Start != 0 {
				t.Errorf("idle %d leads to %+v; want what happens first", n, at)
			}
		}
	}
}

// TestPassesHit checks that a point hits the pass that is painted there, and that the keyboard visits all passes.
func TestPassesHit(t *testing.T) {
	x := oneOne(4, 6, true)
	v := View{Width: 1200, Cursor: NoCursor}
	f := x.frame(PassLanes, v)
	for r := range x.Ranks() {
		y, h := x.lane(r)
		for at := ms / 2; at < x.End(); at += ms {
			got, moment := x.Hit(PassLanes, v, f.x(int64(at)), y+h/2)
			if want := x.At(r, at); got != want || moment.Round(ms/10) != at.Round(ms/10) {
				t.Errorf("rank %d at %v is %+v at %v; want %+v", r, at, got, moment, want)
			}
			if b, ok := x.box(&f, got); !ok || f.x(int64(at)) < b.x0-1 || f.x(int64(at)) > b.x1+1 {
				t.Errorf("rank %d at %v: %+v is painted at %+v, %v", r, at, got, b, ok)
			}
		}
	}
	if got, _ := x.Hit(PassLanes, v, 300, x.Height()-10); got.Kind != lookup.Nothing {
		t.Errorf("in the memory there is %+v; want nothing", got)
	}
	at := lookup.Target{Kind: lookup.OnPass}
	for range x.Count() + 20 { // to the right through a whole rank
		at = x.Beside(at, 1, 0)
	}
	if _, to, r := x.Interval(at); r != 0 || to != x.End() {
		t.Errorf("the last thing of rank 0 ends at %v on rank %d; want %v", to, r, x.End())
	}
	for range 10 {
		at = x.Beside(at, 0, 1)
	}
	if _, _, r := x.Interval(at); r != 3 {
		t.Errorf("ten ranks down of four is rank %d; want 3", r)
	}
}

// TestPassesMemory checks that memory grows at forwards and shrinks at the ends of backwards. A rank of 1F1B
// holds one micro batch for itself and one for each rank after it. Between the two parts of a backward it holds
// half of one.
func TestPassesMemory(t *testing.T) {
	x := oneOne(4, 8, false)
	for r, n := range x.most {
		if want := engine.Bytes(10+4-r) * engine.GiB; n != want {
			t.Errorf("rank %d holds %d bytes at most; want %d", r, n, want)
		}
		if got := x.holds(r, x.End()); got != 10*engine.GiB {
			t.Errorf("rank %d holds %d bytes at the end; want what is there always", r, got)
		}
	}
	y := oneOne(2, 2, true)
	if got, want := y.holds(1, 2*ms+ms+ms/2), 10*engine.GiB+engine.GiB/2; got != want {
		t.Errorf("between the parts of a backward rank 1 holds %d bytes; want %d", got, want)
	}
}

// TestCardOfPassesOnAPlate checks that the memory of the card stands on a plate over the lines of the ranks and of the
// allocator, which may be as high as it.
func TestCardOfPassesOnAPlate(t *testing.T) {
	x := oneOne(4, 8, false)
	x.ranks[x.full].Reserved = x.room + 1
	var s Scene
	x.Draw(&s, PassLanes, View{Width: 900, Height: x.Height(), To: x.End()})
	checkPlate(t, &s, "without CUDA")
}

// TestPassesLevelOfDetail checks that a wide picture has the number of the micro batch on every pass, and that
// the size of a picture of 64 ranks with 128 micro batches is bounded by pixels.
func TestPassesLevelOfDetail(t *testing.T) {
	var s Scene
	x := oneOne(4, 8, true)
	x.Draw(&s, PassLanes, View{Width: 1400, Cursor: NoCursor})
	numbers := 0
	for _, text := range s.Texts {
		if text.Anchor == display.Middle && len(text.S) == 1 && text.S >= "0" && text.S <= "7" {
			numbers++
		}
	}
	if numbers < x.Count() {
		t.Errorf("%d numbers of micro batches; want one for each of %d passes", numbers, x.Count())
	}
	large := oneOne(64, 128, true)
	large.Draw(&s, PassLanes, View{Width: 1200, Cursor: NoCursor})
	if most := 40 * 1200; large.Count() != 24576 || len(s.Nums) > most {
		t.Errorf("%d passes are drawn with %d numbers; want 24576 with at most %d", large.Count(), len(s.Nums), most)
	}
	large.Draw(&s, PassLanes, View{Width: 1200, To: 40 * ms, Cursor: NoCursor})
	if n := slices.IndexFunc(s.Texts, func(t display.Text) bool { return t.S == "rank 60" }); n < 0 {
		t.Error("of 64 ranks every fourth one is named; rank 60 is not")
	}
}

// TestPassesTogether checks that of two passes that run as one each has half of the lane, and its number there.
func TestPassesTogether(t *testing.T) {
	list := []PassRank{{Passes: []Pass{{PassForward, 4, 0, 0, 2 * ms}, {PassBackward, 0, 0, 0, 2 * ms}}}}
	x := NewPasses(list, []PassStage{{First: true, Last: true}}, engine.GiB, 0)
	f := x.frame(PassLanes, View{Width: 400})
	var marks passMarks
	x.drawLane(&f, 0, &marks)
	_, h := x.lane(0)
	if len(marks.labels) != 2 || marks.labels[1].y-marks.labels[0].y != h/2 || marks.all[PassForward][3] != h/2 {
		t.Errorf("numbers %v, forwards %v; want two numbers %g pixels apart", marks.labels, marks.all[PassForward], h/2)
	}
}

// TestNarrowPassesJoin checks that narrow passes are joined to a band of their total width. If they have two
// kinds, the height of each kind is its share of the time.
func TestNarrowPassesJoin(t *testing.T) {
	list := []PassRank{{}}
	for i := range 200 {
		at := time.Duration(i) * 3 * ms
		list[0].Passes = append(list[0].Passes, Pass{PassForward, i, 0, at, at + ms},
			Pass{PassBackward, i, 0, at + ms, at + 3*ms})
	}
	x := NewPasses(list, []PassStage{{First: true, Last: true}}, engine.GiB, 0)
	f := x.frame(PassLanes, View{Width: 500})
	var marks passMarks
	x.drawLane(&f, 0, &marks)
	all, labels := &marks.all, marks.labels
	_, h := x.lane(0)
	if len(all[PassForward]) != 4 || len(all[PassBackward]) != 4 || len(labels) > 0 {
		t.Fatalf("forwards %v, backwards %v, labels %v; want one band of each and no label", all[PassForward],
			all[PassBackward], labels)
	}
	if got := all[PassForward][3] / h; math.Abs(got-1./3) > 0.01 {
		t.Errorf("forwards have %.2f of the height; want a third", got)
	}
}

// TestPassesSVG checks that the picture can be written as SVG with its texts, whatever is selected.
func TestPassesSVG(t *testing.T) {
	x := oneOne(12, 16, true)
	for n := range x.Count() + x.Ranks() {
		var s Scene
		x.Draw(&s, PassLanes, View{Width: 900, Cursor: NoCursor, Selected: idle(n)})
		var b bytes.Buffer
		if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true}); err != nil ||
			!strings.Contains(b.String(), "rank 0, the fullest: 22 GiB") {
			t.Fatalf("idle %d: %v, %d bytes; want a picture that names the fullest rank", n, err, b.Len())
		}
	}
}

// TestPickedRank checks that the memory of a chosen rank has a label of its own, beside the fullest one's.
func TestPickedRank(t *testing.T) {
	x := oneOne(4, 8, false)
	for rank, want := range map[int]bool{0: false, 2: true} {
		x.Pick(rank)
		var s Scene
		x.Draw(&s, PassLanes, View{Width: 900, Height: 400, Cursor: NoCursor})
		var b strings.Builder
		if err := s.WriteSVG(&b, display.SVGOptions{}); err != nil || strings.Contains(b.String(), "rank 2: 12 GiB") != want ||
			!strings.Contains(b.String(), "rank 0, the fullest: 14 GiB") {
			t.Errorf("rank %d: %v; want the fullest one, and a label for rank 2: %t", rank, err, want)
		}
	}
}

// TestPassesPath checks that the critical path is drawn along the lower edges of its visible passes, from lane to
// lane, and that the lower bound is a line, with its time if there is room.
func TestPassesPath(t *testing.T) {
	x := oneOne(2, 2, false) // F0 F1 of rank 0, F0 B0 F1 B1 of rank 1 from 1 ms on, then B1 of rank 0
	x.Path, x.Bound, x.Made = []int{0, 4, 5, 6, 7, 3}, 8*ms, "It is made of passes."
	v := View{Width: 1000, Cursor: NoCursor}
	f := x.frame(PassLanes, v)
	var s Scene
	s.Reset(f.Width, f.Height)
	x.drawPath(&s, &f)
	var want []float32
	for _, n := range x.Path {
		p, r := x.Pass(n)
		y, h := x.lane(r)
		want = append(want, float32(f.x(int64(p.Start))), float32(y+h+0.5), float32(f.x(int64(p.End))),
			float32(y+h+0.5))
	}
	if got := s.Nums[len(s.Nums)-len(want):]; !slices.Equal(got, want) {
		t.Errorf("the path goes through %v; want %v", got, want)
	}
	for width, want := range map[float64]bool{1000: true, 240: false} {
		var s Scene
		x.Draw(&s, PassLanes, View{Width: width, Cursor: NoCursor})
		if got := slices.ContainsFunc(s.Texts,
			func(t display.Text) bool { return t.S == "lower bound 8 ms" }); got != want {
			t.Errorf("%v pixels wide the bound is named: %v; want %v", width, got, want)
		}
	}
}

// TestPassesShareAxes checks that two pipelines side by side have the labels of one axis of memory and end their axis
// of time with the longer step, and that each has its own axes again when the comparison ends.
func TestPassesShareAxes(t *testing.T) {
	short, long := oneOne(2, 2, false), oneOne(4, 8, false)
	v := View{Width: 900, Cursor: NoCursor}
	axis := func(x *Passes) (labels string) {
		var s Scene
		x.Draw(&s, PassLanes, v)
		for _, text := range s.Texts {
			if strings.HasSuffix(text.S, " GiB") && !text.Bold {
				labels += text.S + " "
			}
		}
		return labels + x.TimeAt(v, 1e9).String()
	}
	alone, want := axis(short), axis(long)
	if alone == want {
		t.Fatalf("both have the axes %s by themselves: the test would see nothing", want)
	}
	short.Share(long)
	for name, x := range map[string]*Passes{"short": short, "long": long} {
		if got := axis(x); got != want {
			t.Errorf("beside each other the %s one has the axes %s; want %s", name, got, want)
		}
	}
	short.Alone()
	if got := axis(short); got != alone {
		t.Errorf("by itself again it has the axes %s; want %s", got, alone)
	}
}
