package choice

import "memtide/profiles/preset"

// Words is what people read about a field: its flag on the command line, if it has
// one, and its line in the documentation of links. The page does without them.
type Words struct {
	Flag string   // name of the flag; "": there is none
	Own  bool     // only commands that ask for it have the flag
	Help string   // of the flag, with the value in back quotes
	Of   []string // the values that the flag takes, if it is one of few
	Zero string   // what is expected instead of a value that says nothing
	Doc  string   // meaning, in Markdown
	Link string   // an example: the fragment of a link, in which the key stands first or last
}

// FieldWords are the words of Fields, by key.
var FieldWords = map[string]Words{
	"p": {Doc: "a network of the list, with its batch size", Link: "p=resnet101-b32"},
	"kind": {Flag: "as", Of: []string{"chain", "graph"},
		Help: "`chain|graph` how a network is taken that is both: its layers, or its operations (default chain)",
		Doc:  "`graph`: the operations of a network that is a chain too"},
	"dev": {Flag: "device",
		Help: "`ID` device, for its link to the host (memtide help devices; default " + preset.DefaultDeviceID + ")"},
	"m": {Flag: "budget", Own: true,
		Help: "`SIZE` device memory that may be used, such as 12GiB, or a share of keeping everything (default 60%)"},
	"s":  {Flag: "strategy", Own: true, Help: "`NAME` strategy (memtide help strategies; default " + DefaultStrategy + ")"},
	"s.": {Flag: "arg", Help: "`NAME=VALUE` parameter of the strategy; may be repeated", Zero: "segments=4"},
	"bw": {Flag: "bw", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help: "`RATE` bandwidth of the host link, both directions, such as 12.5GB/s (default the device's)"},
	"bwd": {Flag: "bwd", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help: "`RATE` bandwidth from the device to the host, where it differs"},
	"duplex": {Flag: "duplex", Of: []string{"half", "full"},
		Help: "`half|full` one transfer at a time, or one in each direction (default the device's)"},
	"xfer": {Flag: "transfers", Of: []string{"whole", "streamed"},
		Help: "`whole|streamed` room for a transfer is taken and given at once, or byte by byte (default whole)"},
	"alloc":  {Flag: "alloc", Own: true, Help: "`NAME` allocator (memtide help allocators; default " + DefaultAllocator + ")"},
	"alloc.": {Flag: "alloc-arg", Own: true, Help: "`NAME=VALUE` parameter of the allocator; may be repeated", Zero: "chunk=2"},
}
