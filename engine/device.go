package engine

// Duplex says whether the two directions of the host link work at the same time.
type Duplex uint8

// HalfDuplex is the papers' model: one transfer at a time, in either direction.
const (
	HalfDuplex Duplex = iota
	FullDuplex
)

// String returns the spelling used in links and files.
func (d Duplex) String() string {
	if d == FullDuplex {
		return "full"
	}
	return "half"
}

// Transfers says when a transfer allocates and releases memory.
type Transfers uint8

// Whole transfers allocate at their start and release at their end (the papers' integral model). Streamed transfers
// allocate and release byte by byte (fractional communications of paper 000).
const (
	Whole Transfers = iota
	Streamed
)

// String returns the spelling used in links and files.
func (t Transfers) String() string {
	if t == Streamed {
		return "streamed"
	}
	return "whole"
}

// Device is a GPU with its memory and its link to the host.
type Device struct {
	Name   string
	Memory Bytes // 0 if unknown
	ToHost Rate  // [beta] device to host; 0: there is no link
	ToDev  Rate  // [beta] host to device; 0: there is no link
	Duplex Duplex
}
