package proto

import (
	"encoding/json"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
)

// Open asks to read a file, or a preset if Preset is set, or a training step if Model is set.
type Open struct {
	brings[*Opened, *Progress]

	File   string `json:"file,omitempty"` // name of the file, used in messages only
	Preset string `json:"preset,omitempty"`
	// Model is a known model or the text of a config.json whose training step is opened, with Options of package ask.
	Model   string      `json:"model,omitempty"`
	Options engine.Args `json:"options,omitempty"`
	Bytes   []byte      `json:"-"` // content of the file
	// Decoded is the content of Bytes if the caller has decoded it already. It is not sent to a
	// worker. Bytes are then native JSON.
	Decoded *profiles.Profile `json:"-"`
	// Keep is a number that the page chose for a file whose recording will be examined later. The
	// worker then keeps the recording. 0: it does not.
	Keep   int  `json:"keep,omitempty"`
	Device *int `json:"device,omitempty"` // index into the file's devices; nil: the format chooses
	// Handle is a file of the browser that the worker reads by itself, so that a large file is not
	// copied through the page. Bytes are then nil on the page.
	Handle any `json:"-"`
	// Content reads the file of Handle, in the worker.
	Content profiles.Content `json:"-"`
}

func (q *Open) columns(c *codec) { c.raw(&q.Bytes) }

// Opened is a profile that was read. Everything the page draws without a solver follows from Profile.
type Opened struct {
	Profile json.RawMessage   `json:"-"` // native JSON, canonical
	Decoded *profiles.Profile `json:"-"` // the same, if it was opened without a worker
	// GraphTotals are the sums over the operations of a profile that has both a chain and
	// operations. Network.Graph chooses the operations.
	GraphTotals Totals            `json:"graph_totals,omitzero"`
	Lint        []string          `json:"lint,omitempty"`     // findings, for people
	Asides      [][2]engine.Aside `json:"asides,omitempty"`   // of the stages of a chain; files have none
	Totals      Totals            `json:"totals"`             // sums over the chain, or without one over the operations
	NoChain     string            `json:"no_chain,omitempty"` // why the profile is not a chain; empty if it is one
	Packed      string            `json:"packed,omitempty"`   // see profiles.Profile.Packed
	Step        engine.Args       `json:"step,omitempty"`     // see profiles.Profile.Step
	Model       string            `json:"model,omitempty"`    // see profiles.Profile.Step
	// of a file about addresses; then only Lint is set too
	Memory *Memory `json:"memory,omitempty"`
}

func (o *Opened) columns(c *codec) {
	c.raw((*[]byte)(&o.Profile))
	if o.Memory != nil {
		o.Memory.columns(c)
	}
}

// Totals are sums over a chain or a graph. They show a wrong unit at a glance.
type Totals struct {
	Stages      int           `json:"stages"`        // of a chain, the loss not included
	Ops         int           `json:"ops,omitempty"` // of a graph
	Forward     time.Duration `json:"forward"`
	Back        time.Duration `json:"back"`
	Saved       engine.Bytes  `json:"saved"` // sum of abar
	Resident    engine.Bytes  `json:"resident"`
	States      engine.Bytes  `json:"states"`        // Resident, with the gradients that the optimizer reads
	KeepAllPeak engine.Bytes  `json:"keep_all_peak"` // the peak of keeping everything: 100 % of a budget in per cent
	Batch       int           `json:"batch,omitempty"`
}

// Part names what Doctor asks about a recording.
type Part string

// The parts.
const (
	PartReport Part = "report" // all but the replays, and what is in use at the time that matters most
	PartAlive  Part = "alive"  // what is in use after the event At
	PartReplay Part = "replay" // the replay of a Setting; with the last one the advice
)

// Doctor asks about the recording in a file. Only the second program answers it (see package
// serve). It keeps the recording that it opened last, and reads File again if that is another one.
type Doctor struct {
	brings[*Examined, *Nothing]
	File    Open `json:"file"` // as it was opened
	Part    Part `json:"part"`
	At      int  `json:"at,omitempty"`      // PartAlive: index of the event
	Setting int  `json:"setting,omitempty"` // PartReplay: which one, below doctor.Settings
}

func (d *Doctor) columns(c *codec) { d.File.columns(c) }

// Examined is the answer to Doctor. Fields that were not asked for are nil.
type Examined struct {
	Report *doctor.Report `json:"report,omitempty"`
	Alive  *doctor.Alive  `json:"alive,omitempty"`
	Replay *doctor.Replay `json:"replay,omitempty"`
	More   bool           `json:"more,omitempty"`   // there are settings after the one of Replay
	Advice *doctor.Advice `json:"advice,omitempty"` // with the last replay
}

// FileOf returns the file that r is about, or nil if r is about no file.
func FileOf(r Request) *Open {
	switch r := r.(type) {
	case *Open:
		return r
	case *Doctor:
		return &r.File
	}
	return nil
}
