package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	_ "memtide/profiles/formats/all"
	"memtide/profiles/preset"
	"memtide/web/format"
)

// commandTexts has a part for each command: a heading with its name and its arguments, the summary, the help
// besides the flags, and the examples, which are indented.
//
//go:embed commands.txt
var commandTexts string

func init() {
	for part := range strings.SplitSeq(strings.TrimPrefix(commandTexts, "# "), "\n# ") {
		heading, text, _ := strings.Cut(part, "\n")
		name, args, _ := strings.Cut(heading, " ")
		c := lookup(name)
		c.args = args
		c.summary, text, _ = strings.Cut(text, "\n\n")
		doc, examples, _ := strings.Cut(text, "\n\n    ")
		c.doc, c.examples = doc, strings.Split(strings.TrimSpace(examples), "\n    ")
	}
}

// topics are the topics of help besides the commands.
var topics = []struct {
	name, summary string
	write         func(w *tabwriter.Writer)
}{
	{"presets", "networks that need no file", presetsHelp},
	{"models", "language models for plan -model", modelsHelp},
	{"devices", "devices for -device", devicesHelp},
	{"strategies", "strategies and their parameters", strategiesHelp},
	{"allocators", "ways to place buffers, and their parameters", allocatorsHelp},
	{"formats", "files that are read", formatsHelp},
	{"json", "what -json writes", func(w *tabwriter.Writer) { fmt.Fprint(w, jsonHelp) }},
}

// help writes the overview, or the help about one command or topic.
func help(e *env, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(e.stdout, overview())
		return nil
	}
	if args[0] == "-json" && len(args) == 1 {
		return writeJSON(e, describeCommands())
	}
	if len(args) > 1 {
		return cli.Bad("help takes one command or topic; got %s", cli.Quoted(args))
	}
	if c := lookup(args[0]); c != nil {
		fmt.Fprint(e.stdout, c.usage())
		return nil
	}
	var names []string
	for _, t := range topics {
		if t.name == args[0] {
			fmt.Fprint(e.stdout, cli.Table(t.write))
			return nil
		}
		names = append(names, t.name)
	}
	return cli.Bad("there is no help about %q; known are %s, %s", args[0], strings.Join(commandNames(), ", "),
		strings.Join(names, ", "))
}

// overview returns the text of help without arguments.
func overview() string {
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "memtide shows how a training step fits into a memory budget.\n\nCommands\n")
		for _, c := range commands {
			fmt.Fprintf(w, "  %s\t%s\n", c.name, c.summary)
		}
		fmt.Fprint(w, "  help\tthis text, or more about a command or a topic; -json: all commands and flags for programs\n\nTopics\n")
		for _, t := range topics {
			fmt.Fprintf(w, "  %s\t%s\n", t.name, t.summary)
		}
		fmt.Fprint(w, "\nExamples\n")
		for _, c := range commands {
			fmt.Fprintf(w, "  %s\n", c.examples[0])
		}
	})
}

// described is the description of a command for programs.
type described struct {
	Name     string          `json:"name"`
	Args     string          `json:"args,omitempty"`
	Summary  string          `json:"summary"`
	Doc      string          `json:"doc"`
	Examples []string        `json:"examples"`
	Flags    []describedFlag `json:"flags"`
}

type describedFlag struct {
	Name    string `json:"name"`
	Value   string `json:"value,omitempty"` // placeholder for the value; empty for a switch
	Doc     string `json:"doc"`
	Default string `json:"default,omitempty"`
}

// describeCommands returns all commands with their flags, for help -json.
func describeCommands() any {
	out := struct {
		Schema   string      `json:"schema"`
		Commands []described `json:"commands"`
	}{Schema: "memtide-help/1"}
	for _, c := range commands {
		d := described{c.name, c.args, c.summary, c.doc, c.examples, []describedFlag{}}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.flags(fs)
		fs.VisitAll(func(f *flag.Flag) {
			value, text := flag.UnquoteUsage(f)
			d.Flags = append(d.Flags, describedFlag{f.Name, value, strings.TrimPrefix(text, value+" "), f.DefValue})
		})
		out.Commands = append(out.Commands, d)
	}
	return out
}

// usage returns the text of -h.
func (c *command) usage() string {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.flags(fs)
	return cli.Help("memtide "+c.name+" "+c.args, c.doc, fs, c.examples)
}

// presetParts lists the parts of a reference to a preset; see preset.Parse.
var presetParts = [][3]string{
	{"-b64", "samples per step", "resnet101-b64"},
	{"-500px", "side of the images", "vgg16-500px-b64"},
	{"-512tok", "length of the sequences", "gpt2-medium-512tok-b8"},
	{"-f32 -f16 -bf16", "precision of the activations", "resnet50-f16-b32"},
	{"-60pct", "efficiency: share of the device's peak", "gpt2-medium-60pct-b8"},
	{"-sgd -adamw", "the states and the step of an optimizer, by a rule", "resnet50-adamw-b32"},
	{"-mp", "a second, performance-optimal algorithm for convolutions (AlexNet and VGG)", "vgg16-mp-b64"},
	{"-graph", "the operations instead of the chain", "resnet50-graph-b32"},
	{"-OPTION.VALUE", "of a step: an option of plan, _ for -", "llama3-8b-step-optimizer.adamw_8bit-b1"},
	{"-on-DEVICE", "device that the times are for", "resnet50-on-a100-sxm-40gb-b32"},
}

// ownOptions describes the options with which a preset is built by default.
func ownOptions(p *preset.Preset) string {
	switch o := p.Options(); {
	case p.Images():
		return fmt.Sprintf("%d px, %s", o.Image, o.Precision)
	case p.Sequences():
		return fmt.Sprintf("%d tokens, %s", o.Tokens, o.Precision)
	case p.Suggest == nil:
		return "buffers, for the page's address view"
	}
	return "made by hand"
}

func presetsHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Presets, with their usual batch size. Networks can be varied by parts after the name, in any order:\n\n")
	for _, part := range presetParts {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", part[0], part[1], part[2])
	}
	group := ""
	for _, p := range preset.Presets() {
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(w, "\n%s\n", group)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", preset.Ref(p.ID, p.DefaultBatch), p.Title, ownOptions(p))
	}
}

func devicesHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Devices: memory, link to the host in each direction, and what times are estimated from: peaks in 32 and\n16 bits, rate of the device's own memory. Name them with -device for the link and in a preset for the times.\n\n")
	for _, d := range card.All() {
		mark := ""
		if d.ID == card.DefaultID {
			mark = "default"
		} else if d.Instead != "" {
			mark = "of old links; now " + d.Instead
		}
		rates := format.Rate(d.ToDev)
		if d.ToHost != d.ToDev {
			rates += ", to host " + format.Rate(d.ToHost)
		}
		peaks := fmt.Sprintf("%.4g and %.4g TFLOP/s", float64(d.Peak("f32"))/1e12, float64(d.Peak("f16"))/1e12)
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s duplex\t%s\t%s\t%s\n", d.ID, d.Name, format.Bytes(d.Memory), rates,
			d.Duplex, peaks, format.Rate(d.MemoryRate), mark)
	}
}

func strategiesHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Strategies, for -strategy; parameters, for -arg NAME=VALUE.\n")
	for _, s := range engine.Strategies() {
		describe(w, s.Name, s.Title, s.Doc, "-arg", s.Params)
	}
}

// describe lists a method with its parameters, which flag sets.
func describe(w io.Writer, name, title, doc, flag string, params []engine.Param) {
	fmt.Fprintf(w, "\n%s\t%s\n\t%s\n", name, title, doc)
	for _, p := range params {
		legal := strings.Join(p.Choices, ", ")
		if p.Choices == nil {
			legal = fmt.Sprintf("%d to %d", p.Min, p.Max)
		}
		fmt.Fprintf(w, "\t%s %s=%s  %s: %s\n", flag, p.Name, p.Default, p.Title, legal)
	}
}

func formatsHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Formats; files are told apart by their content and may be gzipped.\n")
	for _, f := range profiles.Formats() {
		describe(w, f.Name, f.Title, f.Doc, "", nil)
	}
}

// jsonHelp explains every field that -json writes, a part for each command; a test compares it with the types of the
// reports.
//
//go:embed help_json.txt
var jsonHelp string
