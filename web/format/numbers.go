// Package format writes numbers for people and parses the numbers that people write:
// sizes in MiB and GiB, times in ms and s, bandwidths in GB/s. The page, the pictures
// and the command line all use it, so that a number looks the same wherever it appears.
//
// Numbers have three significant digits, without trailing zeros: 11.9 GiB, 310 MiB, 8.4 ms; relative changes have two.
// Sizes are binary (1 GiB = 2^30 B), bandwidths decimal (1 GB/s = 10^9 B/s), as memory and links are sold. Parsing
// sizes and rates is exact: it does not use floating point.
package format

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
)

// rounding is how scaled rounds.
type rounding uint8

const (
	nearest rounding = iota
	upward
)

var pow10 = [...]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18}

// scaled returns n/unit in units of 10^-places, rounded. It panics if the result does not
// fit into 64 bits, which the units and places of its callers rule out.
func scaled(n, unit uint64, places int, r rounding) uint64 {
	hi, lo := bits.Mul64(n, pow10[places])
	add := unit / 2
	if r == upward {
		add = unit - 1
	}
	lo, carry := bits.Add64(lo, add, 0)
	q, _ := bits.Div64(hi+carry, lo, unit)
	return q
}

// fixed formats n/unit with the given number of decimals.
func fixed(n, unit uint64, places int, r rounding) string {
	q := scaled(n, unit, places, r)
	whole := strconv.FormatUint(q/pow10[places], 10)
	if places == 0 {
		return whole
	}
	frac := strconv.FormatUint(q%pow10[places], 10)
	return whole + "." + strings.Repeat("0", places-len(frac)) + frac
}

// threeDigits formats n/unit with three significant digits (all digits before
// the point, if there are more) and without trailing zeros.
func threeDigits(n, unit uint64, r rounding) string {
	for places := 2; places > 0; places-- {
		// At most 999, with the point after the first or second digit.
		if scaled(n, unit, places, r) < 1000 {
			return trimZeros(fixed(n, unit, places, r))
		}
	}
	return fixed(n, unit, 0, r)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// unit is a unit of measurement: size is how many of the base unit it is.
type unit struct {
	name string
	size uint64
}

// inUnits formats n in the largest of the units (smallest first) in which it is at least 1 after rounding.
func inUnits(n uint64, units []unit, r rounding) string {
	u := units[0]
	for _, next := range units[1:] {
		// Round in the smaller unit first, so that 1024 MiB becomes 1 GiB.
		if scaled(n, u.size, 0, r)*u.size < next.size {
			break
		}
		u = next
	}
	return threeDigits(n, u.size, r) + " " + u.name
}

// magnitude returns |n| without overflow.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

const minus = "\u2212"

var byteUnits = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"PiB", 1 << 50}, {"EiB", 1 << 60}}

var timeUnits = []unit{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

var rateUnits = []unit{{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}

// Bytes formats a size: "11.9 GiB", "310 MiB", "0 B"; engine.NoLimit is "no limit".
func Bytes(b engine.Bytes) string { return bytes(b, nearest) }

// BytesUp is Bytes rounded up, so that a budget of the size it shows suffices for b.
func BytesUp(b engine.Bytes) string { return bytes(b, upward) }

func bytes(b engine.Bytes, r rounding) string {
	switch {
	case b == engine.NoLimit:
		return "no limit"
	case b < 0:
		return minus + inUnits(magnitude(int64(b)), byteUnits, nearest)
	}
	return inUnits(uint64(b), byteUnits, r)
}

// BytesChange formats a difference of sizes with its sign: "+310 MiB", "−1.2 GiB", "0 B".
func BytesChange(b engine.Bytes) string {
	if b > 0 {
		return "+" + Bytes(b)
	}
	return Bytes(b)
}

// Duration formats a time: "612 ms", "8.4 ms", "1.24 s", "0 ms". The largest
// duration, which means a transfer without a link, is "∞".
func Duration(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "∞"
	case d == 0:
		return "0 ms"
	case d < 0:
		return minus + inUnits(magnitude(int64(d)), timeUnits, nearest)
	}
	return inUnits(uint64(d), timeUnits, nearest)
}

// axisUnit returns the unit in which all times up to to are written on one axis.
func axisUnit(to time.Duration) unit {
	for i, limit := range [...]time.Duration{time.Microsecond, time.Millisecond, 10 * time.Second} {
		if to < limit {
			return timeUnits[i]
		}
	}
	return timeUnits[3]
}

// Span formats the interval from one time to another in one unit, with as many decimals
// as its length needs: "411.2 to 437.0 ms". Negative times count as 0.
func Span(from, to time.Duration) string {
	from, to = max(from, 0), max(to, 0)
	u := axisUnit(max(from, to))
	length, places := uint64(max(to-from, from-to)), 0
	if length < 100*u.size && u.size > 1 {
		places = 1
	}
	for limit := u.size; length < limit && pow10[places] < u.size; limit /= 10 {
		places++
	}
	return fixed(uint64(from), u.size, places, nearest) + " to " + fixed(uint64(to), u.size, places, nearest) + " " +
		u.name
}

// Moment formats a point in time, "411.2 ms", with the decimals that tell the pixels apart
// on an axis of the given length.
func Moment(at, length time.Duration) string {
	at = max(at, 0)
	u := axisUnit(at)
	places := 0
	// A thousandth of the length is about what a pixel shows.
	for u.size/pow10[places] > uint64(max(length, 0))/1000 && pow10[places] < u.size && places < 6 {
		places++
	}
	return fixed(uint64(at), u.size, places, nearest) + " " + u.name
}

// Percent formats a relative change with its sign: 0.091 is "+9.1 %".
func Percent(x float64) string {
	s := twoDigits(math.Abs(x) * 100)
	switch {
	case s == "0":
		return "0 %"
	case x < 0:
		return minus + s + " %"
	}
	return "+" + s + " %"
}

// Share formats a part of a whole: 0.66 is "66 %". Less than the whole is never rounded to 100 %.
func Share(x float64) string {
	p := x * 100
	if p > 99 && p < 100 {
		return strconv.FormatFloat(math.Floor(p*10)/10, 'f', 1, 64) + " %"
	}
	if p < 0 {
		return minus + twoDigits(-p) + " %"
	}
	return twoDigits(p) + " %"
}

// twoDigits formats a number with two significant digits, or with all digits before the point.
func twoDigits(x float64) string { return digits(x, 10) }

// digits formats a number with as many significant digits as full has, all digits before the point if there are more,
// at most two decimals, and no trailing zeros.
func digits(x, full float64) string {
	decimals := 2
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x >= full-0.05:
		decimals = 0
	case x >= full/10-0.005:
		decimals = 1
	}
	return trimZeros(strconv.FormatFloat(x, 'f', decimals, 64))
}

// Ratio formats a factor with three digits: "×1.4", "×1.09".
func Ratio(x float64) string { return "×" + digits(x, 100) }

// Rate formats a bandwidth: "12.5 GB/s"; 0 is "no link".
func Rate(r engine.Rate) string {
	if r <= 0 {
		return "no link"
	}
	return inUnits(uint64(r), rateUnits, nearest)
}

// Count formats a whole number with narrow spaces between thousands.
func Count(n int) string {
	s := strconv.FormatUint(magnitude(int64(n)), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	if n < 0 {
		return minus + s
	}
	return s
}

// CountOf returns a number of things: "1 block", "12 blocks".
func CountOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Milliseconds formats a time as an exact number of milliseconds without a unit, for tables: "411.2".
func Milliseconds(d time.Duration) string {
	s := trimZeros(fixed(magnitude(int64(d)), 1e6, 6, nearest))
	if d < 0 {
		return "-" + s
	}
	return s
}

// Throughput formats the training rate of steps that take step each and train n units, such as samples: "176
// samples/s". If n is 0, because it is not known, the rate is in steps. If step is 0, the result is empty.
func Throughput(n int, unit string, step time.Duration) string {
	if step <= 0 {
		return ""
	}
	if n <= 0 {
		n, unit = 1, "steps"
	}
	x := float64(n) / step.Seconds()
	if x >= 999.5 {
		return Count(int(x+0.5)) + " " + unit + "/s"
	}
	return digits(x, 100) + " " + unit + "/s"
}

// PerSecond returns the number of Throughput without its unit.
func PerSecond(n int, step time.Duration) string {
	number, _, _ := strings.Cut(Throughput(n, "", step), " ")
	return number
}

// Range formats a range of sizes, with one unit if both have the same: "8 to 16 GiB". It returns one size if both
// are formatted alike.
func Range(low, high engine.Bytes) string {
	x, y := Bytes(low), Bytes(high)
	if x == y {
		return y
	}
	if n, unit, ok := strings.Cut(x, " "); ok && strings.HasSuffix(y, " "+unit) {
		x = n
	}
	return x + " to " + y
}

// Rates formats the rates of a link, or its one rate if both directions have the same.
func Rates(toDev, toHost engine.Rate) string {
	if toHost != toDev {
		return Rate(toDev) + " in, " + Rate(toHost) + " out"
	}
	return Rate(toDev)
}

// Longer returns the relative change from reference to d, for Percent.
func Longer(d, reference time.Duration) float64 { return float64(d)/float64(reference) - 1 }

// Durations returns a text with its durations in Go's form, 1.234567ms, replaced by that of
// Duration. Texts of package engine, which does not import this package, contain such durations.
func Durations(text string) string {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		words := strings.Split(line, " ")
		for i, w := range words {
			words[i] = durationWord(w)
		}
		lines[n] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

// durationWord reformats a word that is a duration and keeps the punctuation around it.
func durationWord(word string) string {
	core := strings.TrimLeft(word, "(")
	before := word[:len(word)-len(core)]
	core = strings.TrimRight(core, ".,;:)")
	if core == "" || core == "0" || core[0] < '0' || core[0] > '9' {
		return word
	}
	d, err := time.ParseDuration(core)
	if err != nil {
		return word
	}
	return before + Duration(d) + word[len(before)+len(core):]
}

// Sentence makes a sentence of the text of an error: with a capital and a full stop.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// Capital returns a text with a capital at its beginning, unless its first word contains a
// digit or a point, as the names bf16 and torch.compile do.
func Capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); word == "" || strings.ContainsAny(word, ".0123456789") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
