package analytic

import (
	"math"
	"testing"
)

// TestClassify classifies at least one convolution of each class.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		in, out, height, width, stride, groups int64
		want                                   Class
	}{
		{3, 64, 7, 7, 2, 1, First}, {64, 128, 3, 3, 2, 1, Strided}, {64, 256, 1, 1, 1, 1, Point},
		{128, 128, 3, 3, 1, 1, Wide},
		{64, 192, 3, 3, 1, 1, Mid}, {32, 64, 3, 3, 1, 1, Narrow}, {128, 128, 1, 7, 1, 1, Other},
		{48, 64, 5, 5, 1, 1, Other},
		{32, 32, 3, 3, 2, 32, Grouped},
	} {
		if got := Classify(c.in, c.out, c.height, c.width, c.stride, c.groups); got != c.want {
			t.Errorf("%+v: class %d", c, got)
		}
	}
}

// TestLonger checks that the time of an operator is that of its arithmetic or that of its memory traffic,
// whichever is longer, by the formula of the package.
func TestLonger(t *testing.T) {
	const peak, bandwidth = 20e12, 1e12
	m := Estimate(peak, bandwidth)
	for _, c := range []struct {
		name string
		got  Time
		want Time
	}{
		{"much arithmetic", m.Conv(Point, 1e12, 1e6), Time{2e12/(peak*0.45) + launch, 2*2e12/(peak*0.45) + 2*launch}},
		{"much traffic", m.Conv(Point, 1e6, 1e9), Time{1e9/(bandwidth*0.8) + launch, 2e9/(bandwidth*0.8) + 2*launch}},
		{"a sum", m.Element(Add, 1e9), Time{3e9/(bandwidth*0.8) + launch, 1.5e9/(bandwidth*0.8) + 2*launch}},
		{"a share of the peak", Utilised(peak, 0.5, 1e12), Time{0.2, 0.4}},
	} {
		if math.Abs(c.got.Forward/c.want.Forward-1) > 1e-12 || math.Abs(c.got.Back/c.want.Back-1) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if got := Duration(1e-9 + 1e-12); got != 2 {
		t.Errorf("Duration(1.001 ns) = %v, want 2 ns", got)
	}
}
