package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// JSON is looked over once before a decoder sees it, and then taken apart without
// copies; only parts of bounded size are decoded, one at a time. What a decoder
// builds can be forty times as large as its text.
const (
	mostDepth  = 64      // lists and objects within each other: decoders recurse
	mostString = 64_000  // bytes of a text or a key, as it is written
	mostPart   = 1 << 20 // bytes of what is decoded at once: an item of a list, or a field
)

// maxJSON is the largest text that is read: far above what the longest chain and the
// most buffers need, and short enough for the outer pass, which cannot be stopped.
const maxJSON = 192 << 20

// Open takes an object apart, which is the whole content. Its fields stay raw until
// they are asked for, and lists are decoded one item at a time, so that a long file can
// be stopped.
func Open(data []byte, errs *parse.Errors) *Object {
	if len(data) > maxJSON {
		errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("The profile is larger than %d MiB", maxJSON>>20),
			Expected: fmt.Sprintf("At most %d MiB are read.", maxJSON>>20), Remedy: "Keep only the stages."})
	}
	if e := scan(data); e != nil {
		errs.Fail(e)
	}
	// Whether it is valid is cheaper to know than why it is not.
	if !json.Valid(data) || bytes.TrimLeft(data, " \t\r\n")[0] != '{' {
		errs.Fail(syntaxError(data, json.Unmarshal(data, &struct{}{})))
	}
	fields, e := split(data)
	if e != nil {
		errs.Fail(e)
	}
	return &Object{Fields: fields, Errs: errs, Known: &Keys{}}
}

// scan refuses content that no profile looks like: nested too deep, with texts
// or numbers that are too long. Whether it is JSON at all is found out later.
func scan(data []byte) *profiles.FormatError {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			end := (&Stream{Eof: true}).stringEnd(data, i)
			if end < 0 {
				end = len(data)
			}
			n := end - i
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
			for i+n < len(data) && isNumeric(data[i+n]) {
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

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+'
}

func tooLongJSON(data []byte, at int, what string, n, most int) *profiles.FormatError {
	return &profiles.FormatError{Line: lineAt(data, at),
		Found: fmt.Sprintf("%s after %s is %d bytes long", what,
			keyBefore(bytes.TrimRight(data[:at], ": \t\r\n")), n),
		Expected: fmt.Sprintf("At most %d bytes are read.", most), Remedy: "Shorten it."}
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// split takes an object apart, which is valid JSON. The fields are parts of
// data; the last of those with one name counts.
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

// EachIn calls visit with the items of a list of at most most, decoded one at a
// time. found is false if there is none.
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

// decode decodes a piece of valid JSON; numbers stay texts. How deep it goes has been checked.
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

// unquote returns the text between quotes of valid JSON.
func unquote(inner []byte) (text string) {
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, inner, []byte{'"'}), &text) // it cannot fail
	return text
}

// Outer goes through the outermost object of a head that may end anywhere: its keys, and
// their values where these are texts.
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
				value, _ = s.Value() // nil where the head ends within it
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
