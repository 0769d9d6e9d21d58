package profiles

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxNumber is the largest number of nanoseconds or bytes that is read: beyond
// it, other tools' floating-point numbers are no longer exact.
const maxNumber = 1 << 53

// mostDigits is the longest text of a number that is read.
const mostDigits = 1000

// quantity is a kind of number in a file: how its text becomes an integer, and
// the words for telling that it does not.
type quantity struct {
	plural string // "Times", "Sizes": begins a sentence
	unit   string // of the text: "seconds"
	shift  int    // the integer is the text times 10^shift
	whole  bool   // fractions of the integer are refused instead of rounded up
}

// The quantities; times become nanoseconds.
var (
	seconds      = quantity{plural: "Times", unit: "seconds", shift: 9}
	milliseconds = quantity{plural: "Times", unit: "milliseconds", shift: 6}
	byteCount    = quantity{plural: "Sizes", unit: "bytes", whole: true}
	bandwidth    = quantity{plural: "Bandwidths", unit: "bytes per second"}
	samples      = quantity{plural: "Batch sizes", unit: "samples", whole: true}
	moments      = quantity{plural: "Moments", unit: "steps of the clock", whole: true}
	events       = quantity{plural: "Numbers of events", unit: "events", whole: true}
	stageNumber  = quantity{plural: "Stage numbers", unit: "stages", whole: true}
)

// read converts text. When it cannot, the error lacks only the place.
func (q quantity) read(field, text string) (int64, *FormatError) {
	e := &FormatError{Found: field + " is " + clip(text)}
	if len(text) > mostDigits {
		e.Expected = fmt.Sprintf("A number is at most %d characters long; this one has %d.", mostDigits, len(text))
		e.Remedy = "Correct the number."
		return 0, e
	}
	mantissa, exponent, negative, ok := splitDecimal(text)
	switch {
	case isNotFinite(text):
		e.Expected = q.plural + " are finite numbers of " + q.unit + "."
		e.Remedy = "Correct the number: it often comes from a measurement that did not run."
		return 0, e
	case !ok && strings.TrimSpace(text) == "":
		e.Found = field + " is empty"
		e.Expected = "A number of " + q.unit + " is expected."
		e.Remedy = "Fill in the number; 0 is allowed."
		return 0, e
	case !ok:
		e.Found = field + " is " + strconv.Quote(clip(text))
		e.Expected = "A number of " + q.unit + " is expected."
		e.Remedy = "Write plain digits with a decimal point, without units or separators of thousands."
		return 0, e
	case negative && mantissa != "":
		e.Expected = q.plural + " cannot be negative."
		e.Remedy = "Correct the number, or measure again; 0 is allowed."
		return 0, e
	}
	v, fraction, fits := scaleDecimal(mantissa, exponent+q.shift)
	if !fits {
		e.Expected = q.plural + " above 2^53 " + q.base() + " are not read."
		e.Remedy = "Check the unit: the number has to be in " + q.unit + "."
		return 0, e
	}
	if fraction && q.whole {
		e.Expected = q.plural + " are whole numbers of " + q.unit + "."
		e.Remedy = "Check the unit: the number has to be in " + q.unit + "."
		return 0, e
	}
	return v, nil
}

// base is the unit of the integer.
func (q quantity) base() string {
	if q.shift > 0 {
		return "nanoseconds"
	}
	return q.unit
}

func isNotFinite(text string) bool {
	t := strings.ToLower(strings.Trim(strings.TrimSpace(text), "+-"))
	return t == "nan" || t == "inf" || t == "infinity"
}

// splitDecimal takes a decimal number apart: text = ±mantissa · 10^exponent.
// The mantissa has neither leading nor trailing zeros; it is empty for 0.
func splitDecimal(text string) (mantissa string, exponent int, negative, ok bool) {
	t := strings.TrimSpace(text)
	if t != "" && (t[0] == '+' || t[0] == '-') {
		negative = t[0] == '-'
		t = t[1:]
	}
	if i := strings.IndexAny(t, "eE"); i >= 0 {
		// An exponent of six digits is out of every range anyhow; the cut keeps
		// the sums below from overflowing.
		if len(t)-i > 7 {
			return "", 0, negative, false
		}
		x, err := strconv.Atoi(t[i+1:])
		if err != nil {
			return "", 0, negative, false
		}
		exponent, t = x, t[:i]
	}
	whole, frac, _ := strings.Cut(t, ".")
	if len(whole)+len(frac) == 0 || !allDigits(whole) || !allDigits(frac) {
		return "", 0, negative, false
	}
	digits := whole + frac
	exponent -= len(frac)
	cut := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(cut)
	return strings.TrimLeft(cut, "0"), exponent, negative, true
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// scaleDecimal is mantissa · 10^exponent, rounded up. fraction tells that it
// was rounded; fits, that it is not above maxNumber.
func scaleDecimal(mantissa string, exponent int) (v int64, fraction, fits bool) {
	if mantissa == "" {
		return 0, false, true
	}
	const maxDigits = 16 // of maxNumber
	if len(mantissa)+exponent > maxDigits {
		return 0, false, false
	}
	digits := mantissa
	if exponent < 0 {
		fraction = true // the mantissa does not end in 0
		digits = mantissa[:max(0, len(mantissa)+exponent)]
	}
	for i := 0; i < len(digits); i++ {
		v = v*10 + int64(digits[i]-'0')
	}
	for ; exponent > 0; exponent-- {
		v *= 10
	}
	if fraction {
		v++
	}
	return v, fraction, v <= maxNumber
}

// nanoseconds is the duration of a number that seconds or milliseconds read.
func nanoseconds(v int64) time.Duration { return time.Duration(v) }

// elements is how many numbers a shape holds; not ok if it is none.
func elements(dims []int64) (n int64, ok bool) {
	n = 1
	for _, d := range dims {
		if d < 0 || d > 0 && n > maxNumber/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}
