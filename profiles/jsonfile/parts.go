package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// Bounds on what is decoded, which can take forty times the memory of its text. Open checks the syntax of the whole
// text, then splits it without copies; only parts of bounded size are decoded, one at a time.
const (
	mostDepth  = 64      // nested lists and objects: decoders recurse
	mostString = 64_000  // bytes of a text or a key, with its escapes
	mostPart   = 1 << 20 // bytes of a part that is decoded at once: an item of a list, or a field
)

// maxJSON is the largest text that is read. It is far above the size of the longest chain and
// the most buffers, and short enough for the syntax check, which cannot be interrupted.
const maxJSON = 192 << 20

// Open returns the object that is the whole content. Its fields are decoded when they are read,
// and lists item by item, so that reading a long file can be stopped.
func Open(data []byte, errs *parse.Errors) *Object {
	if len(data) > maxJSON {
		errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("The profile is larger than %d MiB", maxJSON>>20),
			Expected: fmt.Sprintf("At most %d MiB are read.", maxJSON>>20), Remedy: "Keep only the stages."})
	}
	errs.Fail(scan(data))
	// json.Valid is faster than json.Unmarshal, which returns the reason.
	if !json.Valid(data) || bytes.TrimLeft(data, " \t\r\n")[0] != '{' {
		errs.Fail(syntaxError(data, json.Unmarshal(data, &struct{}{})))
	}
	fields, e := split(data)
	errs.Fail(e)
	return &Object{Fields: fields, Errs: errs, Known: &Keys{}}
}

// scan refuses content that is nested too deep, or has texts or numbers that are too long. It
// does not check the syntax.
func scan(data []byte) *profiles.FormatError {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			n := (&Stream{Eof: true}).stringEnd(data, i) - i
			if n < 0 {
				n = len(data) - i
			}
			if n > mostString {
				return tooLongJSON(data, i, "a text", n, mostString)
			}
			i += n - 1
		case c == '{' || c == '[':
			depth++
			if depth > mostDepth {
				return &profiles.FormatError{Line: lineAt(data, i),
					Found:    fmt.Sprintf("lists and objects are nested deeper than %d", mostDepth),
					Expected: fmt.Sprintf("At most %d levels are read.", mostDepth),
					Remedy:   "Write a profile as the documentation of the format shows it."}
			}
		case c == '}' || c == ']':
			depth--
		case c >= '0' && c <= '9':
			n := 1
			for i+n < len(data) && strings.IndexByte("0123456789.eE-+", data[i+n]) >= 0 {
				n++
			}
			if n > parse.MostDigits {
				return tooLongJSON(data, i, "a number", n, parse.MostDigits)
			}
			i += n - 1
		}
	}
	return nil
}

func tooLongJSON(data []byte, at int, what string, n, most int) *profiles.FormatError {
	return &profiles.FormatError{Line: lineAt(data, at),
		Found: fmt.Sprintf("%s after %s is %d bytes long", what,
			keyBefore(bytes.TrimRight(data[:at], ": \t\r\n")), n),
		Expected: fmt.Sprintf("At most %d bytes are read.", most), Remedy: "Shorten it."}
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// split returns the fields of an object of valid JSON. They are parts of data. If a name is
// repeated, its last field counts.
func split(data []byte) (fields map[string]any, many *profiles.FormatError) {
	fields = map[string]any{}
	(&Stream{Eof: true}).EachField(bytes.TrimSpace(data), func(key, value []byte) {
		if len(fields) < mostKeys {
			fields[unquote(key)] = json.RawMessage(value)
			return
		}
		many = &profiles.FormatError{Found: fmt.Sprintf("An object has more than %d keys", mostKeys),
			Expected: fmt.Sprintf("At most %d are read.", mostKeys), Remedy: "Keep only the keys of the format."}
	})
	return fields, many
}

// EachIn calls visit with the items of a list of at most most items, decoding one at a time. It
// reports whether the field is a list.
func (o *Object) EachIn(key string, most int, poll *engine.Poll, visit func(i int, v any)) (found bool) {
	o.Knows(key)
	raw, _ := o.Fields[key].(json.RawMessage)
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	i := 0
	s := &Stream{Eof: true}
	for item, rest := s.NextItem(raw[1:]); item != nil; item, rest = s.NextItem(rest) {
		profiles.End(poll.Err())
		if i == most {
			o.Errs.Fail(&profiles.FormatError{Path: o.At(key),
				Found:    fmt.Sprintf("There are more than %d %s", most, key),
				Expected: fmt.Sprintf("At most %d are read.", most),
				Remedy:   "Keep those of one training step, or join small ones."})
		}
		if len(item) > mostPart {
			o.Errs.Fail(tooLargePart(fmt.Sprintf("%s[%d]", o.At(key), i), len(item)))
		}
		visit(i, s.decode(item))
		if o.Errs.Enough() {
			o.Errs.End()
		}
		i++
	}
	return true
}

func tooLargePart(path string, n int) *profiles.FormatError {
	return &profiles.FormatError{Path: path, Found: fmt.Sprintf("%s is %d bytes long", path, n),
		Expected: fmt.Sprintf("At most %d bytes are read.", mostPart), Remedy: "Keep only what the format has."}
}

// decode decodes a part of valid JSON whose depth has been checked. Numbers become json.Number.
func (s *Stream) decode(raw []byte) any {
	switch raw[0] {
	case '{':
		object := map[string]any{}
		s.EachField(raw, func(key, value []byte) { object[unquote(key)] = s.decode(value) })
		return object
	case '[':
		list := []any{}
		for item, rest := s.NextItem(raw[1:]); item != nil; item, rest = s.NextItem(rest) {
			list = append(list, s.decode(item))
		}
		return list
	case '"':
		return unquote(raw[1 : len(raw)-1])
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(raw)
}

// unquote returns the text between the quotes of valid JSON.
func unquote(inner []byte) (text string) {
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, inner, []byte{'"'}), &text) // it cannot fail
	return text
}

// Outer yields the keys of the outermost object, and their values if these are texts. The
// content may be cut off anywhere.
func Outer(head []byte) iter.Seq2[string, string] {
	return func(yield func(key, text string) bool) {
		s := &Stream{buf: head, end: len(head), Eof: true}
		if s.Next() != '{' {
			return
		}
		s.Pos++
		for s.Next() == '"' {
			var name, text string
			key, err := s.Value()
			if err != nil || json.Unmarshal(key, &name) != nil {
				return
			}
			var value []byte
			if s.Next() == ':' {
				s.Pos++
				value, _ = s.Value() // nil if head ends within the value
			}
			if len(value) > 0 && value[0] == '"' {
				_ = json.Unmarshal(value, &text)
			}
			if !yield(name, text) || value == nil {
				return
			}
			if s.Next() == ',' {
				s.Pos++
			}
		}
	}
}
