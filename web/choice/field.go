package choice

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/web/format"
)

// Field is one thing that can be said in a T, under its key in links. A key that
// ends in a dot stands for arguments, each under the key with its name behind it.
type Field[T any] struct {
	Key  string
	Get  func(*T) string        // as links write it; "" if nothing is said
	Set  func(*T, string) error // from what people write; after an error nothing is said
	Args func(*T) *engine.Args  // instead of Get and Set, if the key ends in a dot
	For  Scope
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

// Table is the fields of a T in the order in which links are written.
type Table[T any] []Field[T]

// Set takes the value of a key. It reports false if the key is none of the table's.
func (t Table[T]) Set(to *T, key, value string) (known bool, err error) {
	for i := range t {
		f := &t[i]
		if f.Args == nil {
			if f.Key == key {
				return true, f.Set(to, value)
			}
		} else if name, ok := strings.CutPrefix(key, f.Key); ok && name != "" {
			args := f.Args(to)
			if *args == nil {
				*args = engine.Args{}
			}
			(*args)[name] = value
			return true, nil
		}
	}
	return false, nil
}

// Write calls add with all that is said, in the order of the table and arguments in
// that of their names.
func (t Table[T]) Write(from *T, add func(key, value string)) {
	for i := range t {
		f := &t[i]
		if f.Args == nil {
			if value := f.Get(from); value != "" {
				add(f.Key, value)
			}
			continue
		}
		args := *f.Args(from)
		for _, name := range slices.Sorted(maps.Keys(args)) {
			if args[name] != "" {
				add(f.Key+name, args[name])
			}
		}
	}
}

// Of is the field of a key, which may be that of an argument; nil if there is none.
func (t Table[T]) Of(key string) *Field[T] {
	for i := range t {
		if f := &t[i]; f.Key == key || f.Args != nil && strings.HasPrefix(key, f.Key) {
			return f
		}
	}
	return nil
}

// Text is a field that holds what was written, in lower case: names.
func Text[T any](key string, of func(*T) *string) Field[T] {
	return Field[T]{Key: key,
		Get: func(t *T) string { return *of(t) },
		Set: func(t *T, value string) error { *of(t) = strings.ToLower(value); return nil }}
}

// Word is a field that holds one of some words. That of the default, if it is among
// them, says nothing.
func Word[T any](key string, of func(*T) *string, usual string, words ...string) Field[T] {
	return Field[T]{Key: key,
		Get: func(t *T) string {
			if *of(t) == usual {
				return ""
			}
			return *of(t)
		},
		Set: func(t *T, value string) error {
			*of(t) = ""
			if value = strings.ToLower(value); !slices.Contains(words, value) {
				return Sentence("%q is not known; expected %s.", value, strings.Join(words, " or "))
			}
			if value != usual {
				*of(t) = value
			}
			return nil
		}}
}

// About is the field, with a scope.
func (f Field[T]) About(s Scope) Field[T] {
	f.For = s
	return f
}

// unless is the field, not written where another says as much.
func (f Field[T]) unless(other func(*T) bool) Field[T] {
	get := f.Get
	f.Get = func(t *T) string {
		if other(t) {
			return ""
		}
		return get(t)
	}
	return f
}

func args(key string, of func(*Said) *engine.Args) Field[Said] {
	return Field[Said]{Key: key, Args: of}
}

func rate(key string, of func(*Said) *engine.Rate) Field[Said] {
	return Field[Said]{Key: key,
		Get: func(s *Said) string { return rateText(*of(s)) },
		Set: func(s *Said, value string) (err error) { *of(s), err = parseRate(value); return err }}
}

// parseRate also reads 12.5GBps, which needs no escape anywhere.
func parseRate(value string) (engine.Rate, error) {
	if text, ok := strings.CutSuffix(value, "ps"); ok {
		value = text + "/s"
	}
	return format.ParseRate(value)
}

// rateText is exact: 12.5GBps, or bytes per second where that is no short number.
func rateText(r engine.Rate) string {
	if r <= 0 {
		return ""
	}
	s := strconv.FormatFloat(float64(r)/1e9, 'f', -1, 64)
	if back, err := parseRate(s + "GBps"); err == nil && back == r {
		return s + "GBps"
	}
	return strconv.FormatInt(int64(r), 10) + "Bps"
}

// Fields is all that can be said of a choice, but for the profile in a link.
var Fields = Table[Said]{
	Text("p", func(s *Said) *string { return &s.Preset }).unless(func(s *Said) bool { return s.Profile != nil }),
	Word("from", func(s *Said) *string { return &s.From }, "", FromBlob, FromFile).About(OnlyB),
	Word("kind", func(s *Said) *string { return &s.Kind }, "", "chain", "graph", "memory"),
	Text("dev", func(s *Said) *string { return &s.Device }),
	{Key: "m", Get: func(s *Said) string { return s.Budget.String() },
		Set: func(s *Said, value string) (err error) { s.Budget, err = ParseBudget(value); return err }},
	Text("s", func(s *Said) *string { return &s.Strategy }),
	args("s.", func(s *Said) *engine.Args { return &s.Args }),
	rate("bw", func(s *Said) *engine.Rate { return &s.ToDev }),
	rate("bwd", func(s *Said) *engine.Rate { return &s.ToHost }).unless(func(s *Said) bool { return s.ToHost == s.ToDev }),
	Word("duplex", func(s *Said) *string { return &s.Duplex }, "", "half", "full"),
	Word("xfer", func(s *Said) *string { return &s.Transfers }, "", "whole", "streamed"),
	Text("alloc", func(s *Said) *string { return &s.Alloc }).About(OnlyA),
	args("alloc.", func(s *Said) *engine.Args { return &s.AllocArgs }).About(OnlyA),
}

// FieldsOf are those of A, or of B, of a comparison.
func FieldsOf(b bool) Table[Said] {
	not := OnlyB
	if b {
		not = OnlyA
	}
	return slices.DeleteFunc(slices.Clone(Fields), func(f Field[Said]) bool { return f.For == not })
}
