package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

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
	fields, e := Split(data)
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
			n := textEnd(data[i:])
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

// textEnd returns the length of the text that b begins with, quotes included; all of b
// if it does not end.
func textEnd(b []byte) int {
	for i := 1; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		end, slashes := i+n, 0
		for b[end-1-slashes] == '\\' {
			slashes++ // the first byte, a quote, ends this
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
	return len(b)
}

// nextPart returns the next value behind white space and commas, and what follows it;
// nil at the end of its list or object. It is valid JSON.
func nextPart(b []byte) (part, rest []byte) {
	b = bytes.TrimLeft(b, " \t\r\n,:")
	if len(b) == 0 || b[0] == ']' || b[0] == '}' {
		return nil, nil
	}
	n := (&Stream{Eof: true}).ValueEnd(b)
	return b[:n], b[n:]
}

// Split takes an object apart, which is valid JSON. The fields are parts of
// data; the last of those with one name counts.
func Split(data []byte) (map[string]any, *profiles.FormatError) {
	fields := map[string]any{}
	data = bytes.TrimLeft(data, " \t\r\n")
	for key, rest := nextPart(data[1:]); key != nil; key, rest = nextPart(rest) {
		var name string
		if json.Unmarshal(key, &name) != nil {
			return fields, nil // it cannot be
		}
		if len(fields) == mostKeys {
			return nil, &profiles.FormatError{Found: fmt.Sprintf("An object has more than %d keys", mostKeys),
				Expected: fmt.Sprintf("At most %d are read.", mostKeys), Remedy: "Keep only the keys of the format."}
		}
		var value []byte
		value, rest = nextPart(rest)
		fields[name] = json.RawMessage(value)
	}
	return fields, nil
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
	d := newPartDecoder()
	for item, rest := nextPart(raw[1:]); item != nil; item, rest = nextPart(rest) {
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
		visit(i, d.decode(item))
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

// partDecoder decodes one piece of valid JSON after the other; numbers stay texts.
type partDecoder struct {
	rest []byte // of the piece, and then of a line end, which ends a number
	dec  *json.Decoder
}

func newPartDecoder() *partDecoder {
	d := &partDecoder{}
	d.dec = json.NewDecoder(d)
	d.dec.UseNumber()
	return d
}

func (d *partDecoder) Read(p []byte) (n int, err error) {
	if d.rest == nil {
		return 0, io.EOF
	}
	n = copy(p, d.rest)
	d.rest = d.rest[n:]
	if len(d.rest) == 0 && n < len(p) {
		p[n] = '\n'
		n++
		d.rest = nil
	}
	return n, nil
}

func (d *partDecoder) decode(raw []byte) (v any) {
	d.rest = raw
	if d.dec.Decode(&v) != nil {
		return nil // the syntax has been checked, so it cannot be
	}
	return v
}

// Outer goes through the outermost object of a head that may end anywhere: its keys, and
// their values where these are texts.
func Outer(head []byte) iter.Seq2[string, string] {
	return func(yield func(key, text string) bool) {
		dec := json.NewDecoder(bytes.NewReader(head))
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return
		}
		for {
			token, err := dec.Token()
			key, ok := token.(string)
			if err != nil || !ok { // or the object has ended
				return
			}
			value, err := dec.Token()
			text, _ := value.(string)
			if !yield(key, text) {
				return
			}
			for depth := nesting(value); depth > 0 && err == nil; depth += nesting(value) {
				value, err = dec.Token()
			}
			if err != nil {
				return
			}
		}
	}
}

// nesting returns how much deeper it is behind a token.
func nesting(t json.Token) int {
	switch t {
	case json.Delim('{'), json.Delim('['):
		return 1
	case json.Delim('}'), json.Delim(']'):
		return -1
	}
	return 0
}
