package chart

// named is an end of a line with its name.
type named struct {
	name   string
	x, y   float64
	chosen bool
	gone   bool // the whole line lies beside the plot
}

// width is about how wide a name is, in CSS pixels.
func (n named) width() float64 { return 8 + 6.3*float64(len(n.name)) }

// labelHeight is the least distance between two labels.
const labelHeight = 13.0

// keepAllName stands at the square of keeping everything.
const keepAllName = "keep everything"

// Names of the dots of what is shown and of the other side of a comparison.
const (
	shownName = "shown"
	otherName = "other side"
)
