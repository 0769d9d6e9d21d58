package state

import (
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
)

// Second is a snapshot that the one that is open is compared with.
type Second struct {
	Name       string
	Comparison *doctor.Comparison // nil: it is on its way, or Failed says why there is none
	Failed     string

	file  proto.Open
	ready bool // the worker was asked about the first one, which it compares this one with
}

// PickSecond compares the recording that is open with another one: a file that was
// chosen, or the second one of two that were dropped. The fields are those of PickFile.
type PickSecond struct {
	Name   string
	Bytes  []byte
	Handle any
}

func (m PickSecond) apply(s *State) []Effect {
	d := s.Doctor()
	if d == nil {
		return nil
	}
	s.DOM++
	d.Second = &Second{Name: m.Name, file: proto.Open{File: m.Name, Bytes: m.Bytes, Handle: m.Handle}}
	return s.cancelComparing()
}

// DropSecond ends the comparison with another recording.
type DropSecond struct{}

func (DropSecond) apply(s *State) []Effect {
	d := s.Doctor()
	if d == nil {
		return nil
	}
	s.DOM++
	d.Second = nil
	return s.cancelComparing()
}

func (s *State) cancelComparing() []Effect {
	e := s.examining
	if e == nil || e.part != proto.PartCompare {
		return nil
	}
	s.examining = nil
	return []Effect{Cancel{e.id}}
}

// awaited says that another recording has to be compared.
func (x *Second) awaited() bool { return x != nil && x.Comparison == nil && x.Failed == "" }
