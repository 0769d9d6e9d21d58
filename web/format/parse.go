package format

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"memtide/engine"
)

// inputError returns an error about input, a number that a person wrote; why is for people.
func inputError(input, why string) error { return fmt.Errorf("%q: %s", input, why) }

// ParseBytes parses a size: "12GiB", "900 MiB", "12 GB" (decimal). A letter alone
// is binary: "12G" is 12 GiB. Fractions of a byte are dropped.
func ParseBytes(s string) (engine.Bytes, error) {
	n, err := quantity(s, "a size", "12 GiB", []unit{
		{"b", 1}, {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
		{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40},
		{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	})
	return engine.Bytes(n), err
}

// ParseRate parses a bandwidth: "12.5GB/s", "11.6 GiB/s". It refuses "100 Gb/s", which is
// ambiguous. Fractions of a byte per second are dropped.
func ParseRate(s string) (engine.Rate, error) {
	if t := strings.TrimSpace(s); !strings.HasSuffix(t, "ib/s") &&
		(strings.HasSuffix(t, "b/s") || strings.HasSuffix(t, "bit/s") || strings.HasSuffix(t, "bps")) {
		return 0, inputError(s, "bits or bytes? Write bytes per second with a capital B, for example 12 GB/s")
	}
	n, err := quantity(s, "a bandwidth", "12 GB/s", []unit{
		{"b/s", 1}, {"kb/s", 1e3}, {"mb/s", 1e6}, {"gb/s", 1e9}, {"tb/s", 1e12},
		{"kib/s", 1 << 10}, {"mib/s", 1 << 20}, {"gib/s", 1 << 30}, {"tib/s", 1 << 40},
	})
	return engine.Rate(n), err
}

// ParseFlops parses a rate of arithmetic in operations per second: "165TFLOP/s", "1.3 PFLOPS".
func ParseFlops(s string) (int64, error) {
	return quantity(strings.Replace(strings.ToLower(s), "flops", "flop/s", 1), "a rate of arithmetic", "165 TFLOP/s",
		[]unit{
			{"gflop/s", 1e9}, {"tflop/s", 1e12}, {"pflop/s", 1e15},
		})
}

// ParsePercent parses a part of a whole: "60%", "60 %" and "60" are 0.6.
func ParsePercent(s string) (float64, error) {
	t := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	x, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, inputError(s, "expected a percentage, for example 60%")
	}
	if x < 0 {
		return 0, inputError(s, "a percentage cannot be negative here")
	}
	return x / 100, nil
}

// quantity parses a decimal number with one of the units, whose names are in lower case, and
// returns it in the base unit. Errors mention what is expected, with an example.
func quantity(s, what, example string, units []unit) (int64, error) {
	expect := func(why string) error {
		return inputError(s, why+"; expected "+what+", for example "+example)
	}
	t := strings.TrimSpace(s)
	if t == "" {
		return 0, expect("nothing is written")
	}
	if t[0] == '-' || strings.HasPrefix(t, minus) {
		return 0, expect("it cannot be negative")
	}
	end := strings.IndexFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
	if end < 0 {
		end = len(t)
	}
	number, name := t[:end], strings.ToLower(strings.TrimSpace(t[end:]))
	if strings.Contains(number, ",") {
		return 0, expect("a comma can mean two things; write decimals with a point")
	}
	if strings.Trim(number, ".") == "" || strings.Count(number, ".") > 1 {
		return 0, expect("that is not a number")
	}
	if name == "" {
		if strings.Trim(number, "0.") == "" {
			return 0, nil
		}
		return 0, expect("the unit is missing")
	}
	for _, u := range units {
		if u.name == name {
			n, ok := exact(number, u.size)
			if !ok {
				return 0, expect("it is too large or has too many digits")
			}
			return n, nil
		}
	}
	return 0, expect(fmt.Sprintf("the unit %q is not known", strings.TrimSpace(t[end:])))
}

// exact returns a decimal number times size, rounded down; false if it is too large or has more than 18 decimals.
func exact(number string, size uint64) (int64, bool) {
	whole, frac, _ := strings.Cut(number, ".")
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 18 {
		return 0, false
	}
	w, err := strconv.ParseUint("0"+whole, 10, 64)
	hi, total := bits.Mul64(w, size)
	if err != nil || hi > 0 || total > math.MaxInt64 {
		return 0, false
	}
	f, _ := strconv.ParseUint("0"+frac, 10, 64)                                    // at most 18 digits: it fits
	total += uint64(engine.MulDiv(int64(f), int64(size), int64(pow10[len(frac)]))) // less than size
	if total >= math.MaxInt64 {
		return 0, false
	}
	return int64(total), true
}
