package profiles

import (
	"memtide/engine"
)

// Profile is what a file, a preset or a link says about a network: the hub that
// every format decodes into. It is not changed after it is built.
type Profile struct {
	Name   string
	Batch  int    // samples per step; 0 if unknown
	DType  string // f32, f16, bf16; empty if unknown
	Format string // name of the format it was read from; "preset" for presets
	Source Source
	Device *engine.Device // the device it was measured on, with its link; nil if it does not say
	Chain  *engine.Chain  // nil if the network is no chain; see also NotLinear
	Graph  *engine.Graph  // the operators, where the format has them; nil otherwise
	Memory *Memory        // of files about addresses; nil otherwise
	// History is what a recording tells about Memory beside addresses; nil otherwise.
	// The native format does not keep it.
	History *History

	// Packed is, of a file of operators, all that is read of it in few characters, which
	// with PackedMagic before them are such a file: what links hold beside the chain. Empty
	// if there is none, or if it is too large.
	Packed string

	// Warnings are soft findings that travel with the profile and are shown
	// beside it: they do not stop anybody.
	Warnings []string
}

// PackedMagic is what files of packed operators begin with (see package operators).
const PackedMagic = "memtide-operators/"

// Source says where the numbers come from.
type Source struct {
	Tool   string   // what wrote them: "collect.py", "PipeDream profiler", "preset"
	Times  Origin   // of the times
	Sizes  Origin   // of the sizes
	Device string   // the device of the times
	Notes  []string // assumptions and departures, for people
	URL    string
}

// Origin says how a number came to be.
type Origin string

// The origins.
const (
	Measured  Origin = "measured"  // by running it
	Exact     Origin = "exact"     // from shapes, equal to what a run would allocate
	Analytic  Origin = "analytic"  // by a stated model
	Estimated Origin = "estimated" // a rule of thumb
	Unknown   Origin = ""
)
