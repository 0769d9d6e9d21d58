package kineto

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// check refuses traces of which no step can be read, with what to record instead.
func (t *trace) check() {
	const remedy = "Record with torch.profiler.profile (not torch.autograd.profiler) and export_chrome_trace."
	switch {
	case len(t.ops) == 0 && t.plain > 0:
		t.errs.Fail(&profiles.FormatError{Found: "this is a trace of torch.autograd.profiler: its events have no categories, and no kernel names its operator",
			Expected: "A trace of torch.profiler is expected.", Remedy: remedy})
	case len(t.ops) == 0 && len(t.kernels) > 0:
		t.errs.Fail(&profiles.FormatError{Found: "the trace has kernels of the device, but no operator of PyTorch",
			Expected: "A trace of torch.profiler with operators is expected.", Remedy: "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."})
	case len(t.ops) == 0 && t.maker != "":
		t.errs.Fail(&profiles.FormatError{Found: "this is a trace of " + t.maker,
			Expected: "A trace of torch.profiler is expected.", Remedy: "Record a training step of PyTorch with torch.profiler.profile and export_chrome_trace."})
	case len(t.ops) == 0:
		t.errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("none of %s is an operator of PyTorch", profiles.Count(t.events, "event")),
			Expected: "A trace of torch.profiler is expected.", Remedy: remedy})
	case t.mixed:
		t.errs.Fail(&profiles.FormatError{Found: "the trace has operators of several processes: traces of several ranks in one file",
			Expected: "The trace of one rank is expected.", Remedy: "Open the trace that one rank wrote."})
	}
}

// compiled begins the names of operators that are whole graphs of torch.compile.
const compiled = "CompiledFunction"

// checkChain refuses chains that say nothing: no size is known, or all of the
// forward is one operator.
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
		s.errs.Fail(&profiles.FormatError{Found: "the whole forward is one graph of torch.compile", Expected: "Layers are expected that can be told apart.",
			Remedy: "Record some steps without torch.compile."})
	case !sized:
		s.errs.Fail(&profiles.FormatError{Found: "the trace has no sizes: neither the shapes of inputs nor memory events of the device",
			Expected: "Sizes are those of the operators' inputs, or what memory grows by.",
			Remedy:   "Record with torch.profiler.profile(record_shapes=True, profile_memory=True)."})
	}
}

// compiledOps counts operators of the forward that are compiled graphs.
func (s *ktStep) compiledOps() (n int) {
	for _, i := range s.trained {
		if strings.HasPrefix(s.texts[s.ops[i].name], compiled) {
			n++
		}
	}
	return n
}
