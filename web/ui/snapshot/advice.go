package snapshot

import (
	"fmt"

	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/web/format"
	"memtide/web/state"
)

// report returns what the doctor has found; nil before that.
func report(s *state.State) *doctor.Report {
	if d := s.Doctor(); d != nil {
		return d.Report
	}
	return nil
}

// decisive returns the words of the decisive moment.
func decisive(r *doctor.Report) string {
	if r.Failure != nil {
		return wordsWhenFailed
	}
	return wordsAtThePeak
}

// momentOf returns a moment and what is in use then.
func momentOf(words string, a *doctor.Alive) string {
	return fmt.Sprintf(wordsHeld, format.Bytes(a.Bytes), profiles.Count(a.Count, "buffer")) + " " + fmt.Sprintf(words,
		format.Count(a.At))
}

// moment says which moment the flame graph is of.
func moment(s *state.State) string {
	r, a := report(s), s.Alive()
	if a != r.Alive {
		return momentOf(wordsAtEvent, a)
	}
	return momentOf(decisive(r), a)
}

// short returns what to do, in one sentence.
func short(s *state.State) string {
	if set := line(s); set != "" {
		if d := s.Doctor(); d.Report.Failure == nil {
			return fmt.Sprintf(wordsShortLess, set, format.Bytes(d.Advice.Saves))
		}
		return fmt.Sprintf(wordsShort, set)
	}
	return advice(s)
}

// line returns what to set, or the empty string if no setting helps or that is not known yet.
func line(s *state.State) string {
	if d := s.Doctor(); d != nil && d.Advice != nil {
		return d.Advice.Line
	}
	return ""
}

// advice returns what to do; what to set is the line.
func advice(s *state.State) string {
	d := s.Doctor()
	if d == nil || d.Advice == nil {
		return ""
	}
	switch a := d.Advice; a.Verdict {
	case doctor.Setting:
		if d.Report.Failure != nil {
			return wordsRemedyFits
		}
		return fmt.Sprintf(wordsRemedyLess, format.Bytes(a.Saves))
	case doctor.TooMuch:
		return fmt.Sprintf(wordsTooMany, format.BytesUp(a.Lacks))
	case doctor.Fragments:
		if v := d.Replays[0]; v.Fits != nil && *v.Fits {
			return wordsEmptyCache
		}
		return wordsPieces
	case doctor.Unrecorded:
		return wordsUnrecorded
	case doctor.Inexact:
		r := d.Report
		if a.Replayed == 0 {
			return fmt.Sprintf(wordsOtherRules, r.Settings)
		}
		if r.PeakReserved < r.Peak {
			return fmt.Sprintf(wordsNoSegments, format.Bytes(r.PeakReserved), format.Bytes(r.Peak))
		}
		return fmt.Sprintf(wordsInexact, format.Bytes(a.Replayed), format.Bytes(r.PeakReserved),
			format.Percent(a.Off(r.PeakReserved)))
	}
	return wordsNoSetting
}

// The words about a memory snapshot, in one place.
const (
	wordsExamining  = "Examining the snapshot…"
	wordsUnexamined = "The snapshot cannot be examined: "
	wordsRanOut     = "Ran out of memory: "
	wordsNoFailure  = "No request failed: "
	wordsNoEvents   = "No events: "

	wordsAskedFor   = "%s was asked for, and "
	wordsFreeIn     = "%s was free in %s, the largest %s."
	wordsNothing    = "nothing was free in the segments that it could use."
	wordsHeldAtPeak = "%s was held at the peak, and %s of the %s reserved then was not used."
	wordsHeldAtEnd  = "%s was held, and %s of the %s reserved was not used."
	wordsUnmapped   = "Address space that is not mapped, %s, is neither free nor a hole."
	wordsWhoAsked   = "It was for %s. %s more could be reserved."

	wordsBetween   = "The largest hole, %s too small, lies between"
	wordsAnd       = "and"
	wordsSegEnd    = "the end of its segment"
	wordsLight     = "Show it in the addresses, or let go of it"
	wordsKeptToEnd = ", kept to the end"

	wordsWhenFailed  = "when the request failed, event %s"
	wordsAtThePeak   = "at the peak, event %s"
	wordsAtEvent     = "at event %s"
	wordsHeld        = "%s in %s"
	wordsRounded     = "lost inside blocks"
	wordsFree        = "reserved, not used"
	wordsCapacity    = "%s could be reserved"
	wordsMostHeld    = "%s reserved at most"
	wordsGuessed     = "%s of it by how long it lives: no stack tells."
	wordsWhichDevice = "Device of the snapshot"
	wordsDevice      = "device %d"
	wordsDeviceOut   = "device %d, ran out of memory"
	wordsDeviceHolds = "device %d, %s in use at the end"

	wordsFlame     = "What is held, by call stack"
	wordsFlameHelp = "A click or Enter makes a call as wide as the picture; Escape goes back. Arrow keys go from call to call."
	wordsFlameSave = "Save it as a picture"
	wordsFlameOut  = "Back out"

	wordsHelps     = "What would help?"
	wordsReplayed  = "The same requests from an empty cache, under other settings of the allocator: what they reserve at most, and above it the %s of the run. A click copies a setting."
	wordsReplaying = "%d of %d settings replayed"
	wordsDefault   = "PyTorch's default"
	wordsAllFit    = "all find room"
	wordsNoRoom    = "a request finds no room"
	wordsCopyLine  = "Copy the setting"
	wordsCopied    = "Copied: %s"
	wordsToCopy    = "This browser copies nothing for a page; type %s"

	wordsShort       = "%s would have helped."                       // variable and value
	wordsShortLess   = "%s would have reserved %s less in a replay." // variable and value
	wordsRemedyFits  = "A replay with this finds room for all requests. Set it before the program starts:"
	wordsRemedyLess  = "A replay with this reserves %s less than one with the settings of the run. Set it before the program starts:"
	wordsCopy        = "Copy"
	wordsStopReplays = "Stop"
	wordsAtWork      = "Replaying…"
	wordsGoOn        = "Replay the other %d"
	wordsTooMany     = "No setting helps: %s too much is in use at once. Use a smaller batch, or recompute."
	wordsEmptyCache  = "The free memory is in pieces. From an empty cache the same requests find room: call torch.cuda.empty_cache() before the step."
	wordsPieces      = "The free memory is in pieces, and no setting that was replayed mends it. Use less."
	wordsNoSetting   = "No setting of the allocator would reserve much less."
	wordsUnrecorded  = "Whether a request failed is not recorded, nor can be known what settings would change and what grows. Call torch.cuda.memory._record_memory_history() before the step."
	wordsInexact     = "No setting is advised: a replay of the settings of the run reserves %s, and %s was reserved (%s). Record from the start of the program."
	wordsNoSegments  = "No setting is advised: %s is recorded as reserved and %s as in use, so segments are missing from the recording."
	wordsOtherRules  = "No setting is advised: those of the run, %s, are not among what can be replayed."

	wordsGrows     = "What grows from step to step"
	wordsFewSteps  = "Fewer than three steps can be told apart."
	wordsNoTurns   = "No stack is of a backward or of an optimizer, so steps cannot be told."
	wordsNoHistory = "Nothing tells without events."
	wordsNoGrowth  = "Nothing grows over %s."
	wordsGrowth    = "%s more with each of %s."
	wordsPerStep   = "%s per step"
	wordsKeptSoFar = "%s in %s so far"
)

// useNames are the names of what memory is for, by the order of draw.Use, and the
// classes of their colours in bars and before words.
var useNames = [...]struct{ class, by, name string }{
	{"fix", "fixed", "weights"}, {"bwd", "backward", "gradients"}, {"opt", "fixed", "optimizer"},
	{"fwd", "forward", "activations"},
	{"scratch", "muted", "temporaries"}, {"unknown", "muted", "unknown"},
}
