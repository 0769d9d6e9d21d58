package answer

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// The kinds of answers. Only fits is green: nothing that is more than the device
// has, and nothing that is only guessed, looks like good news.
const (
	Fits     = "fits"
	Probably = "probably"
	MayNot   = "may-not"
	DoesNot  = "not"
	Unknown  = "needs" // nobody knows what the device has
	Failed   = "failed"
	None     = "none" // nothing is computed, and something says why
	Working  = "working"
	versus   = "versus" // the difference stands in its place
)

// Of says of a schedule whether it fits, and what it costs.
func Of(p *known.Picture) (kind, sentence string) {
	peak, device := p.Solved.Trace.Peak, Device(p.Choice)
	likely, price := choice.Reserved(peak), priceOf(p)+timesOf(p)
	switch {
	case !p.Solved.Verdict.Verified:
		return Failed, strings.TrimSuffix(format.Durations(p.Solved.Verdict.Problem), ".") + "."
	case device == nil:
		return Unknown, format.Bytes(peak) + price
	case resident(p, device):
		return DoesNot, fmt.Sprintf(wordsResident, format.Bytes(p.Network.Totals.Resident), device.Short(), format.Bytes(device.Memory))
	case peak > device.Memory:
		return DoesNot, fmt.Sprintf(wordsNeeded, format.Bytes(peak), device.Short(), format.Bytes(device.Memory))
	case likely > device.Memory:
		kind = Probably
		if (peak+likely)/2 > device.Memory {
			kind = MayNot
		}
		return kind, fmt.Sprintf(wordsRange, format.Between(peak, likely), device.Short(), format.Bytes(device.Memory))
	case !certain(p.Network.Profile):
		return Probably, fmt.Sprintf(wordsOnOne, format.OutOf(peak, device.Memory), device.Short(), price)
	}
	return Fits, fmt.Sprintf(wordsOnOne, format.OutOf(peak, device.Memory), device.Short(), price)
}

// timesOf says whose times they are where they are not those of the device that is asked about.
func timesOf(p *known.Picture) string {
	d, of := Device(p.Choice), p.Network.Profile.Source.Device
	if d == nil || of == "" || strings.Contains(strings.ToLower(of), strings.ToLower(d.Short())) {
		return ""
	}
	return fmt.Sprintf(wordsTimesOf, of)
}

// resident says that what stays on the device through the whole step is more than it
// has, so that no plan helps.
func resident(p *known.Picture, d *card.Card) bool {
	return d != nil && p.Network.Totals.Resident > d.Memory
}

// tooSmall says of a budget in which the strategy finds nothing what would do.
func tooSmall(c state.Choice, m *state.OverBudget) string {
	name := choice.PlanName(c.Strategy)
	if m.Smallest == 0 {
		return name + " finds nothing."
	}
	text := fmt.Sprintf(wordsAtLeast, name, format.BytesUp(m.Smallest))
	if d := Device(c); d != nil && m.Smallest > d.Memory {
		text += "; " + fmt.Sprintf(wordsOneHas, d.Short(), format.Bytes(d.Memory))
	}
	return text + "."
}

// priceOf says what a schedule costs in time.
func priceOf(p *known.Picture) string {
	all := p.Solved.KeepAll.StepTime
	if all <= 0 {
		return "."
	}
	part := format.Longer(p.Solved.Trace.Makespan, all)
	switch text := strings.TrimPrefix(format.Percent(part), "+"); {
	case part <= 0 || text == "0 %":
		return wordsNoSlower + "."
	default:
		return fmt.Sprintf(wordsSlower, text) + "."
	}
}

// Device is the device of a choice; nil if its memory is not known.
func Device(c state.Choice) *card.Card {
	if d := c.GPU(); d != nil && d.Memory > 0 {
		return d
	}
	return nil
}

// certain says that the sizes are what a run allocates, not a rule of thumb.
func certain(p *profiles.Profile) bool {
	return p.Source.Sizes == profiles.Exact || p.Source.Sizes == profiles.Measured
}

// Problem says in a sentence or two what keeps the page from what was asked for, for
// where there is one line; empty if nothing does.
func Problem(s *state.State) string {
	switch {
	case s.OverBudget != nil:
		return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget)) + tooSmall(s.Choice, s.OverBudget)
	case s.Alert != nil:
		return s.Alert.Text
	case s.Step != nil && s.Step.Failed != "":
		return format.Sentence(s.Step.Failed)
	}
	return ""
}

// Late says that what is shown answers something else than what is chosen, see Answer.Late.
func Late(s *state.State) string {
	return strconv.FormatBool(s.Solving != nil && s.Preview == nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice))
}

// Work says what is being worked on; empty if nothing is.
func Work(s *state.State) string {
	if o := s.Opening; o != nil {
		if o.Progress.Total > 0 {
			return fmt.Sprintf("Reading %s… %s", o.Name, format.Share(float64(o.Progress.Done)/float64(o.Progress.Total)))
		}
		return "Reading " + o.Name + "…"
	}
	w := s.Solving
	switch {
	case w == nil:
		return ""
	case w.Loading:
		return "Loading the solver…"
	case w.Silent:
		return "The solver has said nothing for a while…"
	case w.Best != nil:
		return fmt.Sprintf("Solving… best so far %s", format.Duration(w.Best.Trace.Makespan))
	case w.Progress.Total > 0:
		return fmt.Sprintf("Solving… %s", format.Share(float64(w.Progress.Done)/float64(w.Progress.Total)))
	}
	return "Solving…"
}

// Words are the verdicts, with what follows them.
var Words = map[string]string{Fits: "Fits: ", Probably: "Probably fits: ", MayNot: "May not fit: ", DoesNot: "Does not fit: ", Failed: "Check failed: ", None: "No answer: ", Unknown: "Needs "}
