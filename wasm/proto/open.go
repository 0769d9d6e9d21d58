package proto

import (
	"encoding/json"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// Open asks to read a file, or to look at a preset. The file is opened if
// Preset is empty.
type Open struct {
	brings[*Opened, *Progress]

	File   string `json:"file,omitempty"` // name of the file, a hint for the message texts only
	Preset string `json:"preset,omitempty"`
	Bytes  []byte `json:"-"` // content of the file
	// Decoded is what Bytes hold, of a profile that is known already, in native JSON; nil
	// in another worker than the caller.
	Decoded *profiles.Profile `json:"-"`
	// Keep is a number of the page's own for a file whose recording is examined later:
	// the worker keeps it at hand. 0: it does not.
	Keep   int  `json:"keep,omitempty"`
	Device *int `json:"device,omitempty"` // of the file's devices; nil: the format chooses
	// Handle is a file that the worker reads itself, as the browser gives it: a
	// large one is not copied through the page. Bytes are then nil on the page.
	Handle any `json:"-"`
	// Content is that file in the worker.
	Content profiles.Content `json:"-"`
}

// Op implements Request.
func (*Open) Op() string { return "open" }

func (q *Open) columns(c *codec) { c.raw(&q.Bytes) }

// Opened is a profile that was read. Everything the page draws without a
// solver follows from Profile.
type Opened struct {
	Profile json.RawMessage   `json:"-"` // native JSON, canonical
	Decoded *profiles.Profile `json:"-"` // the same, where no worker is between
	// GraphTotals are the sums of the operations of a profile that has both a
	// chain and operations, for Network.Graph.
	GraphTotals Totals   `json:"graph_totals,omitzero"`
	Preset      string   `json:"preset,omitempty"`
	Format      string   `json:"format"`             // what it was read from
	Lint        []string `json:"lint,omitempty"`     // findings, for people
	Totals      Totals   `json:"totals"`             // of the chain, or of the operations if there is none
	NoChain     string   `json:"no_chain,omitempty"` // why it is none; empty if it is one
	Packed      string   `json:"packed,omitempty"`   // as profiles.Profile has it
	Memory      *Memory  `json:"memory,omitempty"`   // of files about addresses; then all of the above but Format and Lint is empty
}

func (o *Opened) columns(c *codec) {
	c.raw((*[]byte)(&o.Profile))
	if o.Memory != nil {
		o.Memory.columns(c)
	}
}

// Totals are sums over a chain or a graph: what shows a wrong unit at a glance.
type Totals struct {
	Stages      int           `json:"stages"`        // of a chain, the loss not included
	Ops         int           `json:"ops,omitempty"` // of a graph
	Forward     time.Duration `json:"forward"`
	Back        time.Duration `json:"back"`
	Saved       engine.Bytes  `json:"saved"` // sum of abar
	Out         engine.Bytes  `json:"out"`   // sum of a
	Resident    engine.Bytes  `json:"resident"`
	KeepAllPeak engine.Bytes  `json:"keep_all_peak"` // 100 % of keep-everything
	Batch       int           `json:"batch,omitempty"`
}
