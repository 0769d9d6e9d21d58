package proto

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

const magic = "mtp1"

// Profile is where a request keeps the profile of its network; nil if it names no
// network.
func (r *Request) Profile() *json.RawMessage {
	switch {
	case r.Solve != nil:
		return &r.Solve.Network.Profile
	case r.Sweep != nil:
		return &r.Sweep.Network.Profile
	case r.Place != nil:
		return &r.Place.Network.Profile
	case r.Question != nil:
		return &r.Question.Network.Profile
	case r.Export != nil:
		return &r.Export.Network.Profile
	}
	return nil
}

// Profile is where a reply keeps the profile that was read; nil if none was.
func (r *Reply) Profile() *json.RawMessage {
	switch {
	case r.Opened != nil:
		return &r.Opened.Profile
	case r.Stepped != nil:
		return &r.Stepped.Profile
	}
	return nil
}

// EncodeRequest writes a request as one message.
func EncodeRequest(r *Request) ([]byte, error) {
	var blobs [][]byte
	switch {
	case r.File() != nil:
		blobs = [][]byte{r.File().Bytes}
	case r.Place != nil:
		blobs = r.Place.blobs()
	case r.Export != nil:
		blobs = [][]byte{EncodeSchedule(r.Export.Schedule)}
	}
	return encode(r, r.Profile(), blobs)
}

// DecodeRequest reads what EncodeRequest wrote. The bytes of a file or a profile
// are not copied.
func DecodeRequest(b []byte) (*Request, error) {
	r := new(Request)
	blobs, err := decode(b, r, r.Profile)
	if err != nil {
		return nil, err
	}
	if file := r.File(); file != nil {
		return r, file.take(blobs)
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
		var trace []byte // empty: sim refused the schedule
		if r.Solved.Trace != nil {
			trace = EncodeTrace(r.Solved.Trace)
		}
		blobs = append(blobs, EncodeSchedule(r.Solved.Schedule), trace, encodePoints(r.Solved.Ghost))
	}
	switch {
	case r.Placed != nil:
		blobs = append(blobs, encodePlaced(r.Placed))
	case r.Opened != nil && r.Opened.Memory != nil:
		blobs = append(blobs, r.Opened.Memory.blobs()...)
	case r.Exported != nil:
		blobs = append(blobs, r.Exported.Text)
	}
	return encode(r, r.Profile(), blobs)
}

// DecodeReply reads what EncodeReply wrote. The bytes of a profile are not copied.
func DecodeReply(b []byte) (*Reply, error) {
	r := new(Reply)
	blobs, err := decode(b, r, r.Profile)
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
	if len(blobs) != 3 {
		return nil, fmt.Errorf("reading a message: %d blobs for a schedule, its trace and its ghost; expected 3", len(blobs))
	}
	if r.Solved.Schedule, err = DecodeSchedule(blobs[0]); err != nil {
		return nil, err
	}
	if r.Solved.Ghost, err = decodePoints(blobs[2]); err == nil && len(blobs[1]) > 0 {
		r.Solved.Trace, err = DecodeTrace(blobs[1])
	}
	return r, err
}

// head is the JSON of a message. The message itself is a raw field so that the
// lengths of the blobs do not show in the types. The profile of a large network is
// megabytes of JSON, which goes with every request: it is a blob too, the first, so
// that nobody looks at it who does not want the network.
type head struct {
	Message json.RawMessage `json:"message"`
	Profile int             `json:"profile,omitempty"` // its length
	Blobs   []int           `json:"blobs,omitempty"`   // the lengths of the others
}

func encode(message any, profile *json.RawMessage, blobs [][]byte) ([]byte, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	h := head{Message: raw}
	if profile != nil {
		h.Profile = len(*profile)
	}
	total := h.Profile
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
	if profile != nil {
		out = append(out, *profile...)
	}
	for _, b := range blobs {
		out = append(out, b...)
	}
	return out, nil
}

// decode fills in a message and the profile in it, and returns the other blobs.
func decode(b []byte, message any, profile func() *json.RawMessage) ([][]byte, error) {
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
	native := c.take(h.Profile)
	var blobs [][]byte
	for _, n := range h.Blobs {
		blobs = append(blobs, c.take(n))
	}
	if c.err == nil {
		c.err = json.Unmarshal(h.Message, message)
	}
	if c.err == nil && len(native) > 0 {
		to := profile()
		if to == nil {
			return nil, fmt.Errorf("reading a message: a profile of %d bytes comes with what has no network", len(native))
		}
		*to = native
	}
	return blobs, c.end("a message")
}
