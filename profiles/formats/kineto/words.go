package kineto

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

// describe tells where the numbers come from, and what the trace cannot tell.
func (s *ktStep) describe(p *profiles.Profile, list []stage, source string, fresh bool) {
	s.describeDevice(p)
	note := func(format string, args ...any) {
		p.Source.Notes = append(p.Source.Notes, fmt.Sprintf(format, args...))
	}
	warn := func(format string, args ...any) { p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...)) }
	s.describeTimes(p, note, warn)
	s.describeAsides(note, warn)
	joined, unknown := 0, 0
	for i := range list {
		joined += list[i].joined
		if list[i].nothingKnown {
			unknown++
		}
	}
	note("Stages are made of %s.", source)
	if p.Batch > 0 {
		note("The batch, %d, is inferred: the first dimension of the first operator's input.", p.Batch)
	}
	if s.notLayers != "" {
		note("Named ranges such as %q are phases of the step or do not follow each other like layers: they are no stages.", profiles.Clip(s.notLayers))
	}
	if joined > 0 {
		note("%s that work in place or keep nothing are part of the one before.", profiles.Count(joined, "stage"))
	}
	if n := s.compiledOps(); n > 0 {
		warn("%d of %d operators of the forward are graphs of torch.compile: what is within one is not told apart. Record without torch.compile.", n, len(s.starts))
	}
	if s.rank != "" {
		note("%s", s.rank)
	}
	if s.textRoom < 0 {
		warn("The trace has more than %d MiB of different names and call stacks: the last ones are not read.",
			mostText>>20)
	}
	if source == fromOps {
		warn("The trace has no modules and no call stacks: every operator is a stage, and connections that skip operators are not seen. " +
			"Record with with_stack=True and with_modules=True.")
	}
	s.describeMemory(p, list, note, warn, fresh)
	if unknown > 0 {
		warn("The outputs of %s are not known: what they save is taken for them. Record with record_shapes=True.",
			profiles.Count(unknown, "stage"))
	}
}

// describeSteps tells which of the steps is read. marked are those that have marks.
func (s *ktStep) describeSteps(p *profiles.Profile, steps, marked int, how string) {
	note := func(text string) { p.Source.Notes = append(p.Source.Notes, text) }
	const median = "the one with the median of the work is read."
	switch {
	case how == "" && steps == 1:
		p.Warnings = append(p.Warnings,
			"The trace does not mark its steps: all of it is taken for one. Call step() of the profiler after every step.")
	case how == "":
		note(fmt.Sprintf("The trace does not mark its steps: one ends where a forward follows a backward. Of %d "+median, steps))
	case steps > marked:
		note(fmt.Sprintf("Steps run a forward and a backward more than once (parts of a batch, or several losses). Of %d pairs in %s "+median, steps, profiles.Count(marked, "step")))
	case steps > 1:
		note(fmt.Sprintf("Of %d steps "+median, steps))
	}
}

func (s *ktStep) describeTimes(p *profiles.Profile, note, warn func(string, ...any)) {
	if s.onCPU {
		p.Source.Device = "CPU"
		warn("The trace has no work on a GPU: times are those of operators on the CPU and do not carry over. Record with ProfilerActivity.CUDA.")
		return
	}
	all := s.spent[ofLayers]
	told := int64(p.Chain.ForwardTime() + p.Chain.BackTime())
	note("Times are sums of kernels: %s of %s on the device in this step; the rest is the optimizer's and the input's.", inMilliseconds(told), inMilliseconds(all))
	if told < all/2 {
		warn("Only %s of %s of kernels belong to the forward and backward.", inMilliseconds(told), inMilliseconds(all))
	}
	wall, busy := s.clocks()
	note("From the first kernel of the step to its last %s pass; the device is busy for %s of them, where work at the same time counts once. "+
		"Stages take %s: the rest is what is left out, and waits for the CPU and for other devices.",
		inMilliseconds(wall), inMilliseconds(busy), inMilliseconds(told))
}

// describeAsides tells what runs beside the layers.
func (s *ktStep) describeAsides(note, warn func(string, ...any)) {
	if t := s.spent[ofCollectives]; t > 0 {
		note("Collectives take %s in this step, with what packs their data and their waits for other devices: they are left out.", inMilliseconds(t))
	}
	if t := s.spent[ofRecomputation]; t > 0 {
		note("The backward runs forwards again for %s (activation checkpointing): that is left out of its time.",
			inMilliseconds(t))
	}
	if s.spent[ofRecomputation] > 0 && len(s.used) > 0 {
		warn("The step was recorded with activation checkpointing: memory events tell what it keeps, not what keeping everything takes. Record it without.")
	}
}

func (s *ktStep) describeMemory(p *profiles.Profile, list []stage, note, warn func(string, ...any), fresh bool) {
	r := &p.Chain.Resident
	if len(s.used) == 0 {
		p.Source.Sizes = profiles.Estimated
		warn("The trace has no memory events: only outputs are known, what stages save beside them and temporary memory are missing. " +
			"Record with profile_memory=True.")
	} else {
		note("At its peak the step takes %s more than at its start.", engine.Bytes(s.peakIn(s.from, s.to)).Text())
		s.comparePeaks(p, list, note, warn, fresh)
	}
	if r.Weights == 0 {
		warn("The trace does not tell how large the weights are: resident memory is missing. Record with record_shapes=True, or add it to the budget.")
		return
	}
	note("Weights are as large as the gradients that are added up for them.")
	if fresh {
		note("Gradients of weights are allocated anew in every step; they are counted as resident.")
	}
	if r.Pinned > 0 {
		note("Of what was in use before the step, %s are neither weights nor their gradients: state of the optimizer and buffers.", r.Pinned.Text())
	} else {
		note("The state of the optimizer is not in the trace.")
	}
}

// comparePeaks compares the peak that the trace recorded with that of the chain,
// both above what is there before the forward.
func (s *ktStep) comparePeaks(p *profiles.Profile, list []stage, note, warn func(string, ...any), fresh bool) {
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
		warn("%s: sizes of stages do not tell all of it.", text)
	} else {
		note("%s.", text)
	}
}

// describeDevice names the device whose memory is in the trace.
func (s *ktStep) describeDevice(p *profiles.Profile) {
	id := int64(0)
	if len(s.used) > 0 {
		id = max(0, int64(s.used[0].device&0xffff)-1)
	}
	if d, ok := s.devices[id]; ok && !s.onCPU {
		p.Source.Device = profiles.Clip(d)
	}
}
