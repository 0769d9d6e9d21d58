// Package jsonfile reads JSON for formats. Object is for files in memory: its errors have a
// path, and its parts are bounded in size. Stream is for files that are read piece by piece.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// Object is an object of a JSON file that is being converted to a profile. Its methods collect
// errors with their paths, and remember the known keys.
type Object struct {
	Path   string // of the object, "" for the outermost
	Fields map[string]any
	Errs   *parse.Errors
	Known  *Keys
}

// Keys holds the keys that were read, and the other keys of the same objects.
type Keys struct {
	known []string
	other []string // in quotes
}

// At returns the path of a field.
func (o *Object) At(key string) string {
	if o.Path == "" {
		return key
	}
	return o.Path + "." + key
}

// Knows records that a key has a meaning.
func (o *Object) Knows(key string) {
	if !slices.Contains(o.Known.known, key) {
		o.Known.known = append(o.Known.known, key)
	}
}

// Value returns a field. It returns nil if the field is missing or null. A field that is too
// large to be decoded ends reading.
func (o *Object) Value(key string) any {
	o.Knows(key)
	raw, ok := o.Fields[key].(json.RawMessage)
	if !ok {
		return o.Fields[key]
	}
	if len(raw) > mostPart {
		o.Errs.Fail(tooLargePart(o.At(key), len(raw)))
	}
	v := (&Stream{Eof: true}).decode(raw) // Open has checked the syntax
	o.Fields[key] = v
	return v
}

// Raw returns a field that is an object and may be large, split into fields that are not
// decoded. It returns nil if the field is missing or not an object.
func (o *Object) Raw(key string) *Object {
	raw, _ := o.Fields[key].(json.RawMessage)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	o.Knows(key)
	fields, e := split(raw)
	o.Errs.Fail(e.At(o.At(key)))
	return &Object{Path: o.At(key), Fields: fields, Errs: o.Errs, Known: &Keys{}}
}

// Wrong adds the error of a field whose value v is not what is expected.
func (o *Object) Wrong(key string, v any, expected string) {
	o.Errs.Add(&profiles.FormatError{Path: o.At(key), Found: key + " is " + Text(v),
		Expected: expected, Remedy: "Correct the value of " + o.At(key) + "."})
}

// Text shows a decoded value in a message.
func Text(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(profiles.Clip(v))
	}
	return profiles.Clip(fmt.Sprint(v))
}

// as returns a field of type T, or the zero value if the field is missing. A field of another type is an error.
func as[T any](o *Object, key, expected string) (v T) {
	switch x := o.Value(key).(type) {
	case nil:
	case T:
		return x
	default:
		o.Wrong(key, x, expected)
	}
	return v
}

// Text reads a name.
func (o *Object) Text(key string) string {
	v := as[string](o, key, "A text in quotes is expected.")
	return o.charged(key, v, o.Errs.Budget.Name(key, len(v)))
}

// charged returns text without control characters. It ends reading if e, the result of charging the budget, is not nil.
func (o *Object) charged(key, text string, e *profiles.FormatError) string {
	o.Errs.Fail(e.At(o.At(key)))
	return profiles.CleanText(text)
}

// LongText reads a text that may be longer than a name.
func (o *Object) LongText(key string) string {
	if v, ok := o.Value(key).(string); ok {
		return o.charged(key, v, o.Errs.Budget.Text(key, len(v)))
	}
	return o.Text(key)
}

// Number returns the text of a number, and whether the field exists. For another value it
// returns a text that no Quantity accepts, so that the error shows it.
func (o *Object) Number(key string) (string, bool) {
	switch v := o.Value(key).(type) {
	case nil:
		return "", false
	case json.Number:
		return v.String(), true
	default:
		return Text(v), true
	}
}

// Count reads a number; it returns 0 if the number is missing.
func (o *Object) Count(key string, q parse.Quantity) int64 {
	text, ok := o.Number(key)
	if !ok {
		return 0
	}
	v, e := q.Read(key, text)
	if e != nil {
		o.Errs.Add(e.At(o.At(key)))
	}
	return v
}

// Size reads a number of bytes; it returns 0 if the number is missing.
func (o *Object) Size(key string) engine.Bytes { return engine.Bytes(o.Count(key, parse.ByteCount)) }

// Time reads a number of seconds as a duration; it returns 0 if the number is missing.
func (o *Object) Time(key string) time.Duration { return time.Duration(o.Count(key, parse.Seconds)) }

// Rate reads a bandwidth, rounded down.
func (o *Object) Rate(key string) engine.Rate {
	v := o.Count(key, parse.Bandwidth)
	if text, _ := o.Number(key); v > 0 {
		mantissa, exponent, _, _ := parse.SplitDecimal(text)
		if _, fraction, _ := parse.ScaleDecimal(mantissa, exponent); fraction {
			v--
		}
	}
	return engine.Rate(v)
}

// Flag reads true or false; it returns false if the field is missing.
func (o *Object) Flag(key string) bool { return as[bool](o, key, "true or false is expected.") }

// AnObject is the expectation in errors about a value that is not an object.
const AnObject = "An object { } is expected."

// Item returns v, the i-th item of a list, as an object with these keys. If v is not an object,
// Item adds an error and returns an object without fields.
func (o *Object) Item(list string, i int, v any, keys *Keys, expected string) *Object {
	item := &Object{Path: fmt.Sprintf("%s[%d]", o.At(list), i), Errs: o.Errs, Known: keys}
	fields, ok := v.(map[string]any)
	if !ok {
		o.Errs.Add(&profiles.FormatError{Path: item.Path, Found: item.Path + " is " + Text(v), Expected: expected,
			Remedy: "Correct the list of " + list + "."})
	}
	item.Fields = fields
	return item
}

// Object returns a field that is an object, or an empty object if the field is missing.
func (o *Object) Object(key string) *Object {
	return &Object{Path: o.At(key), Fields: as[map[string]any](o, key, AnObject), Errs: o.Errs, Known: &Keys{}}
}

// List returns a field that is a list, or nil if it is missing.
func (o *Object) List(key string) []any { return as[[]any](o, key, "A list [ ] is expected.") }

// Texts reads a list of notes or warnings.
func (o *Object) Texts(key string) (list []string) {
	items := o.List(key)
	if len(items) > profiles.MaxNotes {
		o.Errs.Fail(profiles.TooManyNotes(o.At(key), len(items)))
	}
	for i, v := range items {
		at := fmt.Sprintf("%s[%d]", key, i)
		s, ok := v.(string)
		if !ok {
			o.Wrong(at, v, "A text in quotes is expected.")
			continue
		}
		list = append(list, o.charged(at, s, o.Errs.Budget.Text(at, len(s))))
	}
	return list
}

// mostOthers is how many unknown keys are remembered. The keys of an object with more than
// mostKeys keys are only counted.
const (
	mostOthers = 20
	mostKeys   = 1000
)

// NoteOthers records the keys of o that were not read.
func (o *Object) NoteOthers() {
	if len(o.Known.other) >= mostOthers {
		return
	}
	if n := len(o.Fields); n > mostKeys {
		o.Known.other = append(o.Known.other, fmt.Sprintf("nearly all of %d", n))
		return
	}
	var other []string
	for key := range o.Fields {
		if slices.Contains(o.Known.known, key) {
			continue
		}
		if quoted := strconv.Quote(profiles.Clip(key)); !slices.Contains(o.Known.other, quoted) {
			other = append(other, quoted)
		}
	}
	slices.Sort(other)
	o.Known.other = append(o.Known.other, other[:min(len(other), mostOthers-len(o.Known.other))]...)
}

// Warning returns a warning about the unknown keys, or nil. Otherwise the default would silently
// replace the value of a misspelt key.
func (k *Keys) Warning(where string) []string {
	if len(k.other) == 0 {
		return nil
	}
	return []string{"Unknown keys " + where + " were skipped: " + profiles.Clip(strings.Join(k.other, ", ")) + "."}
}

// syntaxError explains why data is not JSON.
func syntaxError(data []byte, err error) *profiles.FormatError {
	e := &profiles.FormatError{Found: "This is not valid JSON", Expected: "One JSON object is expected.",
		Remedy: "Repair the file, or write it with a JSON library."}
	syntax, ok := err.(*json.SyntaxError)
	if !ok {
		return e
	}
	at := min(max(0, int(syntax.Offset)-1), len(data))
	e.Line = lineAt(data, at)
	rest := data[at:]
	switch {
	case int(syntax.Offset) >= len(data) && len(bytes.TrimSpace(rest)) <= 1 &&
		strings.Contains(syntax.Error(), "unexpected end"):
		e.Found, e.Expected = "the file ends early", "A complete JSON object is expected."
		e.Remedy = "Copy or download the file again."
	case bytes.HasPrefix(rest, []byte("NaN")), bytes.HasPrefix(rest, []byte("Infinity")):
		e.Found = keyBefore(data[:at]) + " is NaN or infinite"
		e.Expected, e.Remedy = "Numbers are finite.",
			"Correct the number: it often comes from a measurement that did not run."
	default:
		e.Found = "this is not valid JSON (" + syntax.Error() + ")"
	}
	return e
}

// keyBefore returns the last key before a value.
func keyBefore(data []byte) string {
	data = bytes.TrimRight(data, "-NI: \t\r\n")
	if open := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte(`"`)), '"'); open >= 0 &&
		bytes.HasSuffix(data, []byte(`"`)) {
		return profiles.Clip(string(bytes.Trim(data[open:], `"`)))
	}
	return "a number"
}
