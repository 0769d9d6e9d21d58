package question

import (
	"slices"
	"strings"
	"testing"
	"time"

	_ "memtide/engine/all"

	"memtide/engine"
	"memtide/wasm/proto"
)

// Where no strategy recomputes, it is said which bandwidth is enough.
func TestEnoughBandwidth(t *testing.T) {
	const gb = 1e9
	at := func(rate float64, ms int) proto.Answer {
		return proto.Answer{Strategy: "window", Rate: engine.Rate(rate * gb), StepTime: time.Duration(ms) * time.Millisecond}
	}
	other := at(1, 1)
	other.Strategy = "lms"
	for _, c := range []struct {
		name    string
		answers []proto.Answer
		want    string
	}{
		{"none", nil, ""},
		{"slow links cost", []proto.Answer{at(10, 101), at(1, 300), at(2.5, 106), at(40, 100)}, "from somewhere between 2.5 GB/s and 10 GB/s on."},
		{"a limit is met", []proto.Answer{at(1, 200), at(2.5, 105)}, "from somewhere between 1 GB/s and 2.5 GB/s on."},
		{"a higher one may cost again", []proto.Answer{at(1, 100), at(2.5, 106), at(4, 100)}, "from somewhere between 2.5 GB/s and 4 GB/s on."},
		{"no schedule is not enough", []proto.Answer{at(1, 0), at(2.5, 100)}, "from somewhere between 1 GB/s and 2.5 GB/s on."},
		{"always", []proto.Answer{at(1, 100), at(2.5, 100)}, "already at 1 GB/s."},
		{"never, whatever others do", []proto.Answer{at(1, 200), at(2.5, 150), other}, "at any of these bandwidths."},
	} {
		a := &Answers{Strategy: "window", KeepAll: 100 * time.Millisecond, List: c.answers}
		if got := linksSentence(a, Subject{}); !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q; want it to end with %q", c.name, got, c.want)
		}
	}
}

// What is said of help when there is none.
func TestHelpSentences(t *testing.T) {
	ms := time.Millisecond
	slow := proto.Answer{Name: "1 GiB more", StepTime: 20 * ms}
	no := proto.Answer{Name: "other", Failure: proto.Fail(proto.Infeasible, "small")}
	for _, c := range []struct {
		base    time.Duration
		answers []proto.Answer
		want    string
	}{
		{10 * ms, []proto.Answer{slow, no}, "Nothing of this makes the step faster."},
		{20 * ms, []proto.Answer{slow}, "Nothing of this makes the step faster."},
		{25 * ms, []proto.Answer{no, slow}, "Most: 1 GiB more, 20 ms per step instead of 25 ms."},
		{0, []proto.Answer{no}, "Nothing of this fits either."},
		{0, []proto.Answer{no, slow}, "There is no schedule for what is chosen now. These have one."},
	} {
		if got := helpSentence(&Answers{Base: c.base, List: c.answers}, Subject{}); got != c.want {
			t.Errorf("base %v, answers %+v: %q; want %q", c.base, c.answers, got, c.want)
		}
	}
}

// What helps is faster by 2 per cent at least, the fastest first, six at most and one of the other
// plans; the rest of the changes gain less. Where nothing fits, all that has a schedule in the room
// helps, adapters last.
func TestHelps(t *testing.T) {
	a := &Answers{Base: 100, Strategy: "pofo"}
	for _, x := range []proto.Answer{{StepTime: 0}, {StepTime: 99}, {StepTime: 90}, {Strategy: "rotor", StepTime: 95}, {Strategy: "vdnn", StepTime: 94},
		{StepTime: 98}, {StepTime: 50, Peak: 9}, {StepTime: 97}, {StepTime: 60, Preset: "llama3.2-1b-step-lora.16-b1"}, {StepTime: 96}, {StepTime: 120}} {
		if x.Strategy == "" {
			x.Strategy = "pofo"
		}
		a.List = append(a.List, x)
	}
	for _, c := range []struct {
		unfit      bool
		best, none []int
	}{
		{false, []int{6, 8, 2, 4, 9, 7}, []int{0, 1, 10}},
		{true, []int{2, 4, 3, 9, 7, 5}, []int{0, 6}},
	} {
		if best, none := a.Helps(c.unfit, 8); !slices.Equal(best, c.best) || !slices.Equal(none, c.none) {
			t.Errorf("unfit %t: best %v, no gain %v; want %v and %v", c.unfit, best, none, c.best, c.none)
		}
	}
	a.List = a.List[6:9]
	if best, _ := a.Helps(true, 9); !slices.Equal(best, []int{0, 1, 2}) {
		t.Errorf("where nothing fits the order is %v; want adapters last", best)
	}
}

func TestCrossing(t *testing.T) {
	over := func(n int, fast ...int) *Answers { // against 50 at the first n rates
		a := &Answers{}
		for i, r := range rates[:n] {
			ns := fast[min(i, len(fast)-1)]
			a.List = append(a.List, proto.Answer{Strategy: "f", Rate: r, StepTime: time.Duration(ns)}, proto.Answer{Strategy: "s", Rate: r, StepTime: 50},
				proto.Answer{Strategy: "none", Rate: r})
		}
		return a
	}
	all := len(rates)
	for _, c := range []struct {
		times       []int
		above, from engine.Rate
	}{
		{[]int{40}, 0, rates[0]},
		{[]int{50}, rates[all-1], 0},
		{[]int{90, 70, 50, 40}, rates[2], rates[3]},
		{[]int{90, 40, 60, 49}, rates[2], rates[3]}, // not for good before
		{[]int{0, 0, 30}, rates[1], rates[2]},
	} {
		if above, from, ok := over(all, c.times...).crossing("f", "s"); !ok || above != c.above || from != c.from {
			t.Errorf("times %v against 50: above %d, from %d, %v; want %d and %d", c.times, above, from, ok, c.above, c.from)
		}
	}
	if _, _, ok := over(all-1, 40).crossing("f", "s"); ok {
		t.Error("with a rate that is not answered the crossing is known")
	}
	if _, _, ok := over(all, 40).crossing("none", "s"); ok {
		t.Error("a strategy without any schedule has a crossing")
	}
}

// Batches are doublings up to the largest there is, and the present one in its place.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		most, now int
		want      []int
	}{{1 << 16, 0, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}}, {20, 5, []int{1, 2, 4, 5, 8, 16}}, {3, 2, []int{1, 2}}} {
		if got := batches(c.most, c.now); !slices.Equal(got, c.want) {
			t.Errorf("up to %d, now %d: %v; want %v", c.most, c.now, got, c.want)
		}
	}
}

// A question with the name or the place of another is refused.
func TestRegisterTwice(t *testing.T) {
	for _, q := range []*Question{{Name: "help", Order: 1 << 10}, {Name: "new", Order: Lookup("help").Order}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q at place %d is taken although help has that", q.Name, q.Order)
				}
			}()
			register(q)
		}()
	}
}
