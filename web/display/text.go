package display

// TextWidth estimates the width of a label in CSS pixels. It errs to the wide
// side: the numbers are those of DejaVu Sans, the widest of the usual fonts.
func TextWidth(s string) float64 {
	em := 0.0
	for _, r := range s {
		em += runeWidth(r)
	}
	return em * FontSize
}

// Width estimates the width of a text.
func (t *Text) Width() float64 {
	w := TextWidth(t.S)
	if t.Large {
		w *= largeSize / FontSize
	}
	if t.Bold {
		w *= 1.06
	}
	return w
}

func runeWidth(r rune) float64 {
	switch {
	case r >= '0' && r <= '9':
		return 0.64
	case r == 'i' || r == 'l' || r == 'j' || r == 'I':
		return 0.30
	case r == ' ' || r == '.' || r == ',' || r == ':' || r == 'f' || r == 't' || r == 'r' || r == '(' || r == ')' || r == '/':
		return 0.42
	case r == 'm' || r == 'M' || r == 'W' || r == 'w':
		return 0.99
	case r >= 'a' && r <= 'z':
		return 0.64
	case r >= 'A' && r <= 'Z':
		return 0.79
	case r < 0x80:
		return 0.84
	case r < 0x3000:
		return 0.95
	}
	return 1.1
}

// Fit shortens a text to a width with an ellipsis; "" if not even that fits.
func Fit(s string, width float64) string {
	if TextWidth(s) <= width {
		return s
	}
	w, cut := runeWidth('…')*FontSize, 0
	for i, r := range s {
		if w += runeWidth(r) * FontSize; w > width {
			break
		}
		cut = i + len(string(r))
	}
	if cut == 0 {
		return ""
	}
	return s[:cut] + "…"
}
