package engine

// Duplex says whether both directions of the host link work at the same time.
type Duplex uint8

// HalfDuplex is the papers' model: one transfer at a time, in either direction.
const (
	HalfDuplex Duplex = iota
	FullDuplex
)

// String is the spelling used in links and files.
func (d Duplex) String() string {
	if d == FullDuplex {
		return "full"
	}
	return "half"
}

// Transfers says how a value travels.
type Transfers uint8

// Whole transfers take room at their start and give it back at their end (the
// papers' integral model). Streamed transfers take and give room byte by byte
// (fractional communications of paper 000).
const (
	Whole Transfers = iota
	Streamed
)

// String is the spelling used in links and files.
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
