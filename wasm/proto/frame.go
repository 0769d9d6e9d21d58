package proto

import (
	"encoding/json"
	"fmt"
)

const magic = "mtp1"

// Reply is a message of a worker about its request: progress, or the final answer.
type Reply struct {
	Final   bool
	Value   any      // the result, or progress; with Failure the best so far, or nil
	Failure *Failure // why there is no result; nil if there is one, or not yet
}

// Ended returns the final reply of a request that returned result and err.
func Ended(result any, err error) *Reply {
	return &Reply{Final: true, Value: result, Failure: FailureOf(err)}
}

// Result returns what Pool.Do returns for the final reply r.
func (r *Reply) Result() (any, error) {
	if r.Failure == nil {
		return r.Value, nil
	}
	return r.Value, r.Failure
}

// head is the JSON of a message.
type head struct {
	Op      string   `json:"op,omitempty"`    // of a request
	Final   bool     `json:"final,omitempty"` // of a reply
	Failure *Failure `json:"failure,omitempty"`
	Value   any      `json:"value,omitempty"`
}

// columnar is a value with parts that are not JSON. columns writes them, or reads them after the JSON has been read.
type columnar interface{ columns(*codec) }

// EncodeRequest writes a request as one message.
func EncodeRequest(r Request) ([]byte, error) { return encode(&head{Op: Op(r), Value: r}) }

// EncodeReply writes a reply as one message.
func EncodeReply(r *Reply) ([]byte, error) {
	return encode(&head{Final: r.Final, Failure: r.Failure, Value: r.Value})
}

// DecodeRequest reads what EncodeRequest wrote. The bytes of a file or a profile are not copied.
func DecodeRequest(b []byte) (Request, error) {
	c := &codec{buf: b, reading: true}
	h, value := c.head()
	for _, r := range Requests() {
		if Op(r) == h.Op && c.err == nil {
			return r, c.value(value, r)
		}
	}
	c.fail(fmt.Errorf("no request is called %q", h.Op))
	return nil, c.end()
}

// DecodeReply reads a reply to a request. The bytes of a profile are not copied.
func DecodeReply(to Request, b []byte) (*Reply, error) {
	c := &codec{buf: b, reading: true}
	h, value := c.head()
	r := &Reply{Final: h.Final, Failure: h.Failure}
	if value == nil {
		return r, c.end()
	}
	result, progress := to.replies()
	if r.Value = progress; r.Final {
		r.Value = result
	}
	return r, c.value(value, r.Value)
}

func encode(h *head) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	c := &codec{buf: []byte(magic)}
	c.raw(&text)
	if v, ok := h.Value.(columnar); ok {
		v.columns(c)
	}
	return c.buf, nil
}

// head reads the beginning of a message. value is the JSON of its value, not yet decoded.
func (c *codec) head() (h head, value json.RawMessage) {
	if m := c.take(len(magic)); m != nil && string(m) != magic {
		c.err = fmt.Errorf("it begins with %q; expected %q", m, magic)
	}
	var text []byte
	if c.raw(&text); c.err == nil {
		h.Value = &value
		c.err = json.Unmarshal(text, &h)
	}
	return h, value
}

// value decodes text and the columns after it into v, and expects the message to end there.
func (c *codec) value(text json.RawMessage, v any) error {
	if c.err == nil {
		c.err = json.Unmarshal(text, v)
	}
	if v, ok := v.(columnar); ok {
		v.columns(c)
	}
	return c.end()
}

// Requests returns a new value of every type of request. DecodeRequest reads only these.
func Requests() []Request {
	return []Request{new(Open), new(Solve), new(Sweep), new(Place), new(Question), new(Export), new(Doctor),
		new(Step), new(Break)}
}

// Break asks a worker to fail in the way that How names, on a page that was opened for self-tests
// (see package pool). No program registers an answer to it.
type Break struct {
	brings[*Nothing, *Nothing]
	How string `json:"how"`
}
