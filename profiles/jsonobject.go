package profiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
)

// jsonObject is an object of a JSON file on its way into a profile: its readers
// collect errors with their paths, and remember which keys have a meaning.
type jsonObject struct {
	path   string // of the object, "" for the outermost
	fields map[string]any
	errs   *errorList
	known  *knownKeys
}

// knownKeys are the keys that were asked for, and the others that were seen.
type knownKeys struct {
	known []string
	other []string // in quotes
}

func (o *jsonObject) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// knows remembers that a key has a meaning.
func (o *jsonObject) knows(key string) {
	if !slices.Contains(o.known.known, key) {
		o.known.known = append(o.known.known, key)
	}
}

// value is a field; nil if it is missing or null, or too large to be decoded.
func (o *jsonObject) value(key string) any {
	o.knows(key)
	raw, ok := o.fields[key].(json.RawMessage)
	if !ok {
		return o.fields[key]
	}
	var v any
	if len(raw) > mostPart {
		o.errs.stop(tooLargePart(o.at(key), len(raw)))
	} else {
		v = newPartDecoder().decode(raw) // the outer pass has checked the syntax
	}
	o.fields[key] = v
	return v
}

// raw is a field that is an object and may be large, taken apart and not decoded;
// nil if it is none.
func (o *jsonObject) raw(key string) *jsonObject {
	raw, _ := o.fields[key].(json.RawMessage)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	o.knows(key)
	fields, e := splitJSON(raw)
	if e != nil {
		e.Path = o.at(key)
		o.errs.stop(e)
	}
	return &jsonObject{path: o.at(key), fields: fields, errs: o.errs, known: &knownKeys{}}
}

func (o *jsonObject) wrong(key string, v any, expected string) {
	o.errs.add(&FormatError{Path: o.at(key), Found: key + " is " + jsonText(v),
		Expected: expected, Remedy: "Correct the value of " + o.at(key) + "."})
}

// jsonText shows a decoded value in a message.
func jsonText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(clip(v))
	}
	return clip(fmt.Sprint(v))
}

// text reads a name.
func (o *jsonObject) text(key string) string {
	switch v := o.value(key).(type) {
	case nil:
	case string:
		return o.charged(key, v, o.errs.budget.Name(key, len(v)))
	default:
		o.wrong(key, v, "A text in quotes is expected.")
	}
	return ""
}

// charged is a text that has room, clean; empty if it has none.
func (o *jsonObject) charged(key, text string, e *FormatError) string {
	if e != nil {
		e.Path = o.at(key)
		o.errs.stop(e)
		return ""
	}
	return CleanText(text)
}

// longText reads a text that is no name.
func (o *jsonObject) longText(key string) string {
	if v, ok := o.value(key).(string); ok {
		return o.charged(key, v, o.errs.budget.Text(key, len(v)))
	}
	return o.text(key)
}

// number is the text of a number. Anything else comes out as a text that no
// quantity reads, so that the message names it.
func (o *jsonObject) number(key string) (string, bool) {
	switch v := o.value(key).(type) {
	case nil:
		return "", false
	case json.Number:
		return v.String(), true
	default:
		return jsonText(v), true
	}
}

// count reads a number; 0 if it is missing.
func (o *jsonObject) count(key string, q quantity) int64 {
	text, ok := o.number(key)
	if !ok {
		return 0
	}
	v, e := q.read(key, text)
	if e != nil {
		e.Path = o.at(key)
		o.errs.add(e)
	}
	return v
}

func (o *jsonObject) size(key string) engine.Bytes { return engine.Bytes(o.count(key, byteCount)) }

// rate reads a bandwidth, rounded down.
func (o *jsonObject) rate(key string) engine.Rate {
	v := o.count(key, bandwidth)
	if text, _ := o.number(key); v > 0 {
		mantissa, exponent, _, _ := splitDecimal(text)
		if _, fraction, _ := scaleDecimal(mantissa, exponent); fraction {
			v--
		}
	}
	return engine.Rate(v)
}

func (o *jsonObject) flag(key string) bool {
	switch v := o.value(key).(type) {
	case nil:
	case bool:
		return v
	default:
		o.wrong(key, v, "true or false is expected.")
	}
	return false
}

// object is a field that is an object; an empty one if it is missing.
func (o *jsonObject) object(key string) *jsonObject {
	sub := &jsonObject{path: o.at(key), errs: o.errs, known: &knownKeys{}}
	switch v := o.value(key).(type) {
	case nil:
	case map[string]any:
		sub.fields = v
	default:
		o.wrong(key, v, "An object { } is expected.")
	}
	return sub
}

func (o *jsonObject) list(key string) []any {
	switch v := o.value(key).(type) {
	case nil:
	case []any:
		return v
	default:
		o.wrong(key, v, "A list [ ] is expected.")
	}
	return nil
}

func (o *jsonObject) texts(key string) (list []string) {
	items := o.list(key)
	if len(items) > MaxNotes {
		o.errs.stop(tooManyNotes(o.at(key), len(items)))
		return nil
	}
	for i, v := range items {
		at := fmt.Sprintf("%s[%d]", key, i)
		s, ok := v.(string)
		if !ok {
			o.wrong(at, v, "A text in quotes is expected.")
			continue
		}
		list = append(list, o.charged(at, s, o.errs.budget.Text(at, len(s))))
	}
	return list
}

// Of unknown keys, mostOthers are remembered; an object with more than mostKeys
// keys is only counted.
const (
	mostOthers = 20
	mostKeys   = 1000
)

// noteOthers remembers the keys that nobody asked for.
func (o *jsonObject) noteOthers() {
	if len(o.known.other) >= mostOthers {
		return
	}
	if n := len(o.fields); n > mostKeys {
		o.known.other = append(o.known.other, fmt.Sprintf("nearly all of %d", n))
		return
	}
	var other []string
	for key := range o.fields {
		quoted := strconv.Quote(clip(key))
		if !slices.Contains(o.known.known, key) && !slices.Contains(o.known.other, quoted) {
			other = append(other, quoted)
		}
	}
	slices.Sort(other)
	o.known.other = append(o.known.other, other[:min(len(other), mostOthers-len(o.known.other))]...)
}

// warning names the keys that were skipped: a misspelt key would otherwise pass
// for a default.
func (k *knownKeys) warning(where string) []string {
	if len(k.other) == 0 {
		return nil
	}
	return []string{"Keys that mean nothing " + where + " were skipped: " + clip(strings.Join(k.other, ", ")) + "."}
}

// jsonSyntax explains why data is not JSON.
func jsonSyntax(data []byte, err error) *FormatError {
	e := &FormatError{Found: "This is not valid JSON", Expected: "One JSON object is expected.",
		Remedy: "Repair the file, or write it with a JSON library."}
	syntax, ok := err.(*json.SyntaxError)
	if !ok {
		return e
	}
	at := min(max(0, int(syntax.Offset)-1), len(data))
	e.Line = 1 + bytes.Count(data[:at], []byte("\n"))
	rest := data[at:]
	switch {
	case int(syntax.Offset) >= len(data) && len(bytes.TrimSpace(rest)) <= 1 && strings.Contains(syntax.Error(), "unexpected end"):
		e.Found, e.Expected = "the file ends early", "A complete JSON object is expected."
		e.Remedy = "Copy or download the file again."
	case bytes.HasPrefix(rest, []byte("NaN")), bytes.HasPrefix(rest, []byte("Infinity")):
		e.Found = keyBefore(data[:at]) + " is NaN or infinite"
		e.Expected, e.Remedy = "Numbers are finite.", "Correct the number: it often comes from a measurement that did not run."
	default:
		e.Found = "this is not valid JSON (" + syntax.Error() + ")"
	}
	return e
}

// keyBefore is the last key that stands before a value.
func keyBefore(data []byte) string {
	data = bytes.TrimRight(data, "-NI: \t\r\n")
	if open := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte(`"`)), '"'); open >= 0 && bytes.HasSuffix(data, []byte(`"`)) {
		return clip(string(bytes.Trim(data[open:], `"`)))
	}
	return "a number"
}
