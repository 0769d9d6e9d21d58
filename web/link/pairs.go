package link

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/profiles"
)

// pair is a key in lower case, its value without escapes, and both as written. All are
// passed through profiles.CleanText, because they are shown and printed.
type pair struct{ key, value, raw string }

// pairsOf splits a fragment into its pairs.
func pairsOf(fragment string) (out []pair) {
	for raw := range strings.SplitSeq(fragment, "&") {
		if raw == "" {
			continue
		}
		key, value, _ := strings.Cut(raw, "=")
		if plain, ok := unescapeValue(value); ok {
			value = plain // otherwise a % is literal, as in m=60%
		}
		out = append(out, pair{profiles.CleanText(strings.ToLower(key)), profiles.CleanText(value),
			profiles.CleanText(raw)})
	}
	return out
}

// EscapeValue escapes a value for a fragment. Bytes that are safe in fragments and in chat messages stay, all others
// become %XX. Package net/url alone would make the program 1 % larger.
func EscapeValue(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-._~@:,/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescapeValue reverses EscapeValue. It reports false if a % is not followed by two hexadecimal digits.
func unescapeValue(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			n, err := strconv.ParseUint(s[i+1:min(i+3, len(s))], 16, 8)
			if err != nil || i+2 >= len(s) {
				return "", false
			}
			c = byte(n)
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
