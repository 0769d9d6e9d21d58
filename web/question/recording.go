package question

import (
	"fmt"

	"memtide/profiles/doctor"
	"memtide/web/format"
)

// NoSetting says why a recording's advice is no setting of the allocator, and what to do instead.
func NoSetting(r *doctor.Report, a *doctor.Advice, replays []doctor.Replay) string {
	switch {
	case a.Verdict == doctor.TooMuch:
		return fmt.Sprintf("No setting helps: %s too much is in use at once. Use a smaller batch, or recompute.",
			format.BytesUp(a.Lacks))
	case a.Verdict == doctor.Fragments && replays[0].Fits != nil && *replays[0].Fits:
		return "The free memory is in pieces. From an empty cache the same requests find room: call torch.cuda.empty_cache() before the step."
	case a.Verdict == doctor.Fragments:
		return "The free memory is in pieces, and no setting that was replayed mends it. Use less."
	case a.Verdict == doctor.Unrecorded:
		return "Without events nobody can tell whether a request failed, what other settings would change, and what grows. Call torch.cuda.memory._record_memory_history() before the step."
	case a.Verdict == doctor.Inexact && a.Replayed == 0:
		return fmt.Sprintf("No setting is advised: those of the run, %s, are not among what can be replayed.", r.Settings)
	case a.Verdict == doctor.Inexact && r.PeakReserved < r.Peak:
		return fmt.Sprintf("No setting is advised: %s is recorded as reserved and %s as in use, so segments are missing from the recording.",
			format.Bytes(r.PeakReserved), format.Bytes(r.Peak))
	case a.Verdict == doctor.Inexact:
		return fmt.Sprintf("No setting is advised: a replay of the settings of the run reserves %s, and %s was reserved (%s). Record from the start of the program.",
			format.Bytes(a.Replayed), format.Bytes(r.PeakReserved), format.Percent(a.Off(r.PeakReserved)))
	}
	return "No setting of the allocator would reserve much less."
}
