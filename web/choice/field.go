package choice

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
)

// Field is one thing that can be said, under its key in links: one value or, if the
// key ends in a dot, arguments, each under the key with its name behind it.
type Field struct {
	Key    string
	Value  Value
	Args   *engine.Args // instead of Value
	For    Scope
	Silent bool // it is not written: another field says as much

	_ [0]func() // fields are not compared: that would be code that the page loads
}

// Value is a value where it is kept, a flag.Value: String is as links write it, ""
// if nothing is said. Set reads what people write; after an error nothing is said.
type Value interface {
	String() string
	Set(value string) error
}

// Scope is what a field is about, where that makes a difference.
type Scope uint8

// The scopes.
const (
	Both    Scope = iota // of a choice: A and B of a comparison
	OnlyA                // of a choice: the page has one
	OnlyB                // of a choice: about how B differs from A
	Network              // of a view: about the network that is shown, and goes with it
	Page                 // of a view: how it sits in its page, which decides it
	Embed                // of a view in another page: like Page
)

// Fields is all that can be said of a choice, but for the profile in a link, in the
// order in which links are written.
var Fields = func(s *Said) Table {
	return Table{
		{Key: "p", Value: Name(&s.Preset), Silent: s.Profile != nil},
		{Key: "from", Value: Word(&s.From, "", FromBlob, FromFile), For: OnlyB},
		{Key: "kind", Value: Word(&s.Kind, "", "chain", "graph", "memory")},
		{Key: "dev", Value: Name(&s.Device)},
		{Key: "m", Value: &s.Budget},
		{Key: "s", Value: Name(&s.Strategy)},
		{Key: "s.", Args: &s.Args},
		{Key: "bw", Value: (*rate)(&s.ToDev)},
		{Key: "bwd", Value: (*rate)(&s.ToHost), Silent: s.ToHost == s.ToDev},
		{Key: "duplex", Value: Word(&s.Duplex, "", "half", "full")},
		{Key: "xfer", Value: Word(&s.Transfers, "", "whole", "streamed")},
		{Key: "alloc", Value: Name(&s.Alloc), For: OnlyA},
		{Key: "alloc.", Args: &s.AllocArgs, For: OnlyA},
		{Key: "step", Value: &plain{&s.Step, stepName}, For: OnlyA},
		{Key: "step.", Args: &s.StepArgs, For: OnlyA},
		{Key: "ops", Value: Text(&s.Ops), Silent: s.Profile == nil},
	}
}

// FieldsOf returns those of A, or of B, of a comparison.
func FieldsOf(s *Said, b bool) (t Table) {
	not := OnlyB
	if b {
		not = OnlyA
	}
	for _, f := range Fields(s) {
		if f.For != not {
			t = append(t, f)
		}
	}
	return t
}

// Table is the fields of something that is said.
type Table []Field

// Set takes the value of a key. It reports false if the key is none of the table's.
func (t Table) Set(key, value string) (known bool, err error) {
	f := t.Of(key)
	switch {
	case f == nil || key == f.Key && f.Args != nil:
		return false, nil
	case f.Args == nil:
		return true, f.Value.Set(value)
	case *f.Args == nil:
		*f.Args = engine.Args{}
	}
	(*f.Args)[key[len(f.Key):]] = value
	return true, nil
}

// Write calls add with all that is said, in the order of the table and arguments in
// that of their names.
func (t Table) Write(add func(key, value string)) {
	for _, f := range t {
		if f.Args != nil {
			for _, name := range slices.Sorted(maps.Keys(*f.Args)) {
				if value := (*f.Args)[name]; value != "" {
					add(f.Key+name, value)
				}
			}
		} else if value := f.Value.String(); value != "" && !f.Silent {
			add(f.Key, value)
		}
	}
}

// Of returns the field of a key, which may be that of an argument, or nil if there is none.
func (t Table) Of(key string) *Field {
	for i := range t {
		if f := &t[i]; f.Key == key || f.Args != nil && strings.HasPrefix(key, f.Key) {
			return f
		}
	}
	return nil
}

// Name returns a value that is a name: capitals do not matter.
func Name(p *string) Value { return &plain{p, strings.ToLower} }

// Text returns a value that is kept as it is.
func Text(p *string) Value { return &plain{p, func(value string) string { return value }} }

// plain is a text, as clean leaves it.
type plain struct {
	p     *string
	clean func(string) string
}

func (x *plain) String() string { return *x.p }

func (x *plain) Set(value string) error {
	*x.p = x.clean(value)
	return nil
}

// Word returns a value that is one of some words, of which the usual one says nothing.
func Word(p *string, usual string, words ...string) Value { return &word{p, usual, words} }

type word struct {
	p     *string
	usual string
	words []string
}

func (w *word) String() string {
	if *w.p == w.usual {
		return ""
	}
	return *w.p
}

func (w *word) Set(value string) error {
	*w.p = ""
	if value = strings.ToLower(value); !slices.Contains(w.words, value) {
		return Sentence("%q is not known; expected %s.", value, strings.Join(w.words, " or "))
	}
	if value != w.usual {
		*w.p = value
	}
	return nil
}

// stepName returns the name of a model, or the text of a config.json, which is kept as it is.
func stepName(value string) string {
	if ask.IsConfig(value) {
		return value
	}
	return strings.ToLower(value)
}

type rate engine.Rate

// String is exact: 12.5GBps, or bytes per second where that is no short number.
func (r *rate) String() string {
	if *r <= 0 {
		return ""
	}
	s := strconv.FormatFloat(float64(*r)/1e9, 'f', -1, 64)
	if back, err := parseRate(s + "GBps"); err == nil && back == engine.Rate(*r) {
		return s + "GBps"
	}
	return strconv.FormatInt(int64(*r), 10) + "Bps"
}

func (r *rate) Set(value string) error {
	x, err := parseRate(value)
	*r = rate(x)
	return err
}

// parseRate also reads 12.5GBps, which needs no escape anywhere.
func parseRate(value string) (engine.Rate, error) {
	if text, ok := strings.CutSuffix(value, "ps"); ok {
		value = text + "/s"
	}
	return format.ParseRate(value)
}

// Said is what a link or flags say of a choice; of side B, what differs from A. The
// zero value of a field says nothing.
type Said struct {
	Preset  string            // reference of a preset, "resnet101-b32"
	Profile *profiles.Profile // from a link or a file; nil if the source is a preset
	Ops     string            // of Profile, as Source has them; they have not been looked at
	From    string            // of side B: FromBlob or FromFile if its network is neither A's nor a preset
	// "graph": of a network that is both, the operations instead of the chain; "memory": a file about addresses;
	// "chain" or ""
	Kind string

	Device    string // id of a device
	Budget    Budget
	Strategy  string
	Args      engine.Args
	ToDev     engine.Rate // 0: the device's
	ToHost    engine.Rate // 0: as ToDev, or the device's
	Duplex    string      // "half", "full" or ""
	Transfers string      // "whole", "streamed" or ""

	Alloc     string // allocator of the address view, which is open; "": it is closed
	AllocArgs engine.Args

	// language model whose whole training step is asked about, or the text of its config.json; "": a schedule is
	// asked for
	Step     string
	StepArgs engine.Args // what is chosen about it, see package ask
}

// Where the network of side B is, if it is not A's: Said.From.
const (
	FromBlob = "link" // in b.d
	FromFile = "file" // in a file that no link holds
)
