// Package kineto reads the traces of torch.profiler.
package kineto

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "kineto",
		Title:      "torch.profiler trace (Kineto, Chrome trace)",
		Doc:        "One training step as torch.profiler recorded it: a chain with measured times and sizes.",
		TimeUnit:   "microseconds",
		Extensions: []string{".json", ".json.gz"},
		MaxSize:    profiles.MaxSize,
		MaxStream:  largest,
		Match:      looksTraced,
		Decode: func(name string, data []byte, poll *engine.Poll) *profiles.Profile {
			return decode(name, bytes.NewReader(data), len(data), poll)
		},
		Stream: func(name string, r io.Reader, total, _ int, poll *engine.Poll) *profiles.Profile {
			return decode(name, bufio.NewReaderSize(r, profiles.ReadAhead), total, poll)
		},
	})
}

// looksTraced claims an object with traceEvents, or with the header that precedes them, or a list of events.
func looksTraced(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	has := func(key string) bool { return bytes.Contains(head, []byte(`"`+key+`"`)) }
	switch {
	case len(head) == 0:
		return false
	case head[0] == '{' && (has("traceEvents") || has("schemaVersion") && has("deviceProperties")):
		return !bytes.Contains(head, []byte(`"memtide/`)) || native.FormatOf(head) == ""
	}
	return head[0] == '[' && has("ph") && has("ts") && has("name")
}

// decode reads a trace of total bytes; total is 0 if unknown.
func decode(name string, r io.Reader, total int, poll *engine.Poll) *profiles.Profile {
	t := readTrace(r, total, poll)
	t.check()
	t.sortAll()
	works, lost := t.works()
	marked, how := t.windows()
	windows := t.splitSteps(marked)
	s := t.newStep(medianWindow(windows, works), works, poll)
	s.findForward()
	nodes, source := s.chooseNodes()
	list := s.cut(s.parts(nodes))
	if len(list) == 0 {
		t.errs.Fail(parse.EmptyChain())
	}
	if len(list) > parse.MaxStageRows {
		t.errs.Fail(parse.TooManyStages())
	}
	s.measure(list)
	list = s.join(list)
	c := s.chain(list)
	s.checkChain(c)
	c.Name = name
	p := &profiles.Profile{Name: name, Batch: c.Batch, DType: s.dtype(list), Chain: c,
		Source: profiles.Source{Tool: "torch.profiler", Times: profiles.Measured, Sizes: profiles.Measured}}
	fresh := s.resident(list, c)
	(&parse.StageReader{Errs: t.errs}).Finish(c, list[len(list)-1].isLoss)
	s.describeSteps(p, len(windows), len(marked), how)
	s.describe(p, list, source, fresh)
	if all := len(works) + lost; lost > all/100 {
		p.Warn("%s of %d on the device cannot be joined to an operator: their time is missing.",
			profiles.Count(lost, "kernel"), all)
	}
	return p
}

// Sources of stages.
const (
	fromModules = "calls of modules"
	fromStacks  = "call stacks"
	fromNames   = "named ranges"
	fromOps     = "single operators"
)

// chooseNodes returns the nodes of the first source that describes the model, and the source.
func (s *ktStep) chooseNodes() (nodes []*node, source string) {
	if nodes := s.moduleNodes(); len(s.parts(nodes)) > 1 {
		return nodes, fromModules
	}
	if nodes := s.stackNodes(); len(s.parts(nodes)) > 1 {
		return nodes, fromStacks
	}
	if nodes := s.namedNodes(); len(nodes) > 1 {
		return nodes, fromNames
	}
	return s.opNodes(), fromOps
}

// dtype returns the most frequent type among the inputs of stages.
func (s *ktStep) dtype(list []stage) string {
	votes := make([]int, len(ktTypes))
	best := dType(0)
	for i := range list {
		kind := list[i].kind
		votes[kind]++
		if ktTypes[kind].word != "" && (best == 0 || votes[kind] > votes[best]) {
			best = kind
		}
	}
	return ktTypes[best].word
}

// resident sets the resident memory of the chain. fresh reports whether the gradients of weights
// are allocated anew in every step.
func (s *ktStep) resident(list []stage, c *engine.Chain) (fresh bool) {
	weights := int64(0)
	for i := range list {
		weights = min(weights+list[i].grads, parse.MaxNumber)
	}
	c.Resident = engine.Resident{Weights: engine.Bytes(weights), Grads: engine.Bytes(weights)}
	if len(s.used) == 0 || weights == 0 {
		return false
	}
	end := int64(0)
	for i := range list {
		end = max(end, list[i].backEnd)
	}
	begin, loss := list[0].from, list[len(list)-1].to
	fresh = 2*(s.heldAt(end+1)-s.heldAt(begin)) >= weights || 2*(s.heldAt(loss)-s.heldAt(s.turn)) >= weights
	if fresh {
		for i := range list {
			c.Stages[i].BwdTemp = max(0, c.Stages[i].BwdTemp-engine.Bytes(list[i].grads))
		}
	}
	if first := s.used[0]; first.total >= 0 && first.total < parse.MaxNumber {
		base := first.total - first.bytes + s.heldAt(begin) - list[0].input - weights
		if !fresh {
			base -= weights
		}
		c.Resident.Pinned = engine.Bytes(max(0, base))
	}
	return fresh
}

// inMilliseconds returns a number of nanoseconds for people.
func inMilliseconds(ns int64) string {
	return time.Duration(ns).Round(10 * time.Microsecond).String()
}

// check refuses traces without a readable step, with advice on what to record instead.
func (t *trace) check() {
	const remedy = "Record with torch.profiler.profile (not torch.autograd.profiler) and export_chrome_trace."
	switch {
	case len(t.ops) == 0 && t.plain > 0:
		t.errs.Fail(&profiles.FormatError{Found: "this is a trace of torch.autograd.profiler: its events have no categories, and no kernel names its operator",
			Expected: "A trace of torch.profiler is expected.", Remedy: remedy})
	case len(t.ops) == 0 && len(t.kernels) > 0:
		t.errs.Fail(&profiles.FormatError{Found: "the trace has kernels of the device, but no operator of PyTorch",
			Expected: "A trace of torch.profiler with operators is expected.",
			Remedy:   "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."})
	case len(t.ops) == 0 && t.maker != "":
		t.errs.Fail(&profiles.FormatError{Found: "this is a trace of " + t.maker,
			Expected: "A trace of torch.profiler is expected.",
			Remedy:   "Record a training step of PyTorch with torch.profiler.profile and export_chrome_trace."})
	case len(t.ops) == 0:
		t.errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("none of %s is an operator of PyTorch",
			profiles.Count(t.events, "event")),
			Expected: "A trace of torch.profiler is expected.", Remedy: remedy})
	case t.mixed:
		t.errs.Fail(&profiles.FormatError{Found: "the trace has operators of several processes: traces of several ranks in one file",
			Expected: "The trace of one rank is expected.", Remedy: "Open the trace that one rank wrote."})
	}
}

// compiled is the prefix of the names of operators that are whole graphs of torch.compile.
const compiled = "CompiledFunction"

// checkChain refuses chains without any size, and chains whose forward is one operator.
func (s *ktStep) checkChain(c *engine.Chain) {
	sized, stages := false, 0
	for i := range c.Stages {
		sized = sized || c.Stages[i].Saved > 0
		if c.Stages[i].Forward > 0 {
			stages++
		}
	}
	switch {
	case s.compiledOps() > 0 && stages <= 1:
		s.errs.Fail(&profiles.FormatError{Found: "the whole forward is one graph of torch.compile",
			Expected: "Layers are expected that can be told apart.",
			Remedy:   "Record some steps without torch.compile."})
	case !sized:
		s.errs.Fail(&profiles.FormatError{Found: "the trace has no sizes: neither the shapes of inputs nor memory events of the device",
			Expected: "Sizes are those of the operators' inputs, or what memory grows by.",
			Remedy:   "Record with torch.profiler.profile(record_shapes=True, profile_memory=True)."})
	}
}

// compiledOps counts the operators of the forward that are compiled graphs.
func (s *ktStep) compiledOps() (n int) {
	for _, i := range s.trained {
		if strings.HasPrefix(s.texts[s.ops[i].name], compiled) {
			n++
		}
	}
	return n
}

// describe adds notes on the sources of the numbers, and warnings on what is missing in the trace.
func (s *ktStep) describe(p *profiles.Profile, list []stage, source string, fresh bool) {
	device := int64(0) // whose memory is in the trace
	if len(s.used) > 0 {
		device = max(0, int64(s.used[0].device&0xffff)-1)
	}
	if d, ok := s.devices[device]; ok && !s.onCPU {
		p.Source.Device = profiles.Clip(d)
	}
	s.describeTimes(p)
	if t := s.spent[ofCollectives]; t > 0 {
		p.Note("Collectives take %s in this step, with what packs their data and their waits for other devices: they are left out.", inMilliseconds(t))
	}
	if t := s.spent[ofRecomputation]; t > 0 {
		p.Note("The backward runs forwards again for %s (activation checkpointing): that is left out of its time.",
			inMilliseconds(t))
		if len(s.used) > 0 {
			p.Warn("The step was recorded with activation checkpointing: memory events tell what it keeps, not what keeping everything takes. Record it without.")
		}
	}
	joined, unknown := 0, 0
	for i := range list {
		joined += list[i].joined
		if list[i].nothingKnown {
			unknown++
		}
	}
	p.Note("Stages are made of %s.", source)
	if p.Batch > 0 {
		p.Note("The batch, %d, is inferred: the first dimension of the first operator's input.", p.Batch)
	}
	if s.notLayers != "" {
		p.Note("Named ranges such as %q are phases of the step or do not follow each other like layers: they are no stages.", profiles.Clip(s.notLayers))
	}
	if joined > 0 {
		p.Note("%s that work in place or keep nothing are part of the one before.", profiles.Count(joined, "stage"))
	}
	if n := s.compiledOps(); n > 0 {
		p.Warn("%d of %d operators of the forward are graphs of torch.compile: what is within one is not told apart. Record without torch.compile.", n, len(s.starts))
	}
	if s.rank != "" {
		p.Note("%s", s.rank)
	}
	if s.textRoom < 0 {
		p.Warn("The trace has more than %d MiB of different names and call stacks: the last ones are not read.",
			mostText>>20)
	}
	if source == fromOps {
		p.Warn("The trace has no modules and no call stacks: every operator is a stage, and connections that skip operators are not seen. " +
			"Record with with_stack=True and with_modules=True.")
	}
	s.describeMemory(p, list, fresh)
	if unknown > 0 {
		p.Warn("The outputs of %s are not known: what they save is taken for them. Record with record_shapes=True.",
			profiles.Count(unknown, "stage"))
	}
}

// describeSteps adds a note on which step is read. steps is the number of steps, marked the
// number of marked ranges, and how their mark.
func (s *ktStep) describeSteps(p *profiles.Profile, steps, marked int, how string) {
	const median = "the one with the median of the work is read."
	switch {
	case how == "" && steps == 1:
		p.Warn("The trace does not mark its steps: all of it is taken for one. Call step() of the profiler after every step.")
	case how == "":
		p.Note("The trace does not mark its steps: one ends where a forward follows a backward. Of %d "+median, steps)
	case steps > marked:
		p.Note("Steps run a forward and a backward more than once (parts of a batch, or several losses). Of %d pairs in %s "+median, steps, profiles.Count(marked, "step"))
	case steps > 1:
		p.Note("Of %d steps "+median, steps)
	}
}

func (s *ktStep) describeTimes(p *profiles.Profile) {
	if s.onCPU {
		p.Source.Device = "CPU"
		p.Warn("The trace has no work on a GPU: times are those of operators on the CPU and do not carry over. Record with ProfilerActivity.CUDA.")
		return
	}
	all := s.spent[ofLayers]
	told := int64(p.Chain.ForwardTime() + p.Chain.BackTime())
	p.Note("Times are sums of kernels: %s of %s on the device in this step; the rest is the optimizer's and the input's.", inMilliseconds(told), inMilliseconds(all))
	if told < all/2 {
		p.Warn("Only %s of %s of kernels belong to the forward and backward.", inMilliseconds(told), inMilliseconds(all))
	}
	wall, busy := s.clocks()
	p.Note("From the first kernel of the step to its last %s pass; the device is busy for %s of them, where work at the same time counts once. "+
		"Stages take %s: the rest is what is left out, and waits for the CPU and for other devices.",
		inMilliseconds(wall), inMilliseconds(busy), inMilliseconds(told))
}

func (s *ktStep) describeMemory(p *profiles.Profile, list []stage, fresh bool) {
	r := &p.Chain.Resident
	if len(s.used) == 0 {
		p.Source.Sizes = profiles.Estimated
		p.Warn("The trace has no memory events: only outputs are known, what stages save beside them and temporary memory are missing. " +
			"Record with profile_memory=True.")
	} else {
		p.Note("At its peak the step takes %s more than at its start.", engine.Bytes(s.peakIn(s.from, s.to)).Text())
		s.comparePeaks(p, list, fresh)
	}
	if r.Weights == 0 {
		p.Warn("The trace does not tell how large the weights are: resident memory is missing. Record with record_shapes=True, or add it to the budget.")
		return
	}
	p.Note("Weights are as large as the gradients that are added up for them.")
	if fresh {
		p.Note("Gradients of weights are allocated anew in every step; they are counted as resident.")
	}
	if r.Pinned > 0 {
		p.Note("Of what was in use before the step, %s are neither weights nor their gradients: state of the optimizer and buffers.", r.Pinned.Text())
	} else {
		p.Note("The state of the optimizer is not in the trace.")
	}
}

// comparePeaks compares the peak in the trace with the peak of the chain, both without the memory before the forward.
func (s *ktStep) comparePeaks(p *profiles.Profile, list []stage, fresh bool) {
	end := list[0].to
	for i := range list {
		end = max(end, list[i].backEnd)
	}
	recorded := engine.Bytes(s.peakIn(list[0].from, end+1) - s.heldAt(list[0].from))
	told := p.Chain.KeepAllPeak() - p.Chain.Resident.Total() - p.Chain.Input
	if fresh {
		told += p.Chain.Resident.Grads
	}
	if recorded <= 0 || told <= 0 {
		return
	}
	share := 100 * float64(told-recorded) / float64(recorded)
	text := fmt.Sprintf("Forward and backward take %s at their peak by the memory events, and %s by these stages (%+.0f %%)", recorded.Text(), told.Text(), share)
	if share < -5 || share > 5 {
		p.Warn("%s: sizes of stages do not tell all of it.", text)
	} else {
		p.Note("%s.", text)
	}
}
