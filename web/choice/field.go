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

// Field is a key of links and its value or, if the key ends in a dot, arguments. The key of
// an argument is the field's key followed by its name.
type Field struct {
	Key    string
	Value  Value
	Args   *engine.Args // instead of Value
	For    Scope
	Silent bool // not written, because another field implies it

	_ [0]func() // makes fields incomparable: comparing them would be code that the page loads
}

// Value is a flag.Value that refers to where the value is stored. String returns the form in links, ""
// for a value that says nothing. Set parses what people write; after an error the value says nothing.
type Value interface {
	String() string
	Set(value string) error
}

// Scope is what a field belongs to.
type Scope uint8

// The scopes.
const (
	Both    Scope = iota // both sides of a comparison
	OnlyA                // side A: the page has only one
	OnlyB                // side B: how it differs from A
	Network              // the look of the current network; another network resets it
	Page                 // how the page looks within another page, which decides it
	Embed                // like Page, only for views
)

// Fields returns the fields of a choice in the order of links, without the profile.
var Fields = func(s *Said) Table {
	return Table{
		{Key: "p", Value: Name(&s.Preset), Silent: s.Profile != nil},
		{Key: "from", Value: Word(&s.From, "", FromBlob, FromFile), For: OnlyB},
		{Key: "kind", Value: Word(&s.Kind, "", "chain", "graph", "memory")},
		{Key: "dev", Value: Name(&s.Device)},
		{Key: "m", Value: &s.Budget},
		{Key: "s", Value: Name(&s.Strategy)},
		{Key: "s.", Args: &s.Args},
		{Key: "policy.", Args: &s.Policy},
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

// FieldsOf returns the fields of side A of a comparison or, if b is true, of side B.
func FieldsOf(s *Said, b bool) Table {
	not := OnlyB
	if b {
		not = OnlyA
	}
	return slices.DeleteFunc(Fields(s), func(f Field) bool { return f.For == not })
}

// Table is a list of fields.
type Table []Field

// Set sets the value of a key. It reports false if the table does not have the key.
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
	(*f.Args)[key[len(f.Key):]] = strings.ToLower(value)
	return true, nil
}

// Write calls add for every value that says something, in the order of the table. Arguments
// are in the order of their names.
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

// Of returns the field of a key, which may be the key of an argument, or nil if there is none.
func (t Table) Of(key string) *Field {
	for i := range t {
		if f := &t[i]; f.Key == key || f.Args != nil && strings.HasPrefix(key, f.Key) {
			return f
		}
	}
	return nil
}

// Name returns a value that is converted to lower case.
func Name(p *string) Value { return &plain{p, strings.ToLower} }

// Text returns a value that is not changed.
func Text(p *string) Value { return &plain{p, func(value string) string { return value }} }

// plain is a text, to which Set applies clean.
type plain struct {
	p     *string
	clean func(string) string
}

func (x *plain) String() string { return *x.p }

func (x *plain) Set(value string) error {
	*x.p = x.clean(value)
	return nil
}

// Word returns a value that is one of words. The usual one is stored as "" and says nothing.
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

// stepName returns the id of the model called value, see ask.Named, or the text of a config.json unchanged.
func stepName(value string) string {
	if ask.IsConfig(value) {
		return value
	}
	if m := ask.Named(value); m != nil {
		return m.ID
	}
	return strings.ToLower(value)
}

type rate engine.Rate

// String returns the exact rate: as 12.5GBps, or in bytes per second if parsing that is inexact.
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

// parseRate is format.ParseRate that also accepts 12.5GBps, which needs no escaping in links.
func parseRate(value string) (engine.Rate, error) {
	if text, ok := strings.CutSuffix(value, "ps"); ok {
		value = text + "/s"
	}
	return format.ParseRate(value)
}

// Said is what a link or flags say about a choice or, for side B, about its difference from A.
// A field with its zero value says nothing.
type Said struct {
	Preset  string            // reference of a preset, "resnet101-b32"
	Profile *profiles.Profile // from a link or a file; nil if the source is a preset
	Ops     string            // operators of Profile, as Source.Ops, not validated
	From    string            // for side B: FromBlob or FromFile if its network is neither A's nor a preset
	// "graph" for the operations of a profile that also has a chain, "memory" for a file with addresses, "chain" or ""
	Kind string

	Device    string // id of a device
	Budget    Budget
	Strategy  string
	Args      engine.Args
	Policy    engine.Args // see Choice.Policy
	ToDev     engine.Rate // 0: the device's
	ToHost    engine.Rate // 0: the same as ToDev, or the device's
	Duplex    string      // "half", "full" or ""
	Transfers string      // "whole", "streamed" or ""

	Alloc     string // allocator of the open address view; "" if the view is closed
	AllocArgs engine.Args

	// Step is a language model, by name or by the text of its config.json, whose whole training step is estimated;
	// "" for a schedule.
	Step     string
	StepArgs engine.Args // options of the step, see package ask
}

// Values of Said.From.
const (
	FromBlob = "link" // the network of B is in the link, in b.d
	FromFile = "file" // the network of B is in a file that no link can hold
)
