package parse

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/profiles"
)

// MaxNumber is the largest number of nanoseconds or bytes that is read.
const MaxNumber = profiles.MaxNumber

// MostDigits is the longest text of a number that is read.
const MostDigits = 1000

// Quantity is a kind of number in a file. It converts text to an integer, and has the words for its errors.
type Quantity struct {
	Plural string // "Times", "Sizes": begins a sentence
	Unit   string // of the text: "seconds"
	Shift  int    // the integer is the text times 10^shift
	Whole  bool   // fractions of the integer are refused instead of rounded up
}

// The quantities; times become nanoseconds.
var (
	Seconds      = Quantity{Plural: "Times", Unit: "seconds", Shift: 9}
	Milliseconds = Quantity{Plural: "Times", Unit: "milliseconds", Shift: 6}
	ByteCount    = Quantity{Plural: "Sizes", Unit: "bytes", Whole: true}
	Bandwidth    = Quantity{Plural: "Bandwidths", Unit: "bytes per second"}
	Samples      = Quantity{Plural: "Batch sizes", Unit: "samples", Whole: true}
	Moments      = Quantity{Plural: "Moments", Unit: "steps of the clock", Whole: true}
	Events       = Quantity{Plural: "Numbers of events", Unit: "events", Whole: true}
	StageNumber  = Quantity{Plural: "Stage numbers", Unit: "stages", Whole: true}
)

// Read converts text, the value of the named field. Its error lacks only the place.
func (q Quantity) Read(field, text string) (int64, *profiles.FormatError) {
	refused := func(expected, remedy string) (int64, *profiles.FormatError) {
		return 0, &profiles.FormatError{Found: field + " is " + profiles.Clip(text), Expected: expected, Remedy: remedy}
	}
	if len(text) > MostDigits {
		return refused(fmt.Sprintf("A number is at most %d characters long; this one has %d.", MostDigits, len(text)),
			"Correct the number.")
	}
	mantissa, exponent, negative, ok := SplitDecimal(text)
	word := strings.ToLower(strings.Trim(strings.TrimSpace(text), "+-"))
	switch {
	case word == "nan" || word == "inf" || word == "infinity":
		return refused(q.Plural+" are finite numbers of "+q.Unit+".",
			"Correct the number: it often comes from a measurement that did not run.")
	case !ok && strings.TrimSpace(text) == "":
		return 0, &profiles.FormatError{Found: field + " is empty",
			Expected: "A number of " + q.Unit + " is expected.", Remedy: "Fill in the number; 0 is allowed."}
	case !ok:
		return 0, &profiles.FormatError{Found: field + " is " + strconv.Quote(profiles.Clip(text)),
			Expected: "A number of " + q.Unit + " is expected.",
			Remedy:   "Write plain digits with a decimal point, without units or separators of thousands."}
	case negative && mantissa != "":
		return refused(q.Plural+" cannot be negative.", "Correct the number, or measure again; 0 is allowed.")
	}
	v, fraction, fits := ScaleDecimal(mantissa, exponent+q.Shift)
	if !fits {
		base := q.Unit
		if q.Shift > 0 {
			base = "nanoseconds"
		}
		return refused(q.Plural+" above 2^53 "+base+" are not read.",
			"Check the unit: the number has to be in "+q.Unit+".")
	}
	if fraction && q.Whole {
		return refused(q.Plural+" are whole numbers of "+q.Unit+".",
			"Check the unit: the number has to be in "+q.Unit+".")
	}
	return v, nil
}

// SplitDecimal splits a decimal number: text = ±mantissa · 10^exponent. The mantissa has neither
// leading nor trailing zeros; it is empty for 0.
func SplitDecimal(text string) (mantissa string, exponent int, negative, ok bool) {
	t := strings.TrimSpace(text)
	if t != "" && (t[0] == '+' || t[0] == '-') {
		negative = t[0] == '-'
		t = t[1:]
	}
	if i := strings.IndexAny(t, "eE"); i >= 0 {
		// An exponent of six digits is out of every range; the limit keeps the sums below from overflowing.
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
	if len(whole)+len(frac) == 0 || !AllDigits(whole) || !AllDigits(frac) {
		return "", 0, negative, false
	}
	digits := whole + frac
	exponent -= len(frac)
	cut := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(cut)
	return strings.TrimLeft(cut, "0"), exponent, negative, true
}

// AllDigits reports whether a text has nothing but digits.
func AllDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// ScaleDecimal returns mantissa · 10^exponent, rounded up. fraction reports whether the value
// was rounded; fits reports whether it is at most MaxNumber.
func ScaleDecimal(mantissa string, exponent int) (v int64, fraction, fits bool) {
	if mantissa == "" {
		return 0, false, true
	}
	const maxDigits = 16 // of MaxNumber
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
	return v, fraction, v <= MaxNumber
}

// Elements returns the number of elements of a tensor with this shape. ok is false if a
// dimension is negative or the number is above MaxNumber.
func Elements(dims []int64) (n int64, ok bool) {
	n = 1
	for _, d := range dims {
		if d < 0 || d > 0 && n > MaxNumber/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}
