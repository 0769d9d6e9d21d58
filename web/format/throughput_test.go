package format

import (
	"testing"
	"time"
)

func TestThroughput(t *testing.T) {
	for _, c := range []struct {
		batch int
		step  time.Duration
		want  string
	}{
		{32, 182 * time.Millisecond, "176 samples/s"},
		{1, time.Second, "1 samples/s"},
		{1000, 16 * time.Second, "62.5 samples/s"},
		{2, 3 * time.Second, "0.67 samples/s"},
		{4096, time.Second, "4\u202f096 samples/s"},
		{0, 150 * time.Millisecond, "6.67 steps/s"},
		{8, 0, ""},
	} {
		if got := Throughput(c.batch, "samples", c.step); got != c.want {
			t.Errorf("batch %d in %v: %q; want %q", c.batch, c.step, got, c.want)
		}
	}
}
