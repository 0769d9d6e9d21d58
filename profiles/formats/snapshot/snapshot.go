// Package snapshot reads PyTorch's memory snapshots. Their pickle is read by a small
// machine of its own (pickle.go), which builds nothing but what snapshots hold and
// executes nothing.
package snapshot

import (
	"bytes"
	"strconv"

	"memtide/engine"
	"memtide/profiles"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:  "snapshot",
		Title: "PyTorch memory snapshot (pickle)",
		Doc: `The memory that PyTorch's allocator gave out, as torch.cuda.memory._dump_snapshot writes it.

Where every buffer lay, when it was asked for and given back, and what was
reserved of the device; no network and no times. Record with

	torch.cuda.memory._record_memory_history()
	...one or two training steps...
	torch.cuda.memory._dump_snapshot("snapshot.pickle")

A pickle can run code when Python opens it. It cannot here: only dictionaries,
lists, texts and numbers are read, and whatever could name or call a function is
refused by name. Without recorded history, only what is in use is shown. Of
several devices, the one with the most events is taken. Buffers are named after
the innermost line of code outside PyTorch that was running, and after the
module of PyTorch that it called.`,
		Extensions: []string{".pickle", ".pkl"},
		MaxSize:    maxPickle,
		Match:      looksPickled,
		Decode:     decodeSnapshot,
	})
}

// looksPickled knows the PROTO instruction of protocols 2 to 5.
func looksPickled(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

func decodeSnapshot(name string, data []byte, poll *engine.Poll) (*profiles.Profile, error) {
	u := &unpickler{data: data, room: pickleRoom(len(data)), poll: poll}
	root, err := u.run()
	if err != nil {
		return nil, err
	}
	// What follows needs the objects, not the machine.
	u.stack, u.memo = nil, chunks[pval]{}
	b, err := newSnapshot(u, root, maxTrace)
	if err != nil {
		return nil, err
	}
	if err := b.play(); err != nil {
		return nil, err
	}
	p := &profiles.Profile{Name: name, Memory: b.memory, Warnings: b.warnings(),
		Source: profiles.Source{Tool: "torch.cuda.memory", Sizes: profiles.Measured, Notes: b.notes()}}
	return p, nil
}

// record is what is kept of a dictionary: the fields of segments, blocks,
// events and frames, and of the whole snapshot, in the same few places.
type record struct {
	at      int64 // address; device_free of an event oom; line of a frame
	size    int64 // size, total_size
	a       pval  // frames (as a label), device_traces; filename of a frame
	b       pval  // requested_size, blocks, segments; name of a frame
	device  int16
	is      snapWord // action of an event, state of a block
	has     uint8
	isFrame bool
}

const noDevice = -1

// What a record has.
const (
	hasAt uint8 = 1 << iota
	hasSize
	isExpandable
)

// snapWord is a word of PyTorch's.
type snapWord uint8

// The actions of events and the states of blocks.
const (
	unknownWord snapWord = iota
	actionAlloc
	actionFreeRequested // the block stays taken until other streams are done
	actionFree
	actionReserve
	actionUnreserve
	actionOOM
	stateFree
	stateUsed
)

var words = map[string]snapWord{
	"alloc": actionAlloc, "free_requested": actionFreeRequested, "free_completed": actionFree,
	"segment_alloc": actionReserve, "segment_map": actionReserve,
	"segment_free": actionUnreserve, "segment_unmap": actionUnreserve, "oom": actionOOM,
	"inactive": stateFree, "active_allocated": stateUsed, "active_pending_free": stateUsed, "active_awaiting_free": stateUsed,
}

// set gives a dictionary a field. Fields that are not known, or not of the kind
// that they should be, are skipped: what needs them says that they are missing.
func (u *unpickler) set(r *record, key, value pval) {
	switch string(u.text(key)) {
	case "addr", "address", "device_free":
		if value.kind() == pvInt {
			r.at, r.has = value.int(), r.has|hasAt
		}
	case "size", "total_size", "real_size":
		if value.kind() == pvInt {
			r.size, r.has = value.int(), r.has|hasSize
		}
	case "action", "state":
		r.is = words[string(u.text(value))]
	case "frames":
		r.a = u.labelOf(value)
	case "device_traces":
		r.a = value
	case "blocks", "segments":
		r.b = value
	case "requested_size": // segments have one, too
		if r.b.kind() != pvList {
			r.b = value
		}
	case "history": // of blocks, before PyTorch 2.1
		if items := u.items(value); len(items) > 0 && items[0].kind() == pvDict {
			r.a = u.dicts.at(items[0].index()).a
		}
	case "device":
		if value.kind() == pvInt && value.int() >= 0 && value.int() < 1<<15 {
			r.device = int16(value.int())
		}
	case "is_expandable":
		if value == pvTrue {
			r.has |= isExpandable
		}
	case "filename":
		r.a, r.isFrame = value, true
	case "name":
		r.b = value
	case "line":
		if value.kind() == pvInt {
			r.at = value.int()
		}
	}
}

// labels are the names of places in a program; equal ones are kept once.
type labels struct {
	names []string // 0 is the empty one
	known map[string]pval
	buf   []byte
}

// labelRoom is about what a label takes, and briefText how much of a text is
// looked at for one: texts are shared, and a long one may be named often.
const (
	labelRoom = 500
	briefText = 200
)

// file is the end of a path, with slashes.
func (u *unpickler) file(v pval) []byte {
	text := u.text(v)
	text = text[max(0, len(text)-briefText):]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = bytes.ReplaceAll(text, []byte(`\`), []byte("/"))
	}
	return text
}

// name is the beginning of a name.
func (u *unpickler) name(v pval) []byte {
	text := u.text(v)
	return text[:min(len(text), briefText)]
}

// labelOf turns a list of frames, innermost first, into a label, and forgets
// the frames.
func (u *unpickler) labelOf(v pval) pval {
	if v.kind() != pvList {
		return pvOther
	}
	l := u.lists.at(v.index())
	if l.label == pvOther {
		known := len(u.label.names)
		l.label = u.label.intern(u.describe(l.items))
		l.items = nil
		if len(u.label.names) > known {
			u.room -= labelRoom // if that is too much, the next object says so
		}
	}
	return l.label
}

func (l *labels) intern(text []byte) pval {
	if v, ok := l.known[string(text)]; ok {
		return v
	}
	if l.known == nil {
		l.known, l.names = map[string]pval{}, []string{""}
	}
	v := indexed(pvLabel, 0)
	if len(text) > 0 {
		v = indexed(pvLabel, len(l.names))
		l.names = append(l.names, profiles.Clip(string(text)))
	}
	l.known[string(text)] = v
	return v
}

// name is the text of a label; empty of anything else.
func (l *labels) name(v pval) string {
	if v.kind() != pvLabel || v.index() >= len(l.names) {
		return ""
	}
	return l.names[v.index()]
}

// describe names the innermost Python frame outside PyTorch, with the module or
// function of PyTorch that it called: "conv, net.py:42 forward". Without such a
// frame it is the step of autograd that was running, if C++ was recorded, or the
// innermost Python frame.
func (u *unpickler) describe(frames []pval) []byte {
	var back, python *record
	var what []byte
	for _, v := range frames {
		if v.kind() != pvDict {
			continue
		}
		r := u.dicts.at(v.index())
		file := u.file(r.a)
		if !r.isFrame || len(file) == 0 {
			continue
		}
		switch {
		case !bytes.HasSuffix(file, []byte(".py")) && file[0] != '<':
			if back == nil && bytes.Contains(u.name(r.b), []byte("Backward")) {
				back = r
			}
		case isLibrary(file):
			if what == nil {
				what = u.module(file, r)
			}
			if python == nil {
				python = r
			}
		default:
			return u.place(what, r)
		}
	}
	switch {
	case back != nil:
		return bytes.TrimPrefix(u.name(back.b), []byte("torch::autograd::generated::"))
	case python != nil:
		return u.place(nil, python)
	}
	return nil
}

// libraries are parts of the paths of PyTorch and of Python itself.
var libraries = [][]byte{[]byte("-packages/torch/"), []byte("pytorch/torch/"), []byte("torch/nn/"), []byte("torch/optim/"),
	[]byte("torch/autograd/"), []byte("torch/utils/"), []byte("<frozen"), []byte("<eval_with_key>")}

func isLibrary(file []byte) bool {
	for _, part := range libraries {
		if bytes.Contains(file, part) {
			return true
		}
	}
	return bytes.Contains(file, []byte("lib/python3")) && !bytes.Contains(file, []byte("-packages/"))
}

// module is the word for a frame in PyTorch that says what was computed: the
// function of functional.py, the file of a module or of an optimizer.
func (u *unpickler) module(file []byte, r *record) []byte {
	switch {
	case bytes.HasSuffix(file, []byte("torch/nn/functional.py")):
		return u.name(r.b)
	case bytes.HasSuffix(file, []byte("torch/nn/modules/module.py")):
		return nil // every module goes through it
	case bytes.Contains(file, []byte("torch/nn/modules/")), bytes.Contains(file, []byte("torch/optim/")):
		return bytes.TrimSuffix(baseName(file), []byte(".py"))
	}
	return nil
}

func baseName(file []byte) []byte { return file[bytes.LastIndexByte(file, '/')+1:] }

// place writes a frame. The result is valid until the next call.
func (u *unpickler) place(what []byte, r *record) []byte {
	b := u.label.buf[:0]
	if len(what) > 0 {
		b = append(append(b, what...), ", "...)
	}
	b = append(b, baseName(u.file(r.a))...)
	if r.at > 0 {
		b = strconv.AppendInt(append(b, ':'), r.at, 10)
	}
	if name := u.name(r.b); len(name) > 0 {
		b = append(append(b, ' '), name...)
	}
	u.label.buf = b
	return b
}
