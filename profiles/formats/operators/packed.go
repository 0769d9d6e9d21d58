package operators

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
)

// The packed form of a file, for links. It has the content in columns, so that repeated blocks
// become equal bytes, which deflate stores once. It is the text PackedMagic, 1. and in base64url
//
//  4 bytes     CRC-32 (IEEE) of the rest, little-endian
//  raw deflate of
//    texts     the outer object without its lists, the names of operators and classes,
//              and the part of each call's path that differs from the path before
//    columns   numbers, each relative to a related one (see columns)
//
// A text is its length and its bytes, a column its count and its numbers; numbers are varints.

const packedVersion = profiles.PackedMagic + "1."

// Limits of a packed file, in bytes: its content, and a name.
const (
	mostUnpacked = 4 << 20
	longestName  = 255
)

var (
	errPacked = &profiles.FormatError{Found: "The packed operators are damaged",
		Expected: "All of the link is expected.", Remedy: "Ask for the link again, or open the file itself."}
	errNewer = &profiles.FormatError{Found: "The packed operators are of a newer version",
		Expected: "Version 1 is expected.", Remedy: "Reload the page."}
	errLarge = errors.New("the step is too large to be packed")
)

// lists holds the keys of a file that become columns, in the order of text.
var lists = []string{"storages", "resident", "roles", "ops", "forward_ops", "calls", "keeps", "units", "tied",
	"events", "python_frees"}

// pack returns the packed form of the file that was read.
func (r *reader) pack() (string, error) {
	var head map[string]json.RawMessage
	if err := json.Unmarshal(r.data, &head); err != nil {
		return "", err
	}
	for _, key := range lists {
		delete(head, key)
	}
	frame, err := json.Marshal(head) // its keys are sorted
	if err != nil {
		return "", err
	}
	names, paths := namesOf(r.t)
	for _, name := range append(names, paths...) {
		if len(name) > longestName {
			return "", errLarge
		}
	}
	var body []byte
	body = appendTexts(body, append([]string{string(frame)}, names...))
	body = appendTexts(body, paths)
	c := &columns{t: r.t, names: names, lists: make([][]int64, columnCount)}
	c.walk()
	for _, list := range c.lists {
		body = binary.AppendUvarint(body, uint64(len(list)))
		for _, n := range list {
			body = binary.AppendVarint(body, n)
		}
	}
	if len(body) > mostUnpacked {
		return "", errLarge
	}
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression) // the level is valid, and a buffer takes everything
	_, _ = w.Write(body)
	_ = w.Close()
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(out.Bytes()))
	return packedVersion + base64url.EncodeToString(append(sum, out.Bytes()...)), nil
}

var base64url = base64.RawURLEncoding.Strict()

// namesOf returns the distinct names of operators, classes and roles, in order of appearance,
// and the difference of each call's path from the path before.
func namesOf(t *play.Trace) (names, paths []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	for i := range t.Ops {
		add(t.Ops[i].Name)
	}
	last := ""
	for i := range t.Calls {
		add(t.Calls[i].Class)
		path, n := t.Calls[i].Path, 0
		for n < min(len(path), len(last), longestName) && path[n] == last[n] {
			n++
		}
		paths, last = append(paths, string(rune(n))+path[n:]), path
	}
	for n := range t.Storages {
		add(t.Roles[n])
	}
	return names, paths
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// isPacked reports whether data is a packed file.
func isPacked(data []byte) bool { return bytes.HasPrefix(data, []byte(profiles.PackedMagic)) }

// plain returns a file as JSON, after unpacking it if it is packed. It does not check the content of a packed file.
func plain(packed []byte) ([]byte, error) {
	if !isPacked(packed) {
		return packed, nil
	}
	coded, ok := bytes.CutPrefix(packed, []byte(packedVersion))
	if !ok {
		return nil, errNewer
	}
	data, err := base64url.DecodeString(string(coded))
	if err != nil || len(data) < 4 || crc32.ChecksumIEEE(data[4:]) != binary.LittleEndian.Uint32(data) {
		return nil, errPacked
	}
	body, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[4:])), mostUnpacked+1))
	if err != nil || len(body) > mostUnpacked {
		return nil, errPacked
	}
	b := &unpacker{b: body}
	texts, paths := b.texts(), b.texts()
	if b.bad || len(texts) == 0 {
		return nil, errPacked
	}
	t := &play.Trace{Roles: map[int]string{}}
	c := &columns{t: t, names: texts[1:], reading: true}
	for _, s := range append(texts[1:], paths...) {
		if len(s) > longestName {
			return nil, errPacked
		}
	}
	last := ""
	for _, p := range paths {
		r, size := utf8.DecodeRuneInString(p)
		if n := int(r); n <= min(len(last), longestName) {
			last = last[:n] + p[size:]
		} else {
			return nil, errPacked
		}
		t.Calls = append(t.Calls, play.Call{Path: last})
	}
	for range columnCount {
		c.lists = append(c.lists, b.column())
	}
	if b.bad || len(b.b) > 0 {
		return nil, errPacked
	}
	if c.walk(); c.bad {
		return nil, errPacked
	}
	return text(texts[0], t)
}

// unpacker reads texts and columns from b.
type unpacker struct {
	b   []byte
	bad bool
}

// count reads the number of the bytes or items that follow, which take at least a byte each.
func (u *unpacker) count() int {
	n, size := binary.Uvarint(u.b)
	if size <= 0 || n > uint64(len(u.b)-size) {
		u.bad, u.b = true, nil
		return 0
	}
	u.b = u.b[size:]
	return int(n)
}

func (u *unpacker) texts() (out []string) {
	for n := u.count(); n > 0 && !u.bad; n-- {
		size := u.count()
		out, u.b = append(out, string(u.b[:size])), u.b[size:]
	}
	return out
}

func (u *unpacker) column() (out []int64) {
	for n := u.count(); n > 0; n-- {
		v, size := binary.Varint(u.b)
		if size <= 0 {
			u.bad, u.b = true, nil
			return nil
		}
		out, u.b = append(out, v), u.b[size:]
	}
	return out
}

// text returns the file of a trace. frame is an object with the other keys.
func text(frame string, t *play.Trace) ([]byte, error) {
	var head map[string]json.RawMessage
	if err := json.Unmarshal([]byte(frame), &head); err != nil {
		return nil, errPacked
	}
	type pair = [2]any
	resident, named := []int{}, map[string]string{}
	for n, there := range t.Resident {
		if there {
			resident = append(resident, n)
		}
		if t.Roles[n] != "" {
			named[strconv.Itoa(n)] = t.Roles[n]
		}
	}
	ops, calls := make([]map[string]any, len(t.Ops)), make([]map[string]any, len(t.Calls))
	for i := range t.Ops {
		o := &t.Ops[i]
		ops[i] = map[string]any{"name": o.Name, "in": o.In, "new": o.New, "write": o.Write, "temp_bytes": o.Temp,
			"time_s": json.RawMessage(fmt.Sprintf("%d.%09d", o.Time/1e9, o.Time%1e9))}
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		args := []pair{}
		for _, a := range c.Args {
			made := []pair{}
			for _, m := range a.Made {
				made = append(made, pair{m, 0})
			}
			args = append(args, pair{a.Storage, made})
		}
		calls[i] = map[string]any{"path": c.Path, "class": c.Class, "op": c.Op, "end": c.End, "args": args}
	}
	keeps, events, frees := []pair{}, []pair{}, []pair{}
	for _, k := range t.Keeps {
		if k.Call < 0 {
			keeps = append(keeps, pair{k.Storage, nil})
		} else {
			keeps = append(keeps, pair{k.Storage, k.Call})
		}
	}
	for _, e := range t.Events {
		events = append(events, pair{words[e.Kind], e.ID})
	}
	for _, f := range t.Frees {
		frees = append(frees, pair{f.Storage, f.Op})
	}
	for i, v := range []any{slices.Concat([]engine.Bytes{}, t.Storages), resident, named, ops, t.Forward, calls, keeps,
		slices.Concat([]int{}, t.Units), slices.Concat([]int{}, t.Tied), events, frees} {
		head[lists[i]], _ = json.Marshal(v) // it cannot fail: numbers, texts and lists
	}
	return json.Marshal(head)
}
