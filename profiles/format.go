// Package profiles holds Profile, the description of a network into which every format, preset
// and link is converted, and Decode, which reads one from a file.
//
// A Format is a value that its package registers in an init function; a program reads the
// formats that it imports. Decode asks every format whether it recognizes the content, and
// exactly one may. File names never tell formats apart: they only name the profile.
//
// A Budget bounds the cost of reading. Decoders charge it before they allocate. An error that
// the user has to repair is a *FormatError with the place, what was found, what was expected and
// what to do; it ends reading (End). Other findings are warnings of the profile (Lint).
//
// Subpackages: formats has a folder for each format; parse and jsonfile are shared by them; chainify turns operators
// into a chain; preset and analytic describe networks and times without files. To add a format, see CONTRIBUTING.md.
package profiles

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"memtide/engine"
)

// Format is one kind of file that profiles are read from. A package of profiles/formats adds one
// by calling Register in its init function.
type Format struct {
	Name       string   // stable, lower-case letters and digits
	Title      string   // for people: a few words
	Doc        string   // a summary of one sentence; docs/formats.md says more
	Extensions []string // usual endings of names, for file pickers; never used to tell formats apart
	TimeUnit   string   // of the times in its files, in the plural; empty: seconds
	MaxSize    int      // the largest unpacked content that is read whole; 0 means usualSize
	MaxStream  int      // the largest content that Stream reads, if that is more

	// Match claims content by its first HeadSize bytes, without a byte order mark. No two
	// formats may claim the same content.
	Match func(head []byte) bool

	// Decode reads content that Match has claimed. Like Stream, it ends (see End) with
	// *FormatError, *FormatErrors, or the poll's own error.
	Decode func(name string, data []byte, poll *engine.Poll) *Profile

	// Stream decodes content piece by piece: packed content while it is unpacked, and files
	// without loading them. It is for formats whose files are too large to be held whole; if
	// nil, Decode is called. If Decode is nil, Stream reads content in memory as well.
	//
	// total is the size of the unpacked content, 0 if unknown. If r is also an io.Seeker, Stream
	// can skip parts of it, and should read large blocks. device selects one of several devices;
	// AnyDevice selects the one that the file says most about.
	Stream func(name string, r io.Reader, total, device int, poll *engine.Poll) *Profile
}

// HeadSize is how many bytes of a file Match gets; a smaller file is passed whole.
const HeadSize = 64 << 10

var formats = engine.Registry[Format]{Kind: "profiles: format", Name: func(f *Format) string { return f.Name }}

// Register adds a format, for init functions: see engine.Registry.
func Register(f *Format) { formats.Register(f) }

// Formats returns the formats that this program reads, sorted by name. The caller owns the slice.
func Formats() []*Format { return formats.All() }

// linked lists, separated by commas, the endings of the formats that another program reads for
// this one. The linker sets it (see cmd/build).
var linked string

// Extensions returns the usual endings of files that are read, for file pickers. They include
// those of formats that another program reads for this one.
func Extensions() []string {
	var all []string
	for _, f := range formats.All() {
		all = append(all, f.Extensions...)
	}
	if linked != "" {
		all = append(all, strings.Split(linked, ",")...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

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

	// Step holds the options of package ask with which the step of a config.json was played, and
	// Model the part of the file that was read. They are empty for other files.
	Step  map[string]string
	Model string

	// Reserved is the least and the most that PyTorch's allocator was seen to reserve for the step, if it was played
	// under a policy of checkpointing, and Host is the most that then waits in host memory; 0 for other profiles, and
	// in files.
	Reserved [2]engine.Bytes
	Host     engine.Bytes

	// Warnings are findings that do not prevent use. They are shown beside the profile.
	Warnings []string
}

// Note adds a note on the source of the numbers.
func (p *Profile) Note(format string, args ...any) {
	p.Source.Notes = append(p.Source.Notes, fmt.Sprintf(format, args...))
}

// Warn adds a warning.
func (p *Profile) Warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// PackedMagic is the beginning of a file of packed operators (see package operators).
const PackedMagic = "memtide-operators/"

// Source says where the numbers come from.
type Source struct {
	Tool   string   `json:"tool,omitempty"`   // what wrote them: "collect.py", "PipeDream profiler", "preset"
	Times  Origin   `json:"times,omitempty"`  // of the times
	Sizes  Origin   `json:"sizes,omitempty"`  // of the sizes
	Device string   `json:"device,omitempty"` // the device of the times
	Notes  []string `json:"notes,omitempty"`  // assumptions and departures from the source, for people
	URL    string   `json:"url,omitempty"`
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
