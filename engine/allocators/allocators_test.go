package allocators

import (
	"encoding/json"
	"fmt"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// Vector is a vector of a sequence of requests and releases.
type Vector struct {
	enginetest.Vector
	Trace   []Event
	VAChunk engine.Bytes `json:"va_chunk"` // size of a chunk of virtual addressing
}

// Vectors returns all vectors.
func Vectors() []Vector { return enginetest.LoadAs[Vector]("alloc") }

// Event is a request ["a", id, size, high] or a release ["f", id]. Ids are strings or numbers in the files.
type Event struct {
	ID   string
	Free bool
	Size int64
	High bool // see alloc.Buffer.High
}

// UnmarshalJSON reads a list of 2 or 4 parts.
func (e *Event) UnmarshalJSON(data []byte) error {
	var what string
	parts := []any{&what, (*id)(&e.ID), &e.Size, &e.High}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("event %s: %w", data, err)
	}
	e.Free = what == "f"
	if !(what == "a" && len(parts) == 4) && !(what == "f" && len(parts) == 2) {
		return fmt.Errorf("event %s; expected [\"a\", id, size, high] or [\"f\", id]", data)
	}
	return nil
}

// id is a string or a number.
type id string

func (to *id) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(to))
	}
	*to = id(data)
	return nil
}
