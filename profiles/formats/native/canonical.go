package native

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// The stages of a profile that this program has written itself (Encode) are
// read without a JSON decoder: they travel between the page and its workers, and a
// chain of 20,000 stages is megabytes. What differs in the least from that form is
// read as any other file is, with all the checks and messages; so nothing here has
// a message.

// canonicalStages cuts the stages out of a canonical profile. rest is the profile
// with an empty list in their place. ok is false if data is not a canonical profile.
func canonicalStages(data []byte) (stages []engine.Stage, rest []byte, ok bool) {
	const begin = "\n \"stages\":["
	const mark = begin + "\n  {"
	at := bytes.Index(data, []byte(mark))
	if at < 0 || !bytes.HasPrefix(data, []byte(`{"format":"`+Version+`","kind":"chain",`)) {
		return nil, nil, false
	}
	head := data[:at+len(begin)]
	// The list is in the outermost object if one bracket closes all that is open.
	if !json.Valid(append(bytes.Clone(head), "]}"...)) {
		return nil, nil, false
	}
	r := canonicalReader{b: data[len(head):], ok: true}
	for len(stages) <= parse.MaxStageRows {
		r.word("\n  ")
		stages = append(stages, r.stage())
		if !r.ok {
			return nil, nil, false
		}
		if len(r.b) > 0 && r.b[0] == ']' {
			return stages, append(bytes.Clone(head), r.b...), true
		}
		r.word(",")
	}
	return nil, nil, false // too many: the other reader says so
}

// canonicalReader reads what writer writes. After the first difference ok is
// false, and what it returns means nothing.
type canonicalReader struct {
	b  []byte
	ok bool
}

// is reports whether a word comes next, and skips it if it does.
func (r *canonicalReader) is(w string) bool {
	if len(r.b) < len(w) || string(r.b[:len(w)]) != w {
		return false
	}
	r.b = r.b[len(w):]
	return true
}

func (r *canonicalReader) word(w string) { r.ok = r.ok && r.is(w) }

// text returns a text in quotes without escapes.
func (r *canonicalReader) text() string {
	r.word(`"`)
	for i, c := range r.b {
		switch {
		case c == '"':
			s := string(r.b[:i])
			r.b = r.b[i+1:]
			r.ok = r.ok && i <= profiles.MaxName && utf8.ValidString(s)
			return s
		case c == '\\' || c < ' ':
			r.ok = false
			return ""
		}
	}
	r.ok = false
	return ""
}

// digits reads a number of at most most digits, without a zero in front of others.
func (r *canonicalReader) digits(most int) (v int64) {
	n := 0
	for n < len(r.b) && r.b[n]-'0' <= 9 {
		v = v*10 + int64(r.b[n]-'0')
		n++
		if n > most {
			break
		}
	}
	if n == 0 || n > most || n > 1 && r.b[0] == '0' {
		r.ok = false
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes returns a size below 10^15, far under the largest that are read.
func (r *canonicalReader) bytes(key string) engine.Bytes {
	r.word(key)
	return engine.Bytes(r.digits(15))
}

// seconds returns a time of whole nanoseconds, below 10^6 seconds.
func (r *canonicalReader) seconds(key string) time.Duration {
	r.word(key)
	d := time.Duration(r.digits(6)) * time.Second
	if !r.is(".") {
		return d
	}
	unit := time.Second
	for len(r.b) > 0 && r.b[0]-'0' <= 9 {
		unit /= 10
		d += time.Duration(r.b[0]-'0') * unit
		r.b = r.b[1:]
	}
	r.ok = r.ok && unit > 0 && unit < time.Second
	return d
}

func (r *canonicalReader) stage() (s engine.Stage) {
	r.word(`{"name":`)
	s.Name = r.text()
	if r.is(`,"kind":`) {
		s.Kind = r.text()
	}
	s.Forward = r.seconds(`,"forward_s":`)
	s.Back = r.seconds(`,"backward_s":`)
	s.Out = r.bytes(`,"output_bytes":`)
	s.Saved = r.bytes(`,"saved_bytes":`)
	s.Unsaved = r.is(`,"` + parse.UnsavedColumn + `":true`)
	s.Grad = r.bytes(`,"grad_bytes":`)
	s.FwdTemp = r.bytes(`,"forward_temp_bytes":`)
	s.BwdTemp = r.bytes(`,"backward_temp_bytes":`)
	if r.is(`,"fast":{`) {
		f := new(engine.Algorithm)
		f.Forward = r.seconds(`"forward_s":`)
		f.Back = r.seconds(`,"backward_s":`)
		f.FwdTemp = r.bytes(`,"forward_temp_bytes":`)
		f.BwdTemp = r.bytes(`,"backward_temp_bytes":`)
		r.word("}")
		s.Fast = f
	}
	r.word("}")
	r.ok = r.ok && (s.Saved >= s.Out || s.Unsaved) && s.Name != ""
	return s
}
