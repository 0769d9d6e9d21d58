package llm

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// TestTimeRange checks that nine of ten published times have a range, and that nine of ten of these are in it.
func TestTimeRange(t *testing.T) {
	data, err := os.ReadFile("../../../shared/data/peaks/peaks_public.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the published runs are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRows(data)
	if err != nil {
		t.Fatal(err)
	}
	inside, told, all := 0, 0, 0
	for i := range rows {
		low, high, measured := timed(&rows[i])
		if measured == 0 {
			continue
		}
		all++
		if high == 0 {
			continue
		}
		told++
		if low <= measured && measured <= high {
			inside++
		} else {
			t.Logf("%s: %v, told %v to %v", rows[i].ID, measured, low, high)
		}
	}
	if t.Logf("%d of %d times with a range of %d lie in it", inside, told, all); inside*10 < told*9 || told*10 < all*9 {
		t.Errorf("%d of %d times lie in their range, of %d in all; want nine of ten, and nine of ten with a range",
			inside, told, all)
	}
}

// timed returns the range of a row's time and the measured time. All are 0 for a row without a time or that is
// not understood.
func timed(row *Row) (low, high, measured time.Duration) {
	if row.Kind != "step" && row.Kind != "time" {
		return 0, 0, 0
	}
	_, _ = profiles.Try(func() *Row {
		var c rowConfig
		strict(row.Config, &c)
		s, card := c.setup(nil), CardOf(c.HW)
		if card == nil {
			return nil
		}
		step, err := StepTime(s, card)
		profiles.End(err)
		low, high = card.TimeRange(s, step)
		s = s.normal()
		switch m := row.Measured; {
		case m.Step > 0:
			measured = seconds(m.Step)
		case m.Tokens > 0:
			measured = seconds(float64(s.Batch*s.Seq*s.Accumulate) / float64(s.Tensor*s.Context*s.Stages) / m.Tokens)
		}
		return nil
	})
	return low, high, measured
}

// TestTimeRangeUnknown checks that classes with too few published runs have no range.
func TestTimeRangeUnknown(t *testing.T) {
	for device, want := range map[string]bool{"h100": true, "a100-80gb": true, "b200": true, "mi300x": false,
		"v100-pcie-16gb": false, "24gib-link25gbps-rate165tflops": false} {
		a, err := New(Lookup("llama3-8b"), engine.Args{"device": device})
		if err != nil {
			t.Fatal(err)
		}
		low, high := a.Card.TimeRange(a.Setup, time.Second)
		if got := high > 0; got != want || low > high {
			t.Errorf("%s: %v to %v; want a range: %t", device, low, high, want)
		}
	}
}

// TestTimeRangeHoldsTheEstimate checks that the low end of the range is not above the estimate where its factor is 1.
func TestTimeRangeHoldsTheEstimate(t *testing.T) {
	c := CardOf("h100")
	for d := 71216150 * time.Nanosecond; d < 71216160; d++ {
		if low, high := c.TimeRange(Setup{Model: Lookup("llama2-7b")}, d); low > d || high < d || high == 0 {
			t.Errorf("a step of %d ns has the range %d to %d", d, low, high)
		}
	}
}
