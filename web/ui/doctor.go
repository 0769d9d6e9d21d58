package ui

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
)

// Doctor is the answer about a memory snapshot: whether it ran out of memory and why,
// and what was in use then and at the moment that is looked at.
type Doctor struct{ S *state.State }

// Told says that there is a recording to tell about.
func (c *Doctor) Told() bool { return c.S.Doctor() != nil }

func (c *Doctor) report() *doctor.Report {
	if d := c.S.Doctor(); d != nil {
		return d.Report
	}
	return nil
}

// Kind is the sign of the verdict, see Answer.Kind.
func (c *Doctor) Kind() string {
	switch r := c.report(); {
	case r == nil && c.S.Doctor() != nil && c.S.Doctor().Failed != "":
		return "failed"
	case r == nil:
		return "working"
	case r.Failure != nil:
		return "not"
	}
	return "needs"
}

// Word begins the sentence.
func (c *Doctor) Word() string {
	return map[string]string{"failed": wordsUnexamined, "working": wordsExamining, "not": wordsRanOut, "needs": wordsNoFailure}[c.Kind()]
}

// were is an amount as the subject of a sentence: "1 GiB was", "2 GiB were".
func were(amount string) string { return amount + " " + verb(amount) }

func verb(amount string) string {
	if strings.HasPrefix(amount, "1 ") {
		return "was"
	}
	return "were"
}

// Sentence is the answer.
func (c *Doctor) Sentence() string {
	r := c.report()
	switch {
	case c.Kind() == "failed":
		return SentenceOf(c.S.Doctor().Failed)
	case r == nil:
		return ""
	case r.Failure == nil:
		l := c.S.LevelAt(r.PeakAt)
		unused := format.Bytes(c.S.Unused(r.PeakAt))
		return fmt.Sprintf(wordsHeldAtPeak, were(format.Bytes(r.Peak)), unused, format.Bytes(l.Reserved), verb(unused))
	}
	f := r.Failure
	text := fmt.Sprintf(wordsAskedFor, were(format.BytesUp(f.Bytes)))
	if len(f.Holes) == 0 {
		return text + wordsNothing
	}
	return text + fmt.Sprintf(wordsFreeIn, were(format.Bytes(f.Free)), profiles.Count(f.HoleCount, "hole"), format.Bytes(f.Holes[0].Bytes))
}

// Sub is who asked, and what to do once that is known.
func (c *Doctor) Sub() string {
	r := c.report()
	if r == nil {
		return ""
	}
	text := ""
	if f := r.Failure; f != nil {
		text = fmt.Sprintf(wordsWhoAsked, f.Site, format.Bytes(f.DeviceFree)) + " "
	}
	return text + (&Remedies{S: c.S}).Short()
}

// Holder is what a hole ends at: a buffer that can be shown, or the end of a segment.
type Holder struct {
	Buffer  int
	Text    string
	Pressed string
}

// Between begins the line about the hole that was nearly large enough; empty if there
// is none.
func (c *Doctor) Between() string {
	if r := c.report(); r != nil && r.Failure != nil && len(r.Failure.Holes) > 0 {
		return fmt.Sprintf(wordsBetween, format.BytesUp(r.Failure.Holes[0].Missing))
	}
	return ""
}

// Holders are what that hole lies between.
func (c *Doctor) Holders() (out []Holder) {
	if c.Between() == "" {
		return nil
	}
	h := &c.report().Failure.Holes[0]
	for _, n := range []*doctor.Neighbour{&h.Below, &h.Above} {
		x := Holder{Buffer: -1, Text: wordsSegEnd, Pressed: "false"}
		if !n.End {
			x.Buffer = n.Buffer
			x.Text = fmt.Sprintf("%s of %s, %s", format.Bytes(n.Bytes), n.Site, n.Category)
			if n.Stays {
				x.Text += wordsKeptToEnd
			}
			x.Pressed = strconv.FormatBool(c.S.View.Selected == bufferTarget(n.Buffer))
		}
		out = append(out, x)
	}
	return out
}

// Usage is what is in use at a moment, as a bar.
type Usage struct {
	ID, Title, Note string
	Parts, Key      []Part
	Marks           []Part
}

// Label says the bar in words.
func (u *Usage) Label() string {
	text := u.Title + ": "
	for i, p := range u.Key {
		if i > 0 {
			text += ", "
		}
		text += p.Label
	}
	return text
}

// Usages are the bars: of the failure or the peak, and of the moment that is looked at.
func (c *Doctor) Usages() (out []Usage) {
	r := c.report()
	if r == nil {
		return nil
	}
	words := wordsAtThePeak
	if r.Failure != nil {
		words = wordsWhenFailed
	}
	out = append(out, c.usage("usage", words, r.Alive))
	if a := c.S.Alive(); a != r.Alive {
		out = append(out, c.usage("usage-at", wordsAtEvent, a))
	}
	return out
}

// usage is a bar on the scale that all have: what could be reserved, or was.
func (c *Doctor) usage(id, words string, a *doctor.Alive) Usage {
	r, level := c.report(), c.S.LevelAt(a.At)
	whole := max(r.PeakReserved, r.Capacity, a.Bytes, 1)
	u := Usage{ID: id, Title: momentOf(words, a)}
	at, guessed := engine.Bytes(0), engine.Bytes(0)
	add := func(class, label string, to engine.Bytes) {
		if to > at {
			u.Parts = append(u.Parts, Part{Class: class, Label: label, Title: label, Style: stretch(at, to, whole)})
			u.Key = append(u.Key, Part{Class: class, Label: label})
			at = to
		}
	}
	for _, s := range a.Categories {
		n := useNames[state.UseOf(s.Category)]
		add(n.class, n.name+" "+format.Bytes(s.Bytes), at+s.Bytes)
		guessed += s.Guessed
	}
	used, held := max(level.Used, at), max(level.Reserved, at)
	add("lost", fmt.Sprintf(wordsRounded, format.Bytes(used-at)), used)
	add("free", fmt.Sprintf(wordsFree, format.Bytes(held-at)), held)
	if guessed > 0 {
		u.Note = fmt.Sprintf(wordsGuessed, format.Bytes(guessed))
	}
	end, text := r.Capacity, wordsCapacity
	if end == 0 {
		end, text = r.PeakReserved, wordsMostHeld
	}
	u.Marks = []Part{{Class: side("device", end, whole), Label: fmt.Sprintf(text, format.Bytes(end)), Style: place(end, whole)}}
	return u
}

// momentOf is a moment and what is in use then.
func momentOf(words string, a *doctor.Alive) string {
	return fmt.Sprintf(wordsHeld, format.Bytes(a.Bytes), profiles.Count(a.Count, "buffer")) + " " + fmt.Sprintf(words, format.Count(a.At))
}

// Devices are those of the file that hold anything; none if there is one.
func (c *Doctor) Devices() (out []Option) {
	r := c.report()
	if r == nil {
		return nil
	}
	for _, d := range r.Devices {
		text := fmt.Sprintf(wordsDevice, d.Device)
		switch {
		case d.Failed:
			text = fmt.Sprintf(wordsDeviceOut, d.Device)
		case d.InUse > 0:
			text = fmt.Sprintf(wordsDeviceHolds, d.Device, format.Bytes(d.InUse))
		case d.Events == 0 && d.Device != r.Device:
			continue
		}
		out = append(out, Option{strconv.Itoa(d.Device), text, d.Device == r.Device})
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// Late marks what is told about a moment before the one that is looked at.
func (c *Doctor) Late() string { return strconv.FormatBool(c.S.Examining() == proto.PartAlive) }
