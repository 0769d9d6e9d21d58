package format

import "testing"

func TestDurations(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"The forward was 1.234567ms and is 1.2ms.":              "The forward was 1.23 ms and is 1.2 ms.",
		"One step takes 1m3.5s: too large.":                     "One step takes 63.5 s: too large.",
		"It ends (after 250µs), then 2h0m0s":                    "It ends (after 250 µs), then 7200 s",
		"No forward takes less than 30.517µs, and 12 are close": "No forward takes less than 30.5 µs, and 12 are close",
		"0 of 12 layers, 1000 times, s17 and 3 ms, +5s, 0.5":    "0 of 12 layers, 1000 times, s17 and 3 ms, +5s, 0.5",
		"takes 5ms.\n  3ms\nmore":                               "takes 5 ms.\n  3 ms\nmore",
		"two  spaces stay 5s":                                   "two  spaces stay 5 s",
	} {
		if got := Durations(in); got != want {
			t.Errorf("%q is written %q; want %q", in, got, want)
		}
	}
}
