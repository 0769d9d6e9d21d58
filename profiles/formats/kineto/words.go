package kineto

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

// describe tells where the numbers come from, and what the trace cannot tell.
func (s *ktStep) describe(p *profiles.Profile, list []stage, windows int, how, source string, fresh bool) {
	s.describeDevice(p)
	note := func(format string, args ...any) {
		p.Source.Notes = append(p.Source.Notes, fmt.Sprintf(format, args...))
	}
	warn := func(format string, args ...any) { p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case how == "":
		warn("The trace does not mark its steps: all of it is taken for one. Call step() of the profiler after every step.")
	case windows > 1:
		note("Of %d steps the one with the median of the work is read.", windows)
	}
	s.describeTimes(p, note, warn)
	joined, unknown := 0, 0
	for i := range list {
		joined += list[i].joined
		if list[i].nothingKnown {
			unknown++
		}
	}
	note("Stages are made of %s.", source)
	if joined > 0 {
		note("%s that work in place or keep nothing are part of the one before.", profiles.Count(joined, "stage"))
	}
	if s.textRoom < 0 {
		warn("The trace has more than %d MiB of different names and call stacks: the last ones are not read.", mostText>>20)
	}
	if source == fromOps {
		warn("The trace has no modules and no call stacks: every operator is a stage, and connections that skip operators are not seen. " +
			"Record with with_stack=True and with_modules=True.")
	}
	s.describeMemory(p, note, warn, fresh)
	if unknown > 0 {
		warn("The outputs of %s are not known: what they save is taken for them. Record with record_shapes=True.", profiles.Count(unknown, "stage"))
	}
}

func (s *ktStep) describeTimes(p *profiles.Profile, note, warn func(string, ...any)) {
	if s.onCPU {
		p.Source.Device = "CPU"
		warn("The trace has no work on a GPU: times are those of operators on the CPU and do not carry over. Record with ProfilerActivity.CUDA.")
		return
	}
	all := int64(0)
	for _, w := range s.works {
		all += w.took
	}
	told := int64(p.Chain.ForwardTime() + p.Chain.BackTime())
	note("Times are sums of kernels: %s of %s on the device in this step; the rest is the optimizer's and the input's.", inMilliseconds(told), inMilliseconds(all))
	if told < all/2 {
		warn("Only %s of %s of kernels belong to the forward and backward.", inMilliseconds(told), inMilliseconds(all))
	}
}

func (s *ktStep) describeMemory(p *profiles.Profile, note, warn func(string, ...any), fresh bool) {
	r := &p.Chain.Resident
	if len(s.used) == 0 {
		p.Source.Sizes = profiles.Estimated
		warn("The trace has no memory events: only outputs are known, what stages save beside them and temporary memory are missing. " +
			"Record with profile_memory=True.")
	} else {
		note("At its peak the step takes %s more than at its start.", engine.Bytes(s.peakIn(s.from, s.to)).Text())
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
