package choice

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/format"
)

// Share is a fraction of the peak of keeping everything, in millionths of a per cent.
type Share int64

// Percent is one per cent.
const Percent Share = 1_000_000

// maxShare is the largest share that ParseBudget accepts.
const maxShare = 1000 * Percent

// Budget is an amount of device memory: Bytes or, if Share is above 0, a
// share of the peak of keeping everything. The zero value is no budget.
type Budget struct {
	Bytes engine.Bytes `json:"bytes,omitempty"`
	Share Share        `json:"share,omitempty"`
}

// Of returns the budget in bytes for a network that needs keepAll bytes to keep
// everything. A share is rounded down, but never to less than 1 byte.
func (b Budget) Of(keepAll engine.Bytes) engine.Bytes {
	if b.Share <= 0 {
		return b.Bytes
	}
	const whole = uint64(100 * Percent)
	hi, lo := bits.Mul64(uint64(max(keepAll, 0)), uint64(b.Share))
	if hi >= whole {
		return engine.NoLimit
	}
	q, _ := bits.Div64(hi, lo, whole)
	return engine.Bytes(max(min(q, uint64(engine.NoLimit)), 1))
}

// String returns the form in links, which ParseBudget parses: 12GiB, 900MiB, 123B or
// 60%. It is empty for the zero value.
func (b Budget) String() string {
	if b.Share > 0 {
		text := fmt.Sprintf("%d.%06d", b.Share/Percent, b.Share%Percent)
		return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
	}
	if b.Bytes == 0 {
		return ""
	}
	n, unit := int64(b.Bytes), "B"
	for _, larger := range [...]string{"KiB", "MiB", "GiB"} {
		if n%1024 != 0 {
			break
		}
		n, unit = n/1024, larger
	}
	return strconv.FormatInt(n, 10) + unit
}

// Set sets the budget to the result of ParseBudget.
func (b *Budget) Set(value string) (err error) {
	*b, err = ParseBudget(value)
	return err
}

// ParseBudget parses "12GiB", "900 MiB" or "60%". It rounds down to a whole byte or a
// millionth of a per cent, and returns an error if the result is 0.
func ParseBudget(value string) (Budget, error) {
	if text, ok := strings.CutSuffix(strings.TrimSpace(value), "%"); ok {
		share, fine := parseShare(strings.TrimSpace(text))
		switch {
		case fine:
			return Budget{}, Sentence("a budget of %q is too small; expected at least 0.000001%%.", value)
		case share <= 0 || share > maxShare:
			return Budget{}, Sentence("%q is not a share; expected a number above 0 and up to 1000 per cent, such as 60%%.", value)
		}
		return Budget{Share: share}, nil
	}
	b, err := format.ParseBytes(value)
	if err != nil {
		return Budget{}, err
	}
	if b <= 0 {
		return Budget{}, Sentence("a budget of %q is too small; expected at least 1 byte.", value)
	}
	return Budget{Bytes: b}, nil
}

// Context is how much memory a program takes for CUDA and its libraries, an estimate. With card.Reserved it decides
// between "fits" and "may not fit" and which budget is proposed, and nothing else.
const Context = engine.GiB

// Reserved returns the memory that a device probably needs for a schedule's peak, with CUDA.
func Reserved(peak engine.Bytes) engine.Bytes { return card.Reserved(peak) + Context }

// Usable returns how much of a device's memory a plan may use: without the share of CUDA and of a caching allocator. It
// is the inverse of Reserved.
func Usable(memory engine.Bytes) engine.Bytes { return card.Usable(max(memory-Context, 0)) }

// parseShare parses a number of per cent, which may have an exponent ("5e-3"), and rounds it
// down. It returns 0 if the text is not such a number or is 0, and more than maxShare if the
// number is too large. fine reports that it is above 0 but rounds to 0.
func parseShare(text string) (s Share, fine bool) {
	number, power, hasPower := strings.Cut(strings.ToLower(text), "e")
	whole, part, _ := strings.Cut(strings.TrimPrefix(number, "+"), ".")
	digits, exponent := whole+part, 0
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if hasPower {
		var err error
		if exponent, err = strconv.Atoi(power); err != nil || exponent < -1000 || exponent > 1000 {
			return 0, false
		}
	}
	end := len(whole) + exponent + 6 // only digits before end count
	digits += strings.Repeat("0", max(end-len(digits), 0))
	counted := strings.TrimLeft(digits[:max(end, 0)], "0")
	if counted == "" {
		return 0, strings.Trim(digits, "0") != ""
	}
	n, err := strconv.ParseInt(counted, 10, 64)
	if err != nil {
		return maxShare + 1, false
	}
	return Share(n), false
}

// Sentence returns an error whose text is a sentence for people, shown without a prefix.
func Sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }
