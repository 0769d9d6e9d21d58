package proto

import "memtide/profiles/doctor"

// Part is what is asked of a recording.
type Part string

// The parts.
const (
	PartReport Part = "report" // all but the replays, and what is in use at the decisive moment
	PartAlive  Part = "alive"  // what is in use after the event At
	PartReplay Part = "replay" // the replay of a Setting; with the last one the advice
	// PartCompare is what differs between the recording that is at hand under the number
	// With and that of File, which is not kept.
	PartCompare Part = "compare"
)

// Doctor asks about the recording in a file. The page itself does not answer it, nor do
// its workers: the second program does. It keeps what it opened last at hand, and reads the file
// again if that is another one.
type Doctor struct {
	brings[*Examined, *Nothing]
	File    Open `json:"file"` // as it was opened
	Part    Part `json:"part"`
	At      int  `json:"at,omitempty"`
	Setting int  `json:"setting,omitempty"` // below doctor.Settings
	With    int  `json:"with,omitempty"`    // of PartCompare
}

// Op implements Request.
func (*Doctor) Op() string { return "doctor" }

func (d *Doctor) columns(c *codec) { d.File.columns(c) }

// Examined is what there is to say; what was not asked for is nil.
type Examined struct {
	Report     *doctor.Report     `json:"report,omitempty"`
	Alive      *doctor.Alive      `json:"alive,omitempty"`
	Replay     *doctor.Replay     `json:"replay,omitempty"`
	More       bool               `json:"more,omitempty"`       // there are settings after the one of Replay
	Advice     *doctor.Advice     `json:"advice,omitempty"`     // when all have been replayed
	Comparison *doctor.Comparison `json:"comparison,omitempty"` // without replays and flame graphs
}

// FileOf is where a request keeps the file that it is about; nil if there is none.
func FileOf(r Request) *Open {
	switch r := r.(type) {
	case *Open:
		return r
	case *Doctor:
		return &r.File
	}
	return nil
}
