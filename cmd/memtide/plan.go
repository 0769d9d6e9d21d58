//go:build !js

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles/formats/native"
	"memtide/profiles/llm"
	"memtide/profiles/preset"
	"memtide/web/format"
)

func planCommand() *command {
	return &command{
		name:    "plan",
		args:    "[flags] config.json | -model NAME",
		summary: "say whether a language model trains on these cards, and what would change it",
		doc: `Plays a training step of a language model operator by operator: parameters by
model_type, states by precision and optimizer, sharding, what autograd keeps,
the loss, and the memory that PyTorch's allocator reserves. Tells whether it
fits, what lies at the peak and in which phase, what each single change would
free and cost, and which changes make it fit. Reserved memory is a range: from
expandable segments to the allocator's default, and wider for experts, whose
load is not known. Within 5 % of the capacity an answer is uncertain. Step
times are estimates. Models whose blocks are not known are refused by name. The
exit status is 1 if it does not fit.`,
		examples: []string{
			"memtide plan -model llama3-8b -device h100-sxm-80gb -gpus 8 -shard zero3 -seq 8192 -ckpt full",
			"memtide plan config.json -device a100-sxm-80gb -gpus 4 -ckpt full -loss chunked",
		},
		flags: func(fs *flag.FlagSet) func(context.Context, *env, []string) error {
			var p planFlags
			p.define(fs)
			return func(ctx context.Context, e *env, args []string) error { return p.run(ctx, e, args) }
		},
	}
}

// planFlags are what is asked, as it is typed.
type planFlags struct {
	model, device, shard, program, ckpt, loss, optimizer, states, context string

	gpus, seq, batch, accumulate, tensor, parts, experts, lora int64
	compile, offload, asJSON                                   bool

	chain bool   // write the step instead of an answer
	file  string // that it is written to; empty: the standard output
}

func (p *planFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&p.model, "model", "", "`NAME` of a known model instead of a config.json; memtide help models lists them")
	fs.StringVar(&p.device, "device", "h100-sxm-80gb", "`DEVICE` that each of the cards is; memtide help devices lists them")
	fs.Int64Var(&p.gpus, "gpus", 1, "`N` cards")
	fs.StringVar(&p.shard, "shard", "", "`HOW` states are shared: none, zero1, zero2, zero3 (FSDP); by the program if empty, and zero3 on several cards")
	fs.Int64Var(&p.tensor, "tp", 1, "`N` ranks that share each product")
	fs.Int64Var(&p.parts, "cp", 1, "`N` ranks that share each sequence")
	fs.Int64Var(&p.experts, "ep", 1, "`N` ranks that share the experts of a block")
	fs.Int64Var(&p.seq, "seq", 8192, "`N` tokens of a sequence")
	fs.Int64Var(&p.batch, "batch", 1, "`N` sequences of a micro batch")
	fs.Int64Var(&p.accumulate, "accumulate", 1, "`N` micro batches of a step")
	fs.StringVar(&p.program, "program", llm.Programs[0].Name, "`NAME` of what runs the step: "+programNames())
	fs.StringVar(&p.states, "states", "", "`TYPE` of weights, gradients and moments: fp32, bf16; by the program if empty")
	fs.StringVar(&p.optimizer, "optimizer", "adamw", "`NAME` of the optimizer: adamw, adamw-8bit, sgd")
	fs.StringVar(&p.ckpt, "ckpt", "none", "`POLICY` of checkpointing: none, sac_op (every second product kept), sac_op_all, full")
	fs.BoolVar(&p.offload, "offload", false, "block inputs wait in host memory; needs -ckpt full")
	fs.BoolVar(&p.compile, "compile", false, "blocks go through torch.compile")
	fs.StringVar(&p.loss, "loss", "", "`NAME` of the loss: bf16, fp32, compiled, chunked_ce, chunked, vocab_chunked, fused, …; by the program if empty")
	fs.Int64Var(&p.lora, "lora", 0, "`RANK` of adapters beside frozen bf16 weights; 0 trains everything")
	fs.StringVar(&p.context, "context", "1GiB", "`SIZE` of CUDA's context and the collectives' buffers on each card: an assumption")
	fs.BoolVar(&p.chain, "chain", false, "write the step as a chain of blocks, a profile for solve, sweep and the page, which choose checkpointing and offloading")
	fs.StringVar(&p.file, "o", "", "`FILE` that -chain writes to instead of the standard output")
	fs.BoolVar(&p.asJSON, "json", false, "write the answer as JSON")
}

func programNames() string {
	var names []string
	for _, p := range llm.Programs {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// ask makes the question of the flags and the file.
func (p *planFlags) ask(e *env, args []string) (llm.Ask, error) {
	var a llm.Ask
	m, err := p.network(e, args)
	if err != nil {
		return a, err
	}
	program := llm.FindProgram(p.program)
	if program == nil {
		return a, bad("there is no program %q; known are %s", p.program, programNames())
	}
	a.Setup = llm.Setup{Model: m, Seq: p.seq, Batch: p.batch, Accumulate: p.accumulate, Tensor: p.tensor, Context: p.parts, Expert: p.experts}
	a.GPUs = p.gpus
	if p.gpus < 1 || p.tensor < 1 || p.gpus%p.tensor != 0 {
		return a, bad("%d cards do not divide among %d ranks of a product", p.gpus, p.tensor)
	}
	if p.gpus > p.tensor {
		a.Setup.Zero, a.Setup.Shard = 3, p.gpus/p.tensor
	}
	program.Apply(&a.Setup)
	if err := p.choose(&a.Setup); err != nil {
		return a, err
	}
	if a.Card, err = p.card(); err != nil {
		return a, err
	}
	if a.Context, err = format.ParseBytes(p.context); err != nil {
		return a, bad("-context: %v", err)
	}
	return a, nil
}

// network is the model of -model or of the file.
func (p *planFlags) network(e *env, args []string) (*llm.Model, error) {
	switch {
	case p.model != "" && len(args) > 0:
		return nil, bad("-model and %s are two networks; want one", cli.Quoted(args))
	case p.model != "":
		if m := llm.Lookup(p.model); m != nil {
			return m, nil
		}
		return nil, bad("there is no model %q; memtide help models lists them", p.model)
	case len(args) != 1:
		return nil, bad("plan takes one config.json, or -model; got %d files", len(args))
	}
	data, err := contents(e, args[0])
	if err != nil {
		return nil, bad("%v", err)
	}
	m, err := llm.ReadConfig(data)
	if err != nil {
		return nil, bad("%s: %v", args[0], err)
	}
	return m, nil
}

// choose overrides what the program does by what was typed.
func (p *planFlags) choose(s *llm.Setup) error {
	zero, known := map[string]int{"": s.Zero, "none": 0, "zero1": 1, "zero2": 2, "zero3": 3}[p.shard]
	if !known {
		return bad("-shard %s is not known; want none, zero1, zero2 or zero3", p.shard)
	}
	s.Zero = zero
	if zero == 0 {
		s.Shard = 1
	}
	switch p.states {
	case "":
	case "fp32":
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Master = 4, 4, 8, 4, 0
	case "bf16":
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Master = 2, 2, 4, 2, 0
	default:
		return bad("-states %s is not known; want fp32 or bf16", p.states)
	}
	switch p.optimizer {
	case "adamw":
	case "adamw-8bit":
		s.Moments = 2
	case "sgd":
		s.Moments = 0
	default:
		return bad("-optimizer %s is not known; want adamw, adamw-8bit or sgd", p.optimizer)
	}
	if p.loss != "" {
		s.Loss, s.LogitsHeld = p.loss, 0
	}
	if p.offload && p.ckpt != "full" {
		return bad("-offload moves the inputs that -ckpt full keeps; the policy is %s", p.ckpt)
	}
	s.Checkpoint, s.OffloadX, s.Compiled = p.ckpt, p.offload, p.compile
	if p.lora > 0 {
		s.LoRA = &llm.LoRA{Rank: p.lora, On: []string{"q", "k", "v", "o", "gate", "up", "down"}}
		s.Weight, s.Master, s.Moments = 2, 0, 0
	}
	return nil
}

// card is the device as the model of a step sees it: the preset's memory and link.
func (p *planFlags) card() (*llm.Card, error) {
	d := preset.LookupDevice(p.device)
	if d == nil {
		return nil, bad("there is no device %q; memtide help devices lists them", p.device)
	}
	known := llm.CardOf(d.ID)
	if known == nil {
		return nil, bad("the rates of %s are not known to the model of a step", p.device)
	}
	c := *known
	c.Name, c.Memory, c.Link = d.Name, d.Memory, float64(min(d.ToHost, d.ToDev))
	return &c, nil
}

// run answers the question and writes the answer.
func (p *planFlags) run(ctx context.Context, e *env, args []string) error {
	a, err := p.ask(e, args)
	if err != nil {
		return err
	}
	answer, err := a.Answer()
	if err != nil {
		return bad("%v", err)
	}
	if p.chain {
		return p.writeChain(e, a)
	}
	poll := engine.NewPoll(ctx, nil)
	r := &planReport{flags: p, ask: a, answer: answer}
	if r.knobs, err = llm.Turn(a, poll); err != nil {
		return err
	}
	if answer.Verdict != llm.Fits {
		if r.fixes, err = llm.Fixes(r.knobs, poll); err != nil {
			return err
		}
	}
	if r.longest, err = llm.LongestSequence(a, longestAsked, poll); err != nil {
		return err
	}
	if !p.asJSON {
		fmt.Fprint(e.stdout, r.text())
	} else if err := writeJSON(e, r.json()); err != nil {
		return err
	}
	if answer.Verdict == llm.FitsNot {
		return errors.New("it does not fit")
	}
	return nil
}

// writeChain writes the step as a profile.
func (p *planFlags) writeChain(e *env, a llm.Ask) error {
	profile, err := llm.Profile(a.Setup, a.Card)
	if err != nil {
		return bad("%v", err)
	}
	profile.Device = &engine.Device{Name: a.Card.Name, Memory: a.Card.Memory - a.Context, ToHost: engine.Rate(engine.Int64(a.Card.Link)), ToDev: engine.Rate(engine.Int64(a.Card.Link))}
	var text bytes.Buffer
	if err := native.Encode(&text, profile); err != nil {
		return err
	}
	if p.file == "" {
		_, err := e.stdout.Write(text.Bytes())
		return err
	}
	return os.WriteFile(p.file, text.Bytes(), 0o644)
}

// longestAsked bounds the search for the longest sequence.
const longestAsked = 1 << 20

// amounts writes rows of bytes with a bar each, the longest one full.
func amounts(w *tabwriter.Writer, of engine.Bytes, name string, n engine.Bytes) {
	fmt.Fprintf(w, "  %s\t%s\t%s\n", name, format.Bytes(n), bar(n, of))
}
