package format

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		in       engine.Bytes
		want, up string
	}{
		{0, "0 B", "0 B"},
		{1, "1 B", "1 B"},
		{1023, "1023 B", "1023 B"},
		{1024, "1 KiB", "1 KiB"},
		{1025, "1 KiB", "1.01 KiB"},
		{1536, "1.5 KiB", "1.5 KiB"},
		{310 * engine.MiB, "310 MiB", "310 MiB"},
		{999*engine.MiB + 600*engine.KiB, "1000 MiB", "1000 MiB"},
		{1023*engine.MiB + 600*engine.KiB, "1 GiB", "1 GiB"}, // not 1024 MiB
		{12 * engine.GiB, "12 GiB", "12 GiB"},
		{12777000000, "11.9 GiB", "11.9 GiB"},
		{11*engine.GiB + 960*engine.MiB, "11.9 GiB", "12 GiB"},
		{80 * engine.GiB, "80 GiB", "80 GiB"},
		{-310 * engine.MiB, "−310 MiB", "−310 MiB"},
		{engine.NoLimit, "no limit", "no limit"},
		{engine.NoLimit - 1, "8 EiB", "8 EiB"},
		{math.MinInt64, "−8 EiB", "−8 EiB"},
	} {
		if got := Bytes(c.in); got != c.want {
			t.Errorf("Bytes(%d) = %q, want %q", c.in, got, c.want)
		}
		if got := BytesUp(c.in); got != c.up {
			t.Errorf("BytesUp(%d) = %q, want %q", c.in, got, c.up)
		}
	}
	if got, want := BytesChange(310*engine.MiB), "+310 MiB"; got != want {
		t.Errorf("BytesChange = %q, want %q", got, want)
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		in   time.Duration
		want string
	}{
		{0, "0 ms"},
		{1, "1 ns"},
		{840 * time.Microsecond, "840 µs"},
		{999_600, "1 ms"}, // rounded up to the next unit
		{8400 * time.Microsecond, "8.4 ms"},
		{8 * time.Millisecond, "8 ms"},
		{25_840_000, "25.8 ms"},
		{612 * time.Millisecond, "612 ms"},
		{1240 * time.Millisecond, "1.24 s"},
		{90 * time.Minute, "5400 s"},
		{-38 * time.Millisecond, "−38 ms"},
		{math.MaxInt64, "∞"},
	} {
		if got := Duration(c.in); got != c.want {
			t.Errorf("Duration(%d) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{411_200 * us, 437_000 * us, "411.2 to 437.0 ms"},
		{411_200 * us, 412_000 * us, "411.20 to 412.00 ms"},
		{0, 612 * time.Millisecond, "0 to 612 ms"},
		{5, 5, "5 to 5 ns"},
		{10 * us, 12 * us, "10.0 to 12.0 µs"},
		{12 * time.Second, 13 * time.Second, "12.0 to 13.0 s"},
		{9 * time.Second, 9*time.Second + 50, "9000.000000 to 9000.000050 ms"},
	} {
		if got := Span(c.from, c.to); got != c.want {
			t.Errorf("Span(%v, %v) = %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got, want := Moment(411_200*us, 612*time.Millisecond), "411.2 ms"; got != want {
		t.Errorf("Moment = %q, want %q", got, want)
	}
}

func TestRelative(t *testing.T) {
	for _, c := range []struct {
		in                    float64
		percent, share, ratio string
	}{
		{0, "0 %", "0 %", "×0"},
		{0.091, "+9.1 %", "9.1 %", "×0.09"},
		{0.00004, "0 %", "0 %", "×0"},
		{0.66, "+66 %", "66 %", "×0.66"},
		{0.9999, "+100 %", "99.9 %", "×1"},
		{1.4, "+140 %", "140 %", "×1.4"},
		{12.34, "+1234 %", "1234 %", "×12.3"},
		{-0.091, "−9.1 %", "−9.1 %", "×-0.09"},
		{math.NaN(), "+– %", "– %", "×–"},
		{math.Inf(1), "+∞ %", "∞ %", "×∞"},
	} {
		if got := Percent(c.in); got != c.percent {
			t.Errorf("Percent(%v) = %q, want %q", c.in, got, c.percent)
		}
		if got := Share(c.in); got != c.share {
			t.Errorf("Share(%v) = %q, want %q", c.in, got, c.share)
		}
		if got := Ratio(c.in); got != c.ratio {
			t.Errorf("Ratio(%v) = %q, want %q", c.in, got, c.ratio)
		}
	}
}

func TestRateAndCount(t *testing.T) {
	for in, want := range map[engine.Rate]string{0: "no link", 12_500_000_000: "12.5 GB/s", 999_999_999: "1 GB/s",
		250_000_000: "250 MB/s"} {
		if got := Rate(in); got != want {
			t.Errorf("Rate(%d) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567",
		-1000: "−1\u202f000"} {
		if got := Count(in); got != want {
			t.Errorf("Count(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]engine.Bytes{
		"12GiB": 12 * engine.GiB, "900 MiB": 900 * engine.MiB, " 1.5 gib ": 1536 * engine.MiB,
		"12G": 12 * engine.GiB, "12 GB": 12e9, "0": 0, "0.0": 0, "7 b": 7, ".5k": 512, "1.": -1,
		"0.3 KiB": 307, // 307.2 bytes; fractions of a byte are dropped
	} {
		got, err := ParseBytes(in)
		if want < 0 {
			if err == nil {
				t.Errorf("ParseBytes(%q) = %d, want an error", in, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		parse    string
		in, want string
	}{
		{"bytes", "", `"": nothing is written; expected a size, for example 12 GiB`},
		{"bytes", "12", `"12": the unit is missing; expected a size, for example 12 GiB`},
		{"bytes", "-3 GiB", `"-3 GiB": it cannot be negative; expected a size, for example 12 GiB`},
		{"bytes", "1,5 GiB", `"1,5 GiB": a comma can mean two things; write decimals with a point; expected a size, for example 12 GiB`},
		{"bytes", "12 Gib/s", `"12 Gib/s": the unit "Gib/s" is not known; expected a size, for example 12 GiB`},
		{"bytes", "GiB", `"GiB": that is not a number; expected a size, for example 12 GiB`},
		{"bytes", "99999999999 GiB",
			`"99999999999 GiB": it is too large or has too many digits; expected a size, for example 12 GiB`},
		{"rate", "100 Gb/s", `"100 Gb/s": bits or bytes? Write bytes per second with a capital B, for example 12 GB/s`},
		{"rate", "12 GB", `"12 GB": the unit "GB" is not known; expected a bandwidth, for example 12 GB/s`},
		{"percent", "much", `"much": expected a percentage, for example 60%`},
		{"percent", "NaN%", `"NaN%": expected a percentage, for example 60%`},
		{"percent", "-1%", `"-1%": a percentage cannot be negative here`},
	} {
		var err error
		switch c.parse {
		case "bytes":
			_, err = ParseBytes(c.in)
		case "rate":
			_, err = ParseRate(c.in)
		case "percent":
			_, err = ParsePercent(c.in)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("parse %s %q:\ngot  %v\nwant %s", c.parse, c.in, err, c.want)
		}
	}
}

func TestParseOthers(t *testing.T) {
	if got, err := ParseRate("12.5GB/s"); err != nil || got != 12_500_000_000 {
		t.Errorf("ParseRate = %d, %v", got, err)
	}
	if got, err := ParsePercent("60 %"); err != nil || got != 0.6 {
		t.Errorf("ParsePercent = %v, %v", got, err)
	}
}

// TestBytesUpSuffices checks that a size that is formatted with BytesUp and parsed again is at least the old
// size, and larger by at most one unit of the last of three digits.
func TestBytesUpSuffices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := engine.Bytes(r.Uint64() >> (4 + r.IntN(60)))
		s := BytesUp(b)
		if b > 1<<49 { // ParseBytes knows units up to TiB
			continue
		}
		back, err := ParseBytes(s)
		if err != nil || back < b || float64(back) > float64(b)*1.011+1 {
			t.Fatalf("BytesUp(%d) = %q, which reads as %d, %v", b, s, back, err)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	ticks, unit := TimeTicks(0, 668*time.Millisecond, 8)
	got := ""
	for _, k := range ticks {
		got += k.Label + " "
	}
	if want := "0 100 200 300 400 500 600 "; got != want || unit != "ms" {
		t.Errorf("TimeTicks(0, 668ms) = %q %s, want %q ms", got, unit, want)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		from := time.Duration(r.Int64N(1 << (1 + r.IntN(45))))
		to := from + time.Duration(r.Int64N(1<<(1+r.IntN(45))))
		n := 2 + r.IntN(12)
		ticks, _ := TimeTicks(from, to, n)
		if len(ticks) > n {
			t.Fatalf("TimeTicks(%d, %d, %d) has %d marks", from, to, n, len(ticks))
		}
		if to-from > 100 && len(ticks) < n/4 {
			t.Fatalf("TimeTicks(%d, %d, %d) has only %d marks", from, to, n, len(ticks))
		}
		seen := map[string]bool{}
		for _, k := range ticks {
			if k.At < from || k.At > to || seen[k.Label] {
				t.Fatalf("TimeTicks(%d, %d, %d): mark %v is outside or labelled twice", from, to, n, k)
			}
			seen[k.Label] = true
		}
	}
}

func TestByteTicks(t *testing.T) {
	for _, c := range []struct {
		to   engine.Bytes
		n    int
		want string
	}{
		{13 * engine.GiB, 5, "0 4 GiB 8 GiB 12 GiB "},
		{13 * engine.GiB, 8, "0 2 GiB 4 GiB 6 GiB 8 GiB 10 GiB 12 GiB "},
		{1300 * engine.MiB, 4, "0 0.4 GiB 0.8 GiB 1.2 GiB "},
		{700 * engine.MiB, 4, "0 200 MiB 400 MiB 600 MiB "},
		{5, 4, "0 2 B 4 B "},
		{0, 4, "0 "},
	} {
		got := ""
		for _, k := range ByteTicks(c.to, c.n) {
			got += k.Label + " "
		}
		if got != c.want {
			t.Errorf("ByteTicks(%d, %d) = %q, want %q", c.to, c.n, got, c.want)
		}
	}
	for to := engine.Bytes(1); to > 0 && to < 1<<61; to = to*5/3 + 1 {
		for n := 2; n < 10; n++ {
			if k := ByteTicks(to, n); len(k) > n || len(k) < 1 || k[len(k)-1].At > to {
				t.Errorf("ByteTicks(%d, %d) = %v", to, n, k)
			}
		}
	}
}
