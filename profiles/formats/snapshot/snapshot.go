// Package snapshot reads PyTorch's memory snapshots. A small machine (pickle.go) reads their
// pickle: it builds only the values of snapshots and executes nothing.
package snapshot

import (
	"io"
	"slices"

	"memtide/engine"
	"memtide/profiles"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "snapshot",
		Title:      "PyTorch memory snapshot (pickle)",
		Doc:        "The memory that PyTorch's allocator gave out, as torch.cuda.memory._dump_snapshot writes it.",
		Extensions: []string{".pickle", ".pkl"},
		MaxSize:    profiles.MaxSize,
		MaxStream:  profiles.MaxStream,
		Match: func(head []byte) bool { // the PROTO instruction of protocols 2 to 5
			return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
		},
		Stream: decodeSnapshot,
	})
}

func decodeSnapshot(name string, r io.Reader, total, device int, poll *engine.Poll) *profiles.Profile {
	u := newUnpickler(r, total, maxTrace, poll)
	root := u.run()
	u.forget()
	b := newSnapshot(u, root, device)
	b.play()
	return &profiles.Profile{Name: name, Memory: b.memory, History: b.history, Warnings: b.warnings(),
		Source: profiles.Source{Tool: "torch.cuda.memory", Sizes: profiles.Measured, Notes: b.notes()}}
}

// record is what is kept of a dictionary: the fields of segments, blocks, events, frames and the
// whole snapshot share its fields.
type record struct {
	at     int64 // address; device_free of an event oom; line of a frame
	size   int64 // size, total_size
	a      pval  // frames (as a stack), device_traces; filename of a frame
	b      pval  // requested_size, blocks, segments; name of a frame; time of an event
	device int16
	stream int16
	is     snapWord // action of an event, state of a block
	has    uint8
}

const noDevice = -1

// Flags of the fields that a record has.
const (
	hasAt uint8 = 1 << iota
	hasSize
	isExpandable
	isEvent
	isFrame
)

// snapWord is one of PyTorch's words for actions and states.
type snapWord uint8

// The actions of events and the states of blocks.
const (
	unknownWord snapWord = iota
	actionAlloc
	actionFreeRequested // the block stays in use until other streams are done
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
	"inactive": stateFree, "active_allocated": stateUsed, "active_pending_free": stateUsed,
	"active_awaiting_free": stateUsed,
}

// field is a key of a dictionary.
type field uint8

const (
	noField field = iota
	fieldAddress
	fieldSize
	fieldAction
	fieldState
	fieldFrames
	fieldTime
	fieldStream
	fieldSettings
	fieldTraces
	fieldParts // of a segment or a snapshot
	fieldRequested
	fieldHistory // of blocks, before PyTorch 2.1
	fieldDevice
	fieldExpandable
	fieldFile
	fieldName
	fieldLine
)

var fields = map[string]field{
	"addr": fieldAddress, "address": fieldAddress, "device_free": fieldAddress,
	"size": fieldSize, "total_size": fieldSize, "real_size": fieldSize, "requested_size": fieldRequested,
	"action": fieldAction, "state": fieldState, "frames": fieldFrames, "time_us": fieldTime, "stream": fieldStream,
	"PYTORCH_CUDA_ALLOC_CONF": fieldSettings, "PYTORCH_ALLOC_CONF": fieldSettings,
	"device_traces": fieldTraces, "blocks": fieldParts, "segments": fieldParts, "history": fieldHistory,
	"device":        fieldDevice,
	"is_expandable": fieldExpandable, "filename": fieldFile, "name": fieldName, "line": fieldLine,
}

// set sets a field of a dictionary. It skips unknown fields and values of another type; readers
// of the record check what is missing.
func (u *unpickler) set(r *record, key, value pval) {
	if key.kind() != pvText {
		return
	}
	f := u.texts.list[key.index()].field
	if value.kind() == pvInt {
		u.setNumber(r, f, value)
		return
	}
	switch f {
	case fieldAction:
		r.is, r.has = u.word(value), r.has|isEvent
	case fieldState:
		r.is = u.word(value)
	case fieldFrames:
		if value.kind() == pvStack {
			r.a = value
		}
	case fieldSettings:
		u.conf = value
	case fieldTraces:
		r.a = value
	case fieldParts:
		r.b = value
	case fieldHistory:
		if items := u.items(value); len(items) > 0 && items[0].kind() == pvDict {
			r.a = u.dicts.at(items[0].index()).a
		}
	case fieldExpandable:
		if value == pvTrue {
			r.has |= isExpandable
		}
	case fieldFile:
		r.a, r.has = value, r.has|isFrame
	case fieldName:
		r.b = value
	}
}

// setNumber sets a field to a number. It ignores numbers in other fields.
func (u *unpickler) setNumber(r *record, f field, value pval) {
	n := value.int()
	switch f {
	case fieldAddress:
		r.at, r.has = n, r.has|hasAt
	case fieldSize:
		r.size, r.has = n, r.has|hasSize
	case fieldTime:
		r.b = value
	case fieldStream:
		r.stream = u.streamOf(n)
	case fieldRequested: // segments have one, too
		if k := r.b.kind(); k != pvList && k != pvStack {
			r.b = value
		}
	case fieldDevice:
		if n >= 0 && n < 1<<15 {
			r.device = int16(n)
		}
	case fieldLine:
		r.at = n
	case fieldAction:
		r.is, r.has = unknownWord, r.has|isEvent
	case fieldFile:
		r.has |= isFrame
	}
}

// word returns the action or the state that a text means.
func (x *values) word(v pval) snapWord {
	if v.kind() != pvText {
		return unknownWord
	}
	return x.texts.list[v.index()].word
}

// streamOf returns the number of a stream, in order of appearance.
func (u *unpickler) streamOf(stream int64) int16 {
	if i := slices.Index(u.streams, stream); i >= 0 {
		return int16(i)
	}
	if len(u.streams) < mostStreams {
		u.streams = append(u.streams, stream)
	}
	return int16(len(u.streams) - 1)
}

// mostStreams is how many streams are distinguished; further streams count as the last of them.
const mostStreams = 64
