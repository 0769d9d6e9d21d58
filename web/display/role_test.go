package display

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance returns the relative luminance of a colour, as WCAG 2.2 defines it. contrast returns the contrast
// ratio.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("%q is no colour", hex)
	}
	part := func(shift uint) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// TestContrast checks the contrasts that WCAG 2.2 requires: 3:1 for graphics (1.4.11) and 4.5:1 for text (1.4.3).
func TestContrast(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		p := palettes[theme]
		check := func(a, b Role, least float64) {
			t.Helper()
			if c := contrast(t, p[a], p[b]); c < least {
				t.Errorf("theme %d: %s on %s has contrast %.2f, want %v", theme, roleNames[a], roleNames[b], c, least)
			}
		}
		for r := Forward; r <= Budget; r++ {
			check(r, Surface, 3)
		}
		for _, r := range []Role{Ink, Muted, Budget, InkRecompute, InkTransfer} {
			check(r, Surface, 4.5)
		}
		for r := Forward; r <= Fixed; r++ {
			check(r.On(), r, 4.5)
			// The colour of text on r is black or white, whichever has the higher contrast.
			if c := p[r]; math.Max(contrast(t, "#000000", c), contrast(t, "#ffffff", c)) != contrast(t, p[r.On()], c) {
				t.Errorf("theme %d: the other ink is better on %s", theme, roleNames[r])
			}
		}
	}
}

// TestCSS checks that every role has a name, a colour in every theme and two classes.
func TestCSS(t *testing.T) {
	css := CSS()
	for r, name := range roleNames {
		if name == "" {
			t.Fatalf("role %d has no name", r)
		}
		for _, want := range []string{".mt-" + name + "{", ".mt-s-" + name + "{"} {
			if strings.Count(css, want) != 1 {
				t.Errorf("the style sheet has %q %d times", want, strings.Count(css, want))
			}
		}
		for theme := range NumThemes {
			if len(Palette(theme)) != int(NumRoles) || Palette(theme)[r] == "" {
				t.Errorf("theme %d has no colour for %s", theme, name)
			}
		}
	}
	if o, c := strings.Count(css, "{"), strings.Count(css, "}"); o != c {
		t.Errorf("%d braces open, %d close", o, c)
	}
}
