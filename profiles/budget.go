package profiles

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memtide/engine"
)

// Limits of one input, a file of any format or a link. A chain is further limited to engine.MaxStages stages, a graph
// to parse.MaxGraph values and operations, and a file about addresses to parse.MaxBuffers buffers.
const (
	MaxName  = 1_000  // bytes of a name: of a stage, a value, a device, a tool
	MaxText  = 10_000 // bytes of a note, a warning or an address
	MaxNotes = 1_000  // number of notes, and of warnings
)

// Limits of a file: the bytes of all its names and texts, and the memory that decoding may use besides the content. The
// memory is a fixed amount plus perByte for each byte of content, so a small file never uses much.
const (
	fileText   = 48 << 20
	fileMemory = 48 << 20
	perByte    = 2
)

// Budget is what decoding one input may still use. Decoders charge it before they allocate, so that a small input
// cannot make them allocate a lot. The errors of its methods lack only the place, which the caller adds.
type Budget struct {
	text, memory       int // bytes that are left
	allText, allMemory int
}

// NewBudget returns a budget of text bytes of names and texts, and of memory bytes.
func NewBudget(text, memory int) *Budget { return &Budget{text, memory, text, memory} }

// FileBudget returns the budget of a file of size bytes, unpacked.
func FileBudget(size int) *Budget {
	return NewBudget(fileText, fileMemory+perByte*min(size, MaxSize))
}

// Name charges a name of n bytes; what says in an error what is named.
func (b *Budget) Name(what string, n int) *FormatError { return b.take(what, n, MaxName) }

// Text charges a note or another text of n bytes; what describes it in an error.
func (b *Budget) Text(what string, n int) *FormatError { return b.take(what, n, MaxText) }

func (b *Budget) take(what string, n, most int) *FormatError {
	if n > most {
		return &FormatError{Found: fmt.Sprintf("%s is %d bytes long", what, n),
			Expected: fmt.Sprintf("At most %d bytes are read.", most), Remedy: "Shorten it."}
	}
	if b.text -= n; b.text < 0 {
		b.text = 0
		return &FormatError{Found: fmt.Sprintf("The names and texts up to %s are more than %s", what,
			megabytes(b.allText)),
			Expected: fmt.Sprintf("At most %s of names and texts are read.", megabytes(b.allText)),
			Remedy:   "Shorten the names."}
	}
	return nil
}

// Memory charges n bytes of memory before they are allocated; what says in an error what they are for.
func (b *Budget) Memory(what string, n int) *FormatError {
	if b.memory -= n; b.memory < 0 {
		b.memory = 0
		return &FormatError{Found: fmt.Sprintf("With %s, reading takes more than %s of memory", what,
			megabytes(b.allMemory)),
			Expected: fmt.Sprintf("At most %s are used for this content.", megabytes(b.allMemory)),
			Remedy:   "Keep less: fewer rows, or one training step."}
	}
	return nil
}

// Grow raises the memory limit by n bytes. Decoders of a stream, whose size is not known, call it as content arrives.
func (b *Budget) Grow(n int) { b.memory, b.allMemory = b.memory+n, b.allMemory+n }

func megabytes(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

// CleanText returns s without characters that could have an effect where it is shown: control characters, which can
// steer a terminal, and marks that change the direction of text. White space becomes a space, the others become U+FFFD.
func CleanText(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return strings.Map(cleanRune, strings.ToValidUTF8(s, "?"))
		}
	}
	return s
}

func cleanRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
		return ' '
	case r < ' ', r >= 0x7f && r < 0xa0, // C0, DEL, C1
		// direction
		r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return utf8.RuneError
	}
	return r
}

// MaxNumber is the largest number of nanoseconds or bytes in a file. Above it, the
// floating-point numbers of other tools are not exact.
const MaxNumber = 1 << 53

// Admit checks every profile that comes from a file: its names and texts are within the limits,
// which it also cleans in place, and no size is above MaxNumber. Decoders make the same checks
// earlier, where they know the line; this one also covers names that they make up, and sums.
func Admit(p *Profile) *FormatError {
	d := door{budget: NewBudget(fileText, 0)}
	for _, s := range []struct {
		what string
		text *string
	}{{"name", &p.Name}, {"dtype", &p.DType}, {"the tool", &p.Source.Tool},
		{"the device of the times", &p.Source.Device}} {
		d.name(s.what, 0, s.text)
	}
	if p.Device != nil {
		d.name("the name of the device", 0, &p.Device.Name)
	}
	d.texts("notes", p.Source.Notes)
	d.texts("warnings", p.Warnings)
	d.text("url", &p.Source.URL)
	if p.Chain != nil {
		d.chain(p.Chain)
	}
	if g := p.Graph; g != nil {
		d.size("What stays on the device", 0, g.Fixed)
		for i := range g.Values {
			d.name("the name of value", i+1, &g.Values[i].Name)
			d.size("Value", i+1, g.Values[i].Size)
		}
		for i := range g.Ops {
			d.name("the name of operation", i+1, &g.Ops[i].Name)
			d.size("The temporary memory of operation", i+1, g.Ops[i].Temp)
		}
	}
	if m := p.Memory; m != nil {
		for i := range m.Requests.Buffers {
			d.name("the name of buffer", i+1, &m.Requests.Buffers[i].Name)
			d.size("Buffer", i+1, m.Requests.Buffers[i].Bytes)
		}
		if m.Recorded != nil {
			d.size("The end of the addresses", 0, m.Recorded.Pool)
		}
	}
	return d.err
}

// door charges a budget and cleans texts; err is the first error.
type door struct {
	budget *Budget
	err    *FormatError
}

func (d *door) chain(c *engine.Chain) {
	d.name("the name of the chain", 0, &c.Name)
	for _, size := range []engine.Bytes{c.Input, c.InputGrad, c.Resident.Weights, c.Resident.Grads,
		c.Resident.Optimizer, c.Resident.Pinned} {
		d.size("What is there before the step", 0, size)
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		d.name("the name of stage", i+1, &s.Name)
		d.name("the kind of stage", i+1, &s.Kind)
		for _, size := range []engine.Bytes{s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp} {
			d.size("What belongs to stage", i+1, size)
		}
	}
}

// size refuses sizes above MaxNumber, which no file can hold.
func (d *door) size(what string, number int, size engine.Bytes) {
	if size <= MaxNumber || d.err != nil {
		return
	}
	if number > 0 {
		what = fmt.Sprintf("%s %d", what, number)
	}
	d.err = &FormatError{Found: fmt.Sprintf("%s comes to %d bytes", what, size),
		Expected: "Sizes above 2^53 bytes are not read.", Remedy: "Check the unit of the sizes."}
}

func (d *door) name(what string, number int, s *string) {
	if len(*s) > MaxName || len(*s) > d.budget.text { // Name will refuse it: number is put into the message only then
		if number > 0 {
			what = fmt.Sprintf("%s %d", what, number)
		}
	}
	if e := d.budget.Name(what, len(*s)); e != nil && d.err == nil {
		d.err = e
	}
	*s = CleanText(*s)
}

func (d *door) text(what string, s *string) {
	if e := d.budget.Text(what, len(*s)); e != nil && d.err == nil {
		d.err = e
	}
	*s = CleanText(*s)
}

func (d *door) texts(what string, list []string) {
	if len(list) > MaxNotes && d.err == nil {
		d.err = TooManyNotes(what, len(list))
	}
	for i := range list {
		d.text(what, &list[i])
	}
}

// TooManyNotes returns the error for n notes or warnings where MaxNotes are allowed; what is "notes" or "warnings".
func TooManyNotes(what string, n int) *FormatError {
	return &FormatError{Found: fmt.Sprintf("There are %d %s", n, what),
		Expected: fmt.Sprintf("At most %d are read.", MaxNotes), Remedy: "Remove some."}
}
