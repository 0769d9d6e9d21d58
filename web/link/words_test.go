package link

import "memtide/web/choice"

// Words are the row of a key in docs/links.md.
type Words struct {
	Doc   string   // meaning of the key, in Markdown; "" if the row before describes it
	Links []string // examples: fragments that open the page
}

// FieldWords, LinkWords and ViewWords document the keys: those of a choice (see choice.Fields), of the link itself
// and of the look.
var (
	FieldWords = map[string]Words{
		"p": {Doc: "a network of the list, with its batch size",
			Links: []string{"v=1&p=resnet101-b32"}},
		"from": {Doc: "where the network of B is, if it is neither A's nor one of the list: `link`: in `b.d`, `file`: in a file that no link holds"},
		"kind": {Doc: "`graph`: the operations of a network that is a chain too, as of every preset whose operators are known",
			Links: []string{"v=1&p=resnet50-b32&kind=graph"}},
		"dev": {Doc: "a device of the list: its memory, bandwidths and duplex; or another card by its figures: memory and, where they are known, `link`, `rate` of dense 16-bit products and `own`, the bandwidth of its memory",
			Links: []string{"v=1&p=resnet101-b32&dev=a100-sxm-40gb", "v=1&p=resnet101-b32&dev=24gib-link25gbps-rate165tflops"}},
		"m": {Doc: "budget, with a unit or in per cent of keeping everything, down to millionths of one; if it is missing, the memory of the device less 1 GiB for CUDA and 6 % for the allocator, in tenths of a GiB",
			Links: []string{"v=1&p=resnet101-b32&m=12GiB", "v=1&p=resnet101-b32&m=45.5%25"}},
		"s": {Doc: "strategy; `" + choice.DefaultStrategy + "` if it is missing; where `m` is missing too, keeping everything if that fits, else `pofo` for chains of up to 128 stages and `blocks` for graphs",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy"}},
		"s.": {Doc: "a parameter of the strategy",
			Links: []string{"v=1&p=resnet101-b32&s=sequential&s.segments=4"}},
		"policy.": {Doc: "of the step of a language model: what its blocks keep, instead of a strategy, in the flags of `memtide plan` about checkpointing",
			Links: []string{"v=1&p=llama3-8b-step-b1&policy.ckpt=sac_op",
				"v=1&p=llama3-8b-step-b1&policy.ckpt=modules&policy.recompute=mlp%2Blayernorm"}},
		"bw": {Doc: "bandwidth to the device, and to the host if that differs; beside `dev` the card stays",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&bw=12GBps&bwd=6GBps"}},
		"bwd": {},
		"duplex": {Doc: "`half` or `full`",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&duplex=full"}},
		"xfer": {Doc: "`whole` or `streamed` transfers",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&xfer=streamed"}},
		"alloc": {Doc: "allocator of the address view, which is open",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&alloc=best-fit"}},
		"step": {Doc: "a language model whose [training step](language-models.md) is asked about, or the text of its `config.json`; one that strategies can plan opens as `p` does, with everything kept, or a `config.json` by the strategy `s`",
			Links: []string{"v=1&step=llama3-8b"}},
		"step.": {Doc: "what is chosen about that step: the flags of `memtide plan`, `yes` for a switch, `context` and `beside` in MiB, `height` and `width` for `-side`",
			Links: []string{"v=1&step=llama3-8b&step.gpus=8&step.seq=4096"}},
		"ops":    {Doc: "beside `d`, the operators of the step that its chain is derived from, for plans of the model: `1.` and base64url of what package operators describes"},
		"alloc.": {},
	}
	LinkWords = map[string]Words{
		"v":    {Doc: "version of the link; 1 if it is missing"},
		keySum: {Doc: "checksum of the settings, in links that the page or the command line wrote; leave it out when you write or change one"},
		"d":    {Doc: "a whole profile instead of `p`, see below"},
		"b.": {Doc: "the same keys for a second side, B, to compare with; the command line takes it with `-side b`",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&b.s=greedy"}},
	}
	ViewWords = map[string]Words{
		"c": {Doc: "lines of the curve: names with commas between them, `all` or `none`",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&c=rotor,greedy"}},
		"y": {Doc: "axis of the curve: `rate`, `slowdown` or `time`; rates if it is missing",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&y=time"}},
		"at": {Doc: "one moment for all pictures, in milliseconds: the playhead, and what the map of the address view shows; without it there is no playhead, and the map shows the peak, or the request that finds no room",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&alloc=best-fit&at=120.5"}},
		"story": {Doc: "a step of a story that the page no longer tells; a link with it opens the case"},
		"play": {Doc: "`1`: the button that plays the step is put forward; nothing starts before it is pressed",
			Links: []string{"v=1&p=resnet101-b32&play=1"}},
		"t":     {Doc: "visible part of the step, in milliseconds", Links: []string{"v=1&p=resnet101-b32&t=120-480.5"}},
		"sel":   {Doc: "what is selected, by what it is", Links: []string{"v=1&p=resnet101-b32&sel=B18"}},
		"chain": {Doc: "`1`: the critical chain is shown", Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&chain=1"}},
		"beside": {Doc: "the order of passes, as in `step.schedule`, that a pipeline is compared with, below it on one axis of time",
			Links: []string{"v=1&step=llama3-8b&step.accumulate=16&step.gpus=8&step.pp=8&step.schedule=1f1b&beside=zb-h1"}},
		"open": {Doc: "what is unfolded: `lines` (all plans), `layers`, `table`, `sides` (A and B of a comparison beside each other)",
			Links: []string{"v=1&p=resnet101-b32&open=layers"}},
		"slow": {Doc: "the slowdown of a question that the page no longer asks; a link with it opens the case"},
		"show": {Doc: "parts of the page, in the order they stand: `strip` (the layers), `time`, `mem`, `curve`, `addr`, `table`; also read as `layers`, `timeline`, `memory`, `addresses`",
			Links: []string{"v=1&p=resnet101-b32&show=time,curve,mem"}},
		"title": {Doc: "up to 80 characters for the tab, for pictures and files",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&s=greedy&title=Swapping%20VGG"}},
		"theme": {Doc: "`light` or `dark`; as the system if it is missing",
			Links: []string{"v=1&p=resnet101-b32&theme=dark"}},
		"embed": {Doc: "`1`: a view in another page, see [Embedding](embedding.md)",
			Links: []string{"v=1&p=resnet101-b32&embed=1"}},
		"controls": {Doc: "`budget`: such a view has a slider",
			Links: []string{"v=1&p=resnet101-b32&embed=1&controls=budget"}},
	}
)
