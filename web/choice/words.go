package choice

import "memtide/profiles/card"

// Words are the texts about a field: its flag on the command line, if it has one, and its
// row in docs/links.md. The page does not use them.
type Words struct {
	Flag  string   // name of the flag; "" if there is none
	Own   bool     // only commands that name the flag have it
	Help  string   // help of the flag, with the value in back quotes
	Of    []string // the values that the flag accepts, if they are few
	Zero  string   // what the flag expects, for the error about a value that says nothing
	Doc   string   // meaning of the key, in Markdown; "" if the row before describes it
	Links []string // examples: fragments that open the page
}

// FieldWords are the words of Fields, by key.
var FieldWords = map[string]Words{
	"p":    {Doc: "a network of the list, with its batch size", Links: []string{"v=1&p=resnet101-b32"}},
	"from": {Doc: "where the network of B is, if it is neither A's nor one of the list: `link`: in `b.d`, `file`: in a file that no link holds"},
	"kind": {Flag: "as", Of: []string{"chain", "graph"},
		Help:  "`chain|graph` how a network is taken that is both: its layers, or its operations (default chain)",
		Doc:   "`graph`: the operations of a network that is a chain too, as of every preset whose operators are known",
		Links: []string{"v=1&p=resnet50-b32&kind=graph"}},
	"dev": {Flag: "device",
		Help: "`ID` device, for its link to the host (memtide help devices; default " + card.DefaultID + ")",
		Doc:  "a device of the list: its memory, bandwidths and duplex; or another card by its figures: memory and, where they are known, `link`, `rate` of dense 16-bit products and `own`, the bandwidth of its memory",
		Links: []string{"v=1&p=resnet101-b32&dev=a100-sxm-40gb",
			"v=1&p=resnet101-b32&dev=24gib-link25gbps-rate165tflops"}},
	"m": {Flag: "budget", Own: true,
		Help:  "`SIZE` device memory that may be used, such as 12GiB, or a share of keeping everything (default the device's, less CUDA and the allocator's margin)",
		Doc:   "budget, with a unit or in per cent of keeping everything, down to millionths of one; if it is missing, the memory of the device less 1 GiB for CUDA and 6 % for the allocator, in tenths of a GiB",
		Links: []string{"v=1&p=resnet101-b32&m=12GiB", "v=1&p=resnet101-b32&m=45.5%25"}},
	"s": {Flag: "strategy", Own: true,
		Help: "`NAME` strategy (memtide help strategies; default " + DefaultStrategy + ")",
		Doc: "strategy; `" + DefaultStrategy +
			"` if it is missing; where `m` is missing too, keeping everything if that fits, else `pofo` for chains of up to 128 stages and `blocks` for graphs",
		Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy"}},
	"s.": {Flag: "arg", Zero: "segments=4",
		Help:  "`NAME=VALUE` parameter of the strategy; may be repeated",
		Doc:   "a parameter of the strategy",
		Links: []string{"v=1&p=resnet101-b32&s=sequential&s.segments=4"}},
	"policy.": {Doc: "of the step of a language model: what its blocks keep, instead of a strategy, in the flags of `memtide plan` about checkpointing",
		Links: []string{"v=1&p=llama3-8b-step-b1&policy.ckpt=sac_op"}},
	"bw": {Flag: "bw", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help:  "`RATE` bandwidth of the host link, both directions, such as 12.5GB/s (default the device's)",
		Doc:   "bandwidth to the device and to the host, if that differs",
		Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&bw=12GBps&bwd=6GBps"}},
	"bwd": {Flag: "bwd", Zero: "a bandwidth above 0, for example 12 GB/s",
		Help: "`RATE` bandwidth from the device to the host, where it differs"},
	"duplex": {Flag: "duplex", Of: []string{"half", "full"},
		Help:  "`half|full` one transfer at a time, or one in each direction (default the device's)",
		Doc:   "`half` or `full`",
		Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&duplex=full"}},
	"xfer": {Flag: "transfers", Of: []string{"whole", "streamed"},
		Help:  "`whole|streamed` room for a transfer is taken and given at once, or byte by byte (default whole)",
		Doc:   "`whole` or `streamed` transfers",
		Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&xfer=streamed"}},
	"alloc": {Flag: "alloc", Own: true,
		Help:  "`NAME` allocator (memtide help allocators; default " + DefaultAllocator + ")",
		Doc:   "allocator of the address view, which is open",
		Links: []string{"v=1&p=vgg16-b64&m=80%25&alloc=best-fit"}},
	"step": {Doc: "a language model whose [training step](language-models.md) is asked about, or the text of its `config.json`; one that strategies can plan opens as `p` does, with everything kept, or a `config.json` by the strategy `s`",
		Links: []string{"v=1&step=llama3-8b"}},
	"step.": {Doc: "what is chosen about that step: the flags of `memtide plan`, `yes` for a switch, `context` in MiB, `height` and `width` for `-side`",
		Links: []string{"v=1&step=llama3-8b&step.gpus=8&step.seq=4096"}},
	"ops": {Doc: "beside `d`, the operators of the step that its chain is derived from, for plans of the model: `1.` and base64url of what package operators describes"},
	"alloc.": {Flag: "alloc-arg", Own: true, Zero: "chunk=2",
		Help: "`NAME=VALUE` parameter of the allocator; may be repeated"},
}
