package proto

import "memtide/profiles/doctor"

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

// Op implements Request.
func (*Doctor) Op() string { return "doctor" }

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
