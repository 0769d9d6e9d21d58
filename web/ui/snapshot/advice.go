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
