// Package pipedream reads the graphs of PipeDream's and DAPPLE's profilers.
package pipedream

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/chainify"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "pipedream",
		Title:      "PipeDream or DAPPLE graph.txt",
		Doc:        "The operator graph that PipeDream's profiler writes, and a chain made of it.",
		TimeUnit:   "milliseconds",
		Extensions: []string{".txt", ".graph.txt"},
		Match:      matchPipeDream,
		Decode:     decodePipeDream,
	})
}

const (
	sep    = " -- "
	pdTime = "forward_compute_time="
)

// debias is the synchronization time in every forward. Profiles of V100s show 0.25 to 0.3 ms for
// operators that take almost no time.
const debias = 250 * time.Microsecond

// most bounds operators and edges, so that reading stays far below a second.
const most = engine.MaxStages

// pdLine is the longest line in bytes. It suffices for an operator with a thousand outputs.
const pdLine = 64 << 10

// matchPipeDream claims text whose first line is an operator or an edge, and whose head has an operator.
func matchPipeDream(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.HasPrefix(first, []byte("node")) && bytes.Contains(first, []byte(sep)) &&
		bytes.Contains(head, []byte(pdTime))
}

// graph is the content of the file.
type graph struct {
	ops   []chainify.Operator
	lines []int // of the operators
	byID  map[string]int
	edges []pdEdge
	load  time.Duration // time of data loading, which is dropped
	timed int           // number of forwards that were debiased
	torch bool          // descriptions have arguments, as PyTorch prints modules
	raw   time.Duration // sum of the forward times before that
	errs  *parse.Errors
}

// pdEdge is an edge in the file, whose operators may come later.
type pdEdge struct {
	line     int
	from, to string
}

func decodePipeDream(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	g := &graph{byID: map[string]int{}, errs: parse.NewErrors(len(data))}
	g.readLines(string(data), poll)
	g.connect()
	g.errs.End()
	for i := range g.ops {
		switch o := &g.ops[i]; {
		case o.Is(chainify.IsInput):
			g.load += o.Forward
			o.Forward = 0
		case o.Forward > 0 && g.torch:
			g.raw += o.Forward
			g.timed++
			o.Forward = max(0, o.Forward-debias)
		}
	}
	l, err := chainify.Linearize(g.ops, poll)
	if err != nil {
		profiles.End(poll.Err())
		g.errs.Fail(&profiles.FormatError{Found: "No chain can be made: " + err.Error(),
			Expected: "A graph of operators from an input to an output is expected.",
			Remedy:   "Check the edges of the file."})
	}
	return g.profile(name, l)
}

// readLines reads the operators and edges.
func (g *graph) readLines(text string, poll *engine.Poll) {
	for line := 1; text != ""; line++ {
		profiles.End(poll.Err())
		var s string
		s, text, _ = strings.Cut(text, "\n")
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if len(s) > pdLine {
			g.errs.Fail(&profiles.FormatError{Line: line, Found: fmt.Sprintf("the line is %d bytes long", len(s)),
				Expected: fmt.Sprintf("Lines of at most %d bytes are read.", pdLine),
				Remedy:   "Keep only the numbers of the format in it."})
		}
		if len(g.ops) > most || len(g.edges) > 8*most {
			g.errs.Fail(&profiles.FormatError{Line: line,
				Found:    fmt.Sprintf("there are more than %d operators or %d edges", most, 8*most),
				Expected: "Larger graphs are not read.", Remedy: "Profile with coarser modules."})
		}
		if strings.Contains(s, pdTime) {
			g.readOperator(line, s)
			continue
		}
		from, to, ok := strings.Cut(s, sep)
		if !ok || strings.Contains(to, sep) || from == "" || to == "" {
			g.errs.Add(&profiles.FormatError{Line: line, Found: fmt.Sprintf("the line is %q", profiles.Clip(s)),
				Expected: "An operator or an edge such as node1 -- node2 is expected.",
				Remedy:   "Remove or complete the line."})
			continue
		}
		g.edges = append(g.edges, pdEdge{line, strings.TrimSpace(from), strings.TrimSpace(to)})
	}
}

// readOperator reads "id -- description -- key=value, key=value, ...".
func (g *graph) readOperator(line int, s string) {
	at := strings.LastIndex(s, pdTime)
	id, description, ok := strings.Cut(s[:at], sep)
	description, ends := strings.CutSuffix(description, sep)
	if !ok || !ends {
		g.errs.Add(&profiles.FormatError{Line: line,
			Found:    fmt.Sprintf("the line begins with %q", profiles.Clip(s[:at])),
			Expected: "An operator is written as: id -- description -- forward_compute_time=...",
			Remedy:   "Correct the line."})
		return
	}
	if first, twice := g.byID[id]; twice {
		g.errs.Add(&profiles.FormatError{Line: line,
			Found:    fmt.Sprintf("%s is described again, after line %d", profiles.Clip(id), g.lines[first]),
			Expected: "Every operator has one line.", Remedy: "Remove one of the lines."})
		return
	}
	values, _, _ := strings.Cut(s[at:], sep) // a stage number may follow
	o := chainify.Operator{Name: g.errs.ReadName(line, id)}
	o.Forward = time.Duration(g.readField(line, values, "forward_compute_time", parse.Milliseconds))
	o.Back = time.Duration(g.readField(line, values, "backward_compute_time", parse.Milliseconds))
	o.Out = engine.Bytes(g.readField(line, values, "activation_size", parse.ByteCount))
	o.Weights = engine.Bytes(g.readField(line, values, "parameter_size", parse.ByteCount))
	describeOperator(&o, description)
	g.torch = g.torch || strings.Contains(description, "(")
	g.byID[id] = len(g.ops)
	g.ops = append(g.ops, o)
	g.lines = append(g.lines, line)
}

// readField reads key=number, or the sum of key=[number; number].
func (g *graph) readField(line int, values, key string, q parse.Quantity) (sum int64) {
	at := strings.Index(values, key+"=")
	if at < 0 {
		g.errs.AddAt(line, &profiles.FormatError{Found: key + " is missing", Remedy: "Add the number; 0 is allowed.",
			Expected: "An operator has forward_compute_time, backward_compute_time, activation_size and parameter_size."})
		return 0
	}
	text := strings.TrimSpace(values[at+len(key)+1:])
	if list, ok := strings.CutPrefix(text, "["); ok {
		text, _, _ = strings.Cut(list, "]")
	} else {
		text, _, _ = strings.Cut(text, ",")
	}
	for part := range strings.SplitSeq(text, ";") {
		v, e := q.Read(key, part)
		if e != nil {
			g.errs.AddAt(line, e)
			return 0
		}
		if sum += v; sum > parse.MaxNumber {
			g.errs.AddAt(line, &profiles.FormatError{Found: key + " adds up to more than 2^53",
				Expected: q.Plural + " above 2^53 are not read.",
				Remedy:   "Check the numbers of the list."})
			return 0
		}
	}
	return sum
}

// connect resolves the edges.
func (g *graph) connect() {
	seen := map[[2]int]bool{}
	for _, e := range g.edges {
		from, ok := g.byID[e.from]
		to, ok2 := g.byID[e.to]
		if !ok || !ok2 {
			missing := e.from
			if ok {
				missing = e.to
			}
			g.errs.Add(&profiles.FormatError{Line: e.line,
				Found:    fmt.Sprintf("no line describes %q", profiles.Clip(missing)),
				Expected: "Both ends of an edge are operators of the file.",
				Remedy:   "Add the operator, or remove the edge."})
			continue
		}
		if edge := [2]int{from, to}; !seen[edge] {
			seen[edge] = true
			g.ops[to].Preds = append(g.ops[to].Preds, from)
		}
	}
	if len(g.ops) == 0 {
		g.errs.Add(parse.EmptyChain())
	}
}

// profile returns the profile of the chain, with notes about its numbers.
func (g *graph) profile(name string, l *chainify.Result) *profiles.Profile {
	c := &engine.Chain{Name: name, Input: l.Input, Stages: l.Stages,
		Resident: engine.Resident{Weights: l.Weights, Grads: l.Weights, Pinned: l.Pinned}}
	(&parse.StageReader{Errs: g.errs}).Finish(c, false)
	g.errs.CheckGraph(l.Graph)
	notes := []string{
		"What the backward needs, and temporary memory, follow from the kinds of operators; workspaces of convolutions are not in the file.",
		"Gradients are as large as outputs, and gradients of weights as large as the weights; the state of the optimizer is not in the file.",
		"The file does not tell the batch size.",
	}
	tool, warnings := "PipeDream profiler", []string(nil)
	if g.torch {
		notes = append([]string{fmt.Sprintf("%v of synchronization was taken off each of %s: the forward was %v and is %v.", debias, profiles.Count(g.timed, "forward time"),
			g.raw.Round(100*time.Microsecond), c.ForwardTime().Round(100*time.Microsecond))}, notes...)
	} else {
		tool = "DAPPLE profile"
		warnings = []string{"The operators are whole blocks: what they save inside is not in the file, so the memory shown is too small."}
	}
	if g.load > 0 {
		notes = append(notes, fmt.Sprintf("%v of data loading was dropped.", g.load))
	}
	return &profiles.Profile{Name: name, DType: "f32", Chain: c, Graph: l.Graph, Warnings: warnings,
		Source: profiles.Source{Tool: tool, Times: profiles.Measured, Sizes: profiles.Analytic,
			Notes: append(notes, l.Notes...)}}
}

// describeOperator sets the kind, the traits and the saved memory of an operator from its description. The rules are
// those of PyTorch's autograd: convolutions, normalizations, linear layers, pools and recurrent layers save their
// inputs; ReLU, sigmoid, softmax and recurrent layers their outputs; max-pooling saves 64-bit indices, twice its 32-bit
// output; dropout a mask of one byte per element.
func describeOperator(o *chainify.Operator, description string) {
	kind, _, _ := strings.Cut(description, "(")
	kind, _, _ = strings.Cut(strings.TrimSpace(kind), " ")
	o.Kind = profiles.Clip(kind)
	o.Traits = chainify.Guessed
	for _, r := range rules {
		if slices.Contains(strings.Fields(r.kinds), kind) {
			o.Traits, o.Family = r.traits, r.family
		}
	}
	switch lower := strings.ToLower(kind); {
	case strings.HasPrefix(kind, "Input") || kind == "input_ids" || kind == "attention_mask":
		o.Traits |= chainify.IsInput
	case o.Family == "" && strings.HasPrefix(lower, "conv"):
		o.Traits, o.Family = chainify.SavesIn, "conv"
	case o.Family == "" && (strings.HasPrefix(lower, "layer_") || strings.HasPrefix(lower, "cell")):
		o.Traits = chainify.SavesIn // whole blocks that were profiled as one operator
	}
	if strings.Contains(description, "inplace") {
		o.Traits |= chainify.InPlace
	}
	switch kind {
	case "MaxPool2d":
		o.Aux = 2 * o.Out
	case "Dropout":
		o.Aux = o.Out / 4
	}
}

// rules are the families and the traits of kinds of operators.
var rules = []struct {
	kinds, family string
	traits        chainify.Traits
}{
	{"Conv2d", "conv", chainify.SavesIn},
	{"BatchNorm2d LayerNorm", "norm", chainify.SavesIn},
	{"Linear Classifier", "fc", chainify.SavesIn},
	{"MaxPool2d AvgPool2d", "pool", chainify.SavesIn},
	{"LSTM EmuBidirLSTM", "rnn", chainify.SavesIn | chainify.SavesOut},
	{"RecurrentAttention", "attention", chainify.SavesIn | chainify.SavesOut},
	{"Embedding", "embed", chainify.SavesIn},
	{"SoftmaxCrossEntropyLoss", "act", chainify.SavesIn},
	{"ReLU Sigmoid Tanh Softmax", "act", chainify.SavesOut},
	{"Dropout", "act", 0},
	{"Add Concat", "", chainify.PassesGrad},
	{"View Flatten reshape_input __getitem__", "", chainify.IsView | chainify.PassesGrad},
	{"Size", "", chainify.IsView | chainify.IsShape},
}
