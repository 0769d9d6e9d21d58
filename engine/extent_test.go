package engine

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// The sum of all sizes, of all times and of all uses, and either bandwidth may be as large as the range. One more
// is refused with an error that names the number, the place of the largest part and the limit.
func TestRange(t *testing.T) {
	chain := func(change func(c *Chain)) *Problem {
		c := &Chain{Input: 1, Stages: []Stage{{Name: "one"}, {Name: "two"}}}
		change(c)
		return NewChainProblem(c, Device{}, Whole, NoLimit)
	}
	graph := func(change func(g *Graph)) *Problem {
		g := &Graph{Done: NoValue, Values: []Value{{Name: "x", PartOf: NoValue}},
			Ops: []Op{{Name: "f", Out: []ValueID{0}}, {Name: "g", In: []ValueID{0}}}}
		change(g)
		return &Problem{Graph: g}
	}
	reads := func(n int) []ValueID { return make([]ValueID, n) }
	for _, tc := range []struct {
		name    string
		most    *Problem
		problem *Problem
		want    string // part of the error for problem
	}{
		{"sizes of a chain", chain(func(c *Chain) { c.Stages[1].Grad = MaxBytes - 1 }),
			chain(func(c *Chain) { c.Stages[1].Grad = MaxBytes }),
			"the sizes add up to 64 PiB, the largest is the gradient of stage 2 (two) with 64 PiB; at most 64 PiB"},
		{"many sizes", chain(func(c *Chain) { c.Stages[0].FwdTemp, c.Resident.Optimizer = MaxBytes/2, MaxBytes/2-1 }),
			chain(func(c *Chain) { c.Stages[0].FwdTemp, c.Resident.Optimizer = NoLimit, NoLimit }),
			"the sizes add up to 16 EiB, the largest is the optimizer with 8 EiB"},
		{"the fast way", chain(func(c *Chain) { c.Stages[0].Fast = &Algorithm{BwdTemp: MaxBytes - 1} }),
			chain(func(c *Chain) { c.Stages[0].Fast = &Algorithm{BwdTemp: MaxBytes} }),
			"the workspace of the second backward algorithm of stage 1 (one)"},
		{"times of a chain", chain(func(c *Chain) { c.Stages[0].Forward, c.Stages[1].Back = MaxTime/2, MaxTime/2 }),
			chain(func(c *Chain) { c.Stages[0].Forward, c.Stages[1].Back = math.MaxInt64, math.MaxInt64 }),
			"the times add up to 585 years, the longest is the forward of stage 1 (one) with 292 years; at most 104 days"},
		{"sizes of a graph", graph(func(g *Graph) { g.Values[0].Size = MaxBytes }),
			graph(func(g *Graph) { g.Values[0].Size, g.Fixed = MaxBytes, 1 }), "the largest is value 0 (x)"},
		{"times of a graph", graph(func(g *Graph) { g.Ops[1].Time = MaxTime }),
			graph(func(g *Graph) { g.Ops[1].Alt = &Alt{Time: MaxTime + 1} }),
			"the longest is the second algorithm of operation 1 (g)"},
		{"what is read", graph(func(g *Graph) { g.Values[0].Size, g.Ops[1].In = MaxBytes, reads(7) }),
			graph(func(g *Graph) { g.Values[0].Size, g.Ops[1].In = MaxBytes, reads(8) }),
			"read and write adds up to 576 PiB; at most 512 PiB"},
	} {
		if err := tc.most.Validate(); err != nil {
			t.Errorf("%s, just within the range: got %v", tc.name, err)
		}
		if err := tc.problem.Validate(); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, beyond the range: got %v, want %q", tc.name, err, tc.want)
		}
	}
	for _, d := range []Device{{ToHost: MaxRate + 1, ToDev: 1}, {ToHost: 1, ToDev: math.MaxInt64}} {
		p := chain(func(*Chain) {})
		if p.Device = d; !errors.Is(p.Validate(), ErrRange) {
			t.Errorf("%+v: got %v, want a refusal", d, p.Validate())
		}
		if p.Device = (Device{ToHost: MaxRate, ToDev: 1}); p.Validate() != nil {
			t.Errorf("%+v: got %v, want none", p.Device, p.Validate())
		}
	}
}

// A link is usable if all values that operations use can travel both ways in a time within the range.
func TestLinked(t *testing.T) {
	c := &Chain{Stages: []Stage{{Out: 1 << 40, Saved: 1 << 40}}}
	for _, tc := range []struct {
		d    Device
		want string
	}{
		{Device{ToHost: 1 << 20, ToDev: 1 << 20}, ""},
		{Device{ToHost: 1 << 20}, "no link"},
		{Device{ToDev: 1 << 20}, "no link"},
		{Device{ToHost: 100, ToDev: 12_500_000_000},
			"at 100 B/s to the host and 12.5 GB/s back the transfers of a step could take 1.05e+03 years; at most 73 years are supported"},
	} {
		err := NewChainProblem(c, tc.d, Whole, NoLimit).Linked()
		if tc.want == "" && err != nil || tc.want != "" &&
			(!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: got %v, want %q", tc.d, err, tc.want)
		}
	}
}

// A value that is a part of itself is refused, because following PartOf from it would not end.
func TestWithinItself(t *testing.T) {
	for _, tc := range []struct {
		within []ValueID
		want   string
	}{
		{[]ValueID{NoValue, 0, 1, 1, NoValue}, ""},
		{[]ValueID{0}, "value 0 (v) is part of itself, through value 0"},
		{[]ValueID{NoValue, 2, 3, 1}, "value 1 (v) is part of itself, through value 2"},
		{[]ValueID{1, 2, 3, 2, 0}, "value 2 (v) is part of itself, through value 3"},
	} {
		g := &Graph{Ops: []Op{{Name: "f"}}, Done: NoValue}
		for _, w := range tc.within {
			g.Values = append(g.Values, Value{Name: "v", PartOf: w})
		}
		err := g.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("within %v: got %v, want %q", tc.within, err, tc.want)
		}
	}
}

func TestInt64(t *testing.T) {
	for f, want := range map[float64]int64{
		0: 0, 1.9: 1, -1.9: -1, 1 << 62: 1 << 62, 1<<63 - 1024: 1<<63 - 1024, -1 << 63: math.MinInt64,
		1 << 63: math.MaxInt64, 1e300: math.MaxInt64, -1e300: math.MinInt64, math.Inf(1): math.MaxInt64,
		math.Inf(-1): math.MinInt64,
	} {
		if got := Int64(f); got != want {
			t.Errorf("%g: got %d, want %d", f, got, want)
		}
	}
	if got := Int64(math.NaN()); got != 0 {
		t.Errorf("what is no number: got %d, want 0", got)
	}
}

func TestText(t *testing.T) {
	for b, want := range map[Bytes]string{0: "0 bytes", 1<<20 - 1: "1048575 bytes", 1 << 20: "1 MiB",
		3 << 29: "1.5 GiB", MaxBytes: "64 PiB", NoLimit: "8 EiB", -GiB: "-1 GiB"} {
		if got := b.Text(); got != want {
			t.Errorf("%d: got %q, want %q", int64(b), got, want)
		}
	}
	for r, want := range map[Rate]string{0: "0 B/s", 999: "999 B/s", 12_345_000: "12.35 MB/s",
		68_676_861_465: "68.68 GB/s", math.MaxInt64: "9.223 EB/s"} {
		if got := r.Text(); got != want {
			t.Errorf("%d: got %q, want %q", int64(r), got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "1s", 50 * time.Hour: "2 days", MaxTime: "104 days",
		math.MaxInt64: "292 years"} {
		if got := days(float64(d)); got != want {
			t.Errorf("%d: got %q, want %q", int64(d), got, want)
		}
	}
}
