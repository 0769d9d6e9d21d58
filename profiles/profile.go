package profiles

import (
	"memtide/engine"
)

// Profile describes a network, from a file, a preset or a link. Every format decodes into it.
// It is not modified once it is built.
type Profile struct {
	Name   string
	Batch  int    // samples per step; 0 if unknown
	DType  string // f32, f16, bf16; empty if unknown
	Format string // name of the format it was read from; "preset" for presets
	Source Source
	Device *engine.Device // the device it was measured on, with its link; nil if unknown
	Chain  *engine.Chain  // nil if the network is not a chain; see also NotLinear
	Graph  *engine.Graph  // the operators; nil if the format has none
	Memory *Memory        // content of files about addresses; nil otherwise
	// History is what a recording has about Memory besides addresses; nil otherwise. The native
	// format does not keep it.
	History *History

	// Packed is a compact text of the operators that the profile was read from. With PackedMagic
	// before it, it is a file that can be read again. Links carry it beside the chain. It is
	// empty for other files, and if it would be too large.
	Packed string

	// Warnings are findings that do not prevent use. They are shown beside the profile.
	Warnings []string
}

// PackedMagic is the beginning of a file of packed operators (see package operators).
const PackedMagic = "memtide-operators/"

// Source says where the numbers come from.
type Source struct {
	Tool   string   // the program that wrote them: "collect.py", "PipeDream profiler", "preset"
	Times  Origin   // of the times
	Sizes  Origin   // of the sizes
	Device string   // the device of the times
	Notes  []string // assumptions and departures from the source, for people
	URL    string
}

// Origin says how a number was obtained.
type Origin string

// The origins.
const (
	Measured  Origin = "measured"  // by running it
	Exact     Origin = "exact"     // from shapes, equal to what a run would allocate
	Analytic  Origin = "analytic"  // from a stated formula
	Estimated Origin = "estimated" // from a rule of thumb
	Unknown   Origin = ""
)
