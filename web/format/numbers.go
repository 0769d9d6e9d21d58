// Package format writes numbers for people and reads what people write: sizes
// in MiB and GiB, times in ms and s, bandwidths in GB/s. Everything on the page,
// in the pictures and on the command line goes through it, so that a number
// looks the same wherever it appears.
//
// Numbers have three significant digits, without trailing zeros: 11.9 GiB,
// 310 MiB, 8.4 ms; relative changes have two. Sizes are binary (1 GiB = 2^30 B),
// bandwidths decimal (1 GB/s = 10^9 B/s), as memory and links are sold. What is
// read is exact: digits are never passed through floating point.
package format

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
)

// rounding says which way a decimal goes.
type rounding uint8

const (
	nearest rounding = iota
	upward
)

var pow10 = [...]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// scaled is n/unit in units of 10^-places, rounded. It panics if that does not
// fit into 64 bits, which no caller's unit and places allow.
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

// fixed writes n/unit with the given number of decimals.
func fixed(n, unit uint64, places int, r rounding) string {
	q := scaled(n, unit, places, r)
	whole := strconv.FormatUint(q/pow10[places], 10)
	if places == 0 {
		return whole
	}
	frac := strconv.FormatUint(q%pow10[places], 10)
	return whole + "." + strings.Repeat("0", places-len(frac)) + frac
}

// threeDigits writes n/unit with three significant digits (all digits before
// the point, if there are more) and without trailing zeros.
func threeDigits(n, unit uint64, r rounding) string {
	for places := 2; places > 0; places-- {
		// 999 with the point after the first or second digit.
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

// unit is a name for a multiple.
type unit struct {
	name string
	size uint64
}

// inUnits writes n in the largest of the units (smallest first) in which it is
// at least 1 after rounding.
func inUnits(n uint64, units []unit, r rounding) string {
	u := units[0]
	for _, next := range units[1:] {
		// Round in the smaller unit first: what would be written as 1024 MiB is 1 GiB.
		if scaled(n, u.size, 0, r)*u.size < next.size {
			break
		}
		u = next
	}
	return threeDigits(n, u.size, r) + " " + u.name
}

// magnitude is |n| without overflow.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// mulDiv returns a*b/c, rounded down, through 128 bits.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

const minus = "\u2212"

var byteUnits = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"PiB", 1 << 50}, {"EiB", 1 << 60}}

var timeUnits = []unit{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

var rateUnits = []unit{{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}

// Bytes writes a size: "11.9 GiB", "310 MiB", "0 B"; engine.NoLimit is "no limit".
func Bytes(b engine.Bytes) string { return bytes(b, nearest) }

// BytesUp is Bytes rounded up: a budget of what is shown suffices for b.
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

// BytesChange writes a difference of sizes with its sign: "+310 MiB", "−1.2 GiB", "0 B".
func BytesChange(b engine.Bytes) string {
	if b > 0 {
		return "+" + Bytes(b)
	}
	return Bytes(b)
}

// Duration writes a time: "612 ms", "8.4 ms", "1.24 s", "0 ms". The largest
// duration, which stands for a transfer without a link, is "∞".
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

// axisUnit returns the one unit in which times up to to are written side by side.
func axisUnit(to time.Duration) unit {
	switch {
	case to < time.Microsecond:
		return timeUnits[0]
	case to < time.Millisecond:
		return timeUnits[1]
	case to < 10*time.Second:
		return timeUnits[2]
	}
	return timeUnits[3]
}

// Span writes a stretch of time in one unit, with as many decimals as its
// length needs: "411.2 to 437.0 ms". Negative times count as 0.
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

// Moment writes a point in time as Span does for a stretch of the given length:
// "411.2 ms".
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

// Percent writes a relative change with its sign: 0.091 is "+9.1 %".
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

// Share writes a part of a whole: 0.66 is "66 %". Only the whole is 100 %.
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

// twoDigits writes a number with two significant digits, or more before the point.
func twoDigits(x float64) string { return digits(x, 10) }

// digits writes a number with as many significant digits as full has, all digits before the point if there are more,
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

// Ratio writes a factor with three digits: "×1.4", "×1.09".
func Ratio(x float64) string { return "×" + digits(x, 100) }

// Rate writes a bandwidth: "12.5 GB/s"; 0 is "no link".
func Rate(r engine.Rate) string {
	if r <= 0 {
		return "no link"
	}
	return inUnits(uint64(r), rateUnits, nearest)
}

// Count writes a whole number with narrow spaces between thousands.
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

// Milliseconds writes a time as an exact number of milliseconds without unit,
// for tables: "411.2".
func Milliseconds(d time.Duration) string {
	s := trimZeros(fixed(magnitude(int64(d)), 1e6, 6, nearest))
	if d < 0 {
		return "-" + s
	}
	return s
}

// Throughput writes how much is trained per second by steps of n samples, or of what
// the unit says: "176 samples/s"; where n is not known (0), how many steps. It is
// empty if a step takes no time.
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

// PerSecond returns the number of a throughput, without its unit.
func PerSecond(n int, step time.Duration) string {
	number, _, _ := strings.Cut(Throughput(n, "", step), " ")
	return number
}

// Range writes a range of sizes, with the unit once where it is the same: "8 to 16 GiB"; one size if it is none.
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

// Rates writes the rates of a link, both directions where they differ.
func Rates(toDev, toHost engine.Rate) string {
	if toHost != toDev {
		return Rate(toDev) + " in, " + Rate(toHost) + " out"
	}
	return Rate(toDev)
}

// Longer is by what share a time is longer than another one, as Percent takes it.
func Longer(d, reference time.Duration) float64 { return float64(d)/float64(reference) - 1 }

// Durations writes the durations in a text the way Duration does: sentences of
// packages that know no people's words have them as Go writes them, 1.234567ms.
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

// durationWord rewrites a word that is a duration, with what stands around it.
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

// Sentence makes a sentence of an error.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// Capital returns a text that begins with a capital, unless it begins with a name such as
// bf16 or torch.compile.
func Capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); word == "" || strings.ContainsAny(word, ".0123456789") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
