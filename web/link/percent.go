package link

import (
	"fmt"
	"strings"
)

// EscapeValue writes a value so that it can stand in a fragment: letters, digits
// and -_.~$+=:@ as they are, every other byte as %XX. It is what
// net/url.PathEscape does, and "&" besides; that package alone would make the
// program 1 % larger.
func EscapeValue(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isAlphanumeric(c) || strings.IndexByte("-_.~$+=:@", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// unescapeValue reads what EscapeValue writes. It reports false if a % is not
// followed by two hexadecimal digits.
func unescapeValue(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", false
			}
			high, low := digit(s[i+1]), digit(s[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// digit returns the value of a hexadecimal digit, -1 if it is none.
func digit(c byte) int { return strings.IndexByte("0123456789abcdef", lower(c)) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
}

// escape leaves readable what may stand in a fragment and in chat messages.
func escape(s string) string {
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
