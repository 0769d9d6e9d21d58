package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/profiles/llm/megatron"
	"memtide/web/format"
)

var planCommand = &command{
	name: "plan",
	flags: func(fs *flag.FlagSet) action {
		var p planFlags
		p.define(fs)
		return func(ctx context.Context, e *env, args []string) { p.run(ctx, e, args) }
	},
}

// planFlags holds the values of the flags.
type planFlags struct {
	model  string
	args   engine.Args
	asJSON bool
	limit  time.Duration

	own ownCard

	megatron string // a command line of Megatron-LM, or a file that contains one
	settings bool   // write Megatron-LM's flags instead of an answer

	chain bool   // write the step instead of an answer
	file  string // file for the step; empty for the standard output
}

// define adds a flag for each option of package ask.
func (p *planFlags) define(fs *flag.FlagSet) {
	p.args = engine.Args{}
	fs.StringVar(&p.model, "model", "",
		"`NAME` of a known model, also as Hugging Face has it, instead of a config.json; memtide help models lists them")
	for _, o := range ask.Options {
		set := func(value string) error {
			p.args[o.Name] = value
			return nil
		}
		doc := ask.Doc(o.Name)
		help := doc + fmt.Sprintf(" (default %s)", o.Default)
		switch {
		case o.Name == ask.Context, o.Name == ask.Beside:
			if o.Name == ask.Context {
				doc += " (default 1GiB)"
			}
			fs.Func(o.Name, doc, func(value string) error {
				n, err := format.ParseBytes(value)
				if err == nil {
					p.args[o.Name] = strconv.FormatInt(int64((n+engine.MiB-1)/engine.MiB), 10)
				}
				return err
			})
		case o.Name == "height":
			fs.Func("side",
				"`PIXELS` of a picture or a frame, height x width, for example 480x832, or one number for both; instead of -seq (default 512, of videos 480x832 and 81 frames)",
				func(value string) error {
					height, width, both := strings.Cut(strings.ToLower(value), "x")
					if !both {
						width = height
					}
					p.args["height"], p.args["width"] = height, width
					return nil
				})
		case o.Name == "width": // of -side
		case slices.Contains(o.Choices, "yes"):
			fs.BoolFunc(o.Name, doc, func(value string) error {
				on, err := strconv.ParseBool(value)
				if on {
					value = "yes"
				} else {
					value = "no"
				}
				return errors.Join(err, set(value))
			})
		case o.Choices != nil && o.Name != "device":
			choices := strings.Join(o.Choices, ", ")
			if o.Name != "schedule" {
				choices = strings.Replace(choices, ask.Auto, ask.Auto+" (by the program)", 1)
			}
			fs.Func(o.Name, doc+": "+choices+fmt.Sprintf(" (default %s)", o.Default), set)
		default:
			fs.Func(o.Name, help, set)
		}
	}
	p.own.define(fs)
	fs.StringVar(&p.megatron, "megatron", "",
		"`FLAGS` of Megatron-LM's command line, or a file that contains them, that say the layout; flags beside them go before")
	fs.BoolVar(&p.settings, "settings", false, "write Megatron-LM's flags of the layout instead of an answer")
	fs.BoolVar(&p.chain, "chain", false,
		"write the step as a chain of blocks and as operations with those of the network and the host (-as graph), a profile for solve, sweep and the page, which choose checkpointing and offloading")
	fs.StringVar(&p.file, "o", "", "`FILE` that -chain writes to instead of the standard output")
	fs.DurationVar(&p.limit, "limit", 0,
		"`TIME` most that the answer may take, such as 30s; 0 is as long as it needs; what is known by then is written")
	fs.BoolVar(&p.asJSON, "json", false, "write the answer as JSON")
}

// ask returns the question of the flags and the file.
func (p *planFlags) ask(ctx context.Context, e *env, args []string) llm.Ask {
	if id := p.own.id(p.args["device"]); id != "" {
		p.args["device"] = id
	}
	m := p.network(ctx, e, args)
	if m.Latents != nil && p.args["seq"] == "" && p.args["frames"] == "" && p.args["height"] == "" {
		p.args = ask.Sized(p.args, strings.ToLower(m.Name))
	}
	if p.megatron != "" {
		p.layout(ctx, e, int(m.Layers))
	}
	usual, _ := strconv.ParseInt(ask.Value(p.args, "seq"), 10, 64)
	if most := cmp.Or(m.Longest, m.Patches, m.Positions); most > 0 && most < usual && p.args["seq"] == "" {
		p.args["seq"] = strconv.FormatInt(most, 10)
	}
	const swap = "swap-blocks"
	if p.args[swap] != ask.Auto {
		return valid(llm.New(m.Model, p.args))
	}
	delete(p.args, swap)
	poll := engine.NewPoll(ctx, nil)
	a := valid(llm.New(m.Model, p.args)).Until(poll)
	n := valid(a.FewestSwapped())
	if n == 0 && valid(a.Estimate()).Verdict != llm.Fits { // it does not fit with any number
		n = a.Setup.MostSwapped()
	}
	p.args[swap] = strconv.FormatInt(n, 10)
	return valid(llm.New(m.Model, p.args))
}

// layout reads Megatron-LM's flags; flags of plan override them.
func (p *planFlags) layout(ctx context.Context, e *env, layers int) {
	text := p.megatron
	if !strings.Contains(text, "--") {
		text = string(contents(ctx, e, text))
	}
	gpus, _ := strconv.Atoi(p.args["gpus"]) // megatron.Read or llm.New refuses another value
	read := valid(megatron.Read(text, layers, gpus))
	if len(read.Left) > 0 {
		cli.Must(fmt.Fprintf(e.stderr, "memtide plan: left out, for no option says it: %s\n",
			strings.Join(read.Left, " ")))
	}
	maps.Copy(read.Args, p.args)
	p.args = read.Args
}

// network returns the model of -model or of the file.
func (p *planFlags) network(ctx context.Context, e *env, args []string) *family.Reading {
	switch {
	case p.model != "" && len(args) > 0:
		fail("-model and %s are two networks; want one", cli.Quoted(args))
	case p.model != "":
		if m := family.Lookup(p.model); m != nil {
			return &family.Reading{Model: m}
		}
		fail("there is no model %q; memtide help models lists them, names of Hugging Face mean them, and a config.json is given without -model", p.model)
	case len(args) != 1:
		fail("plan takes one config.json, or -model; got %d files", len(args))
	}
	return readModel(args[0], contents(ctx, e, args[0]))
}

// readModel returns the model of a config.json. The error for another kind of file is that of solve.
func readModel(name string, data []byte) *family.Reading {
	m, err := family.Read(data)
	if err == nil {
		return m
	}
	named := func(key string) bool { return bytes.Contains(data, []byte(key)) }
	if !named(`"model_type"`) && !named(`"architectures"`) && !named(`"_class_name"`) {
		p, other := profiles.Decode(filepath.Base(name), profiles.Bytes(data), nil)
		if other == nil {
			fail("%s is a network already, %s; plan takes the config.json of a language model, and memtide solve takes this", sourceOf(name), strconv.Quote(p.Name))
		}
		err = other
	}
	readable(name, err)
	return nil
}

// fewCollections is how far the heap may grow before garbage collection, in per cent.
const fewCollections = 400

// run answers the question and writes the answer, or with -chain the step as a profile.
func (p *planFlags) run(ctx context.Context, e *env, args []string) {
	defer debug.SetGCPercent(debug.SetGCPercent(fewCollections)) // plays make much garbage, and hold little
	a := p.ask(ctx, e, args)
	if p.settings || p.chain {
		poll := engine.NewPoll(ctx, nil)
		found, err := a.Until(poll).Estimate()
		cli.Check(poll.Err())
		p.write(e, a, valid(found, err))
		return
	}
	r, stopped := p.answer(ctx, e, a)
	e.tell(p.asJSON, func() any { return r.json() }, r.text)
	if stopped {
		cli.Must(fmt.Fprintf(e.stderr,
			"memtide plan: stopped after %v with %d of %d parts; a longer -limit looks at the rest\n", p.limit,
			r.Done, llm.PlanStages))
	}
	if r.Estimate.Verdict == llm.FitsNot {
		cli.Fail("it does not fit")
	}
}

// write writes the step as a profile, or the layout as flags of Megatron-LM with the chosen order of passes.
func (p *planFlags) write(e *env, a llm.Ask, found *llm.Estimate) {
	var text bytes.Buffer
	if p.settings {
		text.WriteString(valid(megatron.Flags(a.Args, found.Order(), int(a.Setup.Model.Layers))) + "\n")
	} else {
		cli.Check(native.Encode(&text, valid(a.Profile())))
	}
	e.write(p.file, text.Bytes())
}

// answer finds the answer and what would change it, within the limit. It writes the first line as soon as it is known.
func (p *planFlags) answer(ctx context.Context, e *env, a llm.Ask) (r *planReport, stopped bool) {
	within, cancel := ctx, context.CancelFunc(func() {})
	if p.limit > 0 {
		within, cancel = context.WithTimeout(ctx, p.limit)
	}
	defer cancel()
	r = &planReport{}
	plan, err := a.Plan(engine.NewPoll(within, nil), func(plan *llm.Answer) {
		if plan.Done == 1 && !p.asJSON {
			cli.Must(fmt.Fprint(e.stdout, (&planReport{plan}).sentence()))
		}
	})
	r.Answer = plan
	switch limited := errors.Is(err, context.DeadlineExceeded); { // a poll may see the deadline before its context
	case ctx.Err() != nil:
		cli.Check(err)
	case !limited:
		valid(plan, err)
	case plan.Estimate == nil:
		cli.Fail("nothing is known after %v; a longer -limit may be enough", p.limit)
	}
	return r, err != nil
}

// amounts writes a row of n bytes with a bar, which is full for of bytes.
func amounts(w *tabwriter.Writer, of engine.Bytes, name string, n engine.Bytes) {
	fmt.Fprintf(w, "  %s\t%s\t%s\n", name, format.Bytes(n), bar(n, of))
}
