package choice

import "memtide/profiles/card"

// Words are the texts about the flag of a field on the command line. The page does not use them.
type Words struct {
	Flag string   // name of the flag
	Own  bool     // only commands that name the flag have it
	Help string   // help of the flag, with the value in back quotes
	Of   []string // the values that the flag accepts, if they are few
	Zero string   // what the flag expects, for the error about a value that says nothing
}

// FieldWords are the words of those of Fields that have a flag, by key.
var FieldWords = map[string]Words{
	"kind": {Flag: "as", Of: []string{"chain", "graph"},
		Help: "`chain|graph` how a network is taken that is both: its layers, or its operations (default chain)"},
	"dev": {Flag: "device",
		Help: "`ID` device, for its link to the host (memtide help devices; default " + card.DefaultID + ")"},
	"m": {Flag: "budget", Own: true,
		Help: "`SIZE` device memory that may be used, such as 12GiB, or a share of keeping everything (default the device's, less CUDA and the allocator's margin)"},
	"s": {Flag: "strategy", Own: true,
		Help: "`NAME` strategy (memtide help strategies; default " + DefaultStrategy + ")"},
	"s.": {Flag: "arg", Zero: "segments=4",
		Help: "`NAME=VALUE` parameter of the strategy; may be repeated"},
	"bw": {Flag: "bw", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help: "`RATE` bandwidth of the host link, both directions, such as 12.5GB/s (default the device's)"},
	"bwd": {Flag: "bwd", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help: "`RATE` bandwidth from the device to the host, where it differs"},
	"duplex": {Flag: "duplex", Of: []string{"half", "full"},
		Help: "`half|full` one transfer at a time, or one in each direction (default the device's)"},
	"xfer": {Flag: "transfers", Of: []string{"whole", "streamed"},
		Help: "`whole|streamed` room for a transfer is taken and given at once, or byte by byte (default whole)"},
	"alloc": {Flag: "alloc", Own: true,
		Help: "`NAME` allocator (memtide help allocators; default " + DefaultAllocator + ")"},
	"alloc.": {Flag: "alloc-arg", Own: true, Zero: "chunk=2",
		Help: "`NAME=VALUE` parameter of the allocator; may be repeated"},
}
