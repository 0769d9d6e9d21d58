package proto

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

const magic = "mtp1"

// EncodeRequest writes a request as one message.
func EncodeRequest(r *Request) ([]byte, error) {
	var blobs [][]byte
	switch {
	case r.Open != nil:
		blobs = [][]byte{r.Open.Bytes}
	case r.Place != nil:
		blobs = r.Place.blobs()
	case r.Export != nil:
		blobs = [][]byte{EncodeSchedule(r.Export.Schedule)}
	}
	return encode(r, blobs)
}

// DecodeRequest reads what EncodeRequest wrote. The bytes of a file are not copied.
func DecodeRequest(b []byte) (*Request, error) {
	r := new(Request)
	blobs, err := decode(b, r)
	if err != nil {
		return nil, err
	}
	if r.Open != nil {
		if len(blobs) != 1 {
			return nil, fmt.Errorf("reading a message: %d blobs for a file; expected 1", len(blobs))
		}
		r.Open.Bytes = blobs[0]
	}
	if r.Place != nil {
		return r, r.Place.take(blobs)
	}
	if r.Export != nil {
		return r, r.Export.take(blobs)
	}
	return r, nil
}

// EncodeReply writes a reply as one message.
func EncodeReply(r *Reply) ([]byte, error) {
	var blobs [][]byte
	if r.Solved != nil {
		blobs = append(blobs, EncodeSchedule(r.Solved.Schedule))
		if r.Solved.Trace != nil {
			blobs = append(blobs, EncodeTrace(r.Solved.Trace))
		}
	}
	switch {
	case r.Placed != nil:
		blobs = append(blobs, encodePlaced(r.Placed))
	case r.Opened != nil && r.Opened.Memory != nil:
		blobs = append(blobs, r.Opened.Memory.blobs()...)
	case r.Exported != nil:
		blobs = append(blobs, r.Exported.Text)
	}
	return encode(r, blobs)
}

// DecodeReply reads what EncodeReply wrote.
func DecodeReply(b []byte) (*Reply, error) {
	r := new(Reply)
	blobs, err := decode(b, r)
	switch {
	case err != nil:
		return r, err
	case r.Placed != nil:
		if len(blobs) != 1 {
			return nil, fmt.Errorf("reading a message: %d blobs for a placement; expected 1", len(blobs))
		}
		return r, decodePlaced(blobs[0], r.Placed)
	case r.Opened != nil && r.Opened.Memory != nil:
		return r, r.Opened.Memory.take(blobs)
	case r.Exported != nil:
		return r, r.Exported.take(blobs)
	case r.Solved == nil:
		return r, nil
	}
	if len(blobs) < 1 || len(blobs) > 2 {
		return nil, fmt.Errorf("reading a message: %d blobs for a schedule and its trace; expected 1 or 2", len(blobs))
	}
	if r.Solved.Schedule, err = DecodeSchedule(blobs[0]); err != nil {
		return nil, err
	}
	if len(blobs) == 2 {
		r.Solved.Trace, err = DecodeTrace(blobs[1])
	}
	return r, err
}

// head is the JSON of a message. The message itself is a raw field so that the
// lengths of the blobs do not show in the types.
type head struct {
	Message json.RawMessage `json:"message"`
	Blobs   []int           `json:"blobs,omitempty"`
}

func encode(message any, blobs [][]byte) ([]byte, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	h := head{Message: raw}
	total := 0
	for _, b := range blobs {
		h.Blobs = append(h.Blobs, len(b))
		total += len(b)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	out := make([]byte, 0, len(magic)+w32+len(text)+total)
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	out = append(out, text...)
	for _, b := range blobs {
		out = append(out, b...)
	}
	return out, nil
}

func decode(b []byte, message any) ([][]byte, error) {
	c := &codec{buf: b, reading: true}
	if m := c.take(len(magic)); m != nil && string(m) != magic {
		c.err = fmt.Errorf("it begins with %q; expected %q", m, magic)
	}
	var text []byte
	if n := c.take(w32); n != nil {
		text = c.take(int(binary.LittleEndian.Uint32(n)))
	}
	var h head
	if c.err == nil {
		c.err = json.Unmarshal(text, &h)
	}
	var blobs [][]byte
	for _, n := range h.Blobs {
		blobs = append(blobs, c.take(n))
	}
	if c.err == nil {
		c.err = json.Unmarshal(h.Message, message)
	}
	return blobs, c.end("a message")
}
