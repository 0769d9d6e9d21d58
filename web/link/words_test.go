package link

import "memtide/web/choice"

// LinkWords and ViewWords document the keys that are not fields of a choice (see choice.FieldWords): those of the
// link itself and of the look.
var (
	LinkWords = map[string]choice.Words{
		"v":    {Doc: "version of the link; 1 if it is missing"},
		keySum: {Doc: "checksum of the settings, in links that the page or the command line wrote; leave it out when you write or change one"},
		"d":    {Doc: "a whole profile instead of `p`, see below"},
		"b.": {Doc: "the same keys for a second side, B, to compare with; the command line takes it with `-side b`",
			Links: []string{"v=1&p=vgg16-b64&m=80%25&b.s=greedy"}},
	}
	ViewWords = map[string]choice.Words{
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
