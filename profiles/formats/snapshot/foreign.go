package snapshot

import (
	"bytes"
	"slices"
	"strings"

	"memtide/profiles"
)

// foreign names a pickle that is no snapshot by the texts at its begin, in e;
// nothing where that cannot be told.
func foreign(data []byte, e *profiles.FormatError) {
	head := string(data[:min(len(data), profiles.HeadSize)])
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(head, w) })
	}
	// torch.save begins with this number before PyTorch 1.6.
	saved := bytes.HasPrefix(data, []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."))
	what := ""
	switch {
	case saved || has("_rebuild_tensor", "_rebuild_parameter", "torch.storage"):
		what, e.Remedy = "This is a checkpoint of weights (torch.save), no profile",
			"Record a profile of a training step; weights do not tell times or activations."
	case has("device_traces", "segments"): // a snapshot, with more in it
	case has("forward", "fwd") && has("backward", "bwd"):
		what, e.Remedy = "This is a pickled profile",
			"Pickles of profiles are not read: write the numbers as JSON or CSV, one row per layer with forward_s, backward_s and output_bytes."
	case has("numpy"):
		what, e.Remedy = "This is a pickle of NumPy arrays", "Write the numbers as JSON or CSV."
	default:
		return
	}
	e.Found = what + ". " + e.Found
}
