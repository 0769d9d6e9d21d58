// Package snapshot shows the findings about a memory snapshot: why memory ran out, what holds it, which settings
// would have helped, and what grows from step to step.
package snapshot

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/panel"
)

// Answer says whether a run ran out of memory and why, and shows what was in use then and at the chosen time.
type Answer struct{ S *state.State }

// Told reports whether a recording is open.
func (c *Answer) Told() bool { return c.S.Doctor() != nil }

// Kind returns the kind of the verdict, one of the constants of package answer.
func (c *Answer) Kind() string {
	switch r := report(c.S); {
	case r == nil && c.S.Doctor() != nil && c.S.Doctor().Failed != "":
		return answer.Failed
	case r == nil:
		return answer.Working
	case r.Failure != nil:
		return answer.DoesNot
	}
	return answer.Unknown
}

// Word returns the words of the verdict.
func (c *Answer) Word() string {
	if r := report(c.S); r != nil && r.Recorded == 0 {
		return "No events: "
	}
	return map[string]string{answer.Failed: "The snapshot cannot be examined: ",
		answer.Working: "Examining the snapshot…", answer.DoesNot: "Ran out of memory: ",
		answer.Unknown: "No request failed: "}[c.Kind()]
}

// Sentence returns the sentence after the words of the verdict.
func (c *Answer) Sentence() string {
	r := report(c.S)
	switch {
	case c.Kind() == answer.Failed:
		return format.Sentence(c.S.Doctor().Failed)
	case r == nil:
		return ""
	case r.Failure == nil:
		l := c.S.Memory.LevelAt(r.PeakAt)
		unused := format.Bytes(max(l.Reserved-l.Used, 0))
		words := "%s was held at the peak, and %s of the %s reserved then was not used."
		if r.Recorded == 0 {
			words = "%s was held, and %s of the %s reserved was not used."
		}
		return fmt.Sprintf(words, format.Bytes(r.Peak), unused, format.Bytes(l.Reserved))
	}
	f := r.Failure
	text := fmt.Sprintf("%s was asked for, and ", format.BytesUp(f.Bytes))
	if len(f.Holes) == 0 {
		return text + "nothing was free in the segments that it could use."
	}
	return text + fmt.Sprintf("%s was free in %s, the largest %s.", format.Bytes(f.Free),
		profiles.Count(f.HoleCount, "hole"), format.Bytes(f.Holes[0].Bytes))
}

// Sub returns the second line: which code made the request, and the advice once it is known.
func (c *Answer) Sub() string {
	r := report(c.S)
	if r == nil {
		return ""
	}
	text := ""
	if f := r.Failure; f != nil {
		text = fmt.Sprintf("It was for %s. Then %s was reserved, and %s more could be. ", f.Site,
			format.Bytes(f.Reserved), format.Bytes(f.DeviceFree))
		if f.Unmapped > 0 {
			text += fmt.Sprintf("Address space that is not mapped, %s, is neither free nor a hole. ", format.Bytes(f.Unmapped))
		}
	}
	return text + short(c.S)
}

// HTML returns the content of the section, escaped.
func (c *Answer) HTML() vugu.HTML {
	if !c.Told() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<p class="say" data-testid="doctor-say"><span class="sign" aria-hidden="true"></span><b>%s</b>%s</p><p class="sub" data-testid="doctor-sub">%s</p>`,
		c.Word(), html.EscapeString(c.Sentence()), html.EscapeString(c.Sub()))
	c.between(&b)
	c.devices(&b)
	for _, u := range c.usages() {
		u.html(&b)
	}
	return vugu.HTML(b.String())
}

// between writes the buffers around the largest hole, as buttons that show them.
func (c *Answer) between(b *strings.Builder) {
	r := report(c.S)
	if r == nil || r.Failure == nil || len(r.Failure.Holes) == 0 {
		return
	}
	h := &r.Failure.Holes[0]
	fmt.Fprintf(b, `<p class="sub between" data-testid="between">%s `,
		fmt.Sprintf("The largest hole, %s too small, lies between", format.BytesUp(h.Missing)))
	for i, n := range []*doctor.Neighbour{&h.Below, &h.Above} {
		if i > 0 {
			b.WriteString(" and ")
		}
		if n.End {
			b.WriteString("the end of its segment")
			continue
		}
		text := fmt.Sprintf("%s of %s (%s", format.Bytes(n.Bytes), useNames[known.UseOf(n.Category)].name, n.Site)
		if n.Stays {
			text += "; kept to the end"
		}
		fmt.Fprintf(b, `<button class="unfold" type="button" data-do="show-buffer" data-index="%d" title="Show it in the addresses, or let go of it">%s</button>`, n.Buffer, html.EscapeString(text+")"))
	}
	b.WriteString(".</p>")
}

// usage is a bar of the memory in use at one time.
type usage struct {
	id, title, note string
	parts           []panel.Piece
	mark            panel.Piece
}

// html writes the bar with its legend.
func (u *usage) html(b *strings.Builder) {
	var parts, key strings.Builder
	label := u.title
	for _, p := range u.parts {
		fmt.Fprintf(&parts, `<span class="part %s" style="%s" title="%s"><span>%[3]s</span></span>`, p.Class, p.Style,
			p.Label)
		fmt.Fprintf(&key, `<li><i class="sw %s"></i>%s</li>`, p.Class, p.Label)
		label += ", " + p.Label
	}
	fmt.Fprintf(b, `<div class="usage" data-testid="%s"><div class="gauge" role="img" aria-label="%s"><span class="gauge-title">%s</span><div class="gauge-parts">%s</div>`, u.id, label, u.title, parts.String())
	fmt.Fprintf(b, `<span class="gauge-mark %s" style="%s"><span>%s</span></span></div><ul class="gauge-key" aria-hidden="true">%s</ul><p class="note">%s</p></div>`,
		u.mark.Class, u.mark.Style, u.mark.Label, key.String(), u.note)
}

// usages returns the bars: of the failure or the peak, and of the chosen time if that is another one.
func (c *Answer) usages() (out []usage) {
	r := report(c.S)
	if r == nil {
		return nil
	}
	out = append(out, c.usage("usage", decisive(report(c.S)), r.Alive))
	if a := c.S.Alive(); a != r.Alive {
		out = append(out, c.usage("usage-at", wordsAtEvent, a))
	}
	return out
}

// usage returns the bar of a. All bars have the same scale: the capacity, or the most that was reserved.
func (c *Answer) usage(id, words string, a *doctor.Alive) usage {
	r, level := report(c.S), c.S.Memory.LevelAt(a.At)
	whole := max(r.PeakReserved, r.Capacity, a.Bytes, 1)
	u := usage{id: id, title: momentOf(words, a)}
	at, guessed := engine.Bytes(0), engine.Bytes(0)
	add := func(class, name string, to engine.Bytes) {
		if to > at {
			u.parts = append(u.parts, panel.Piece{Class: class, Label: name + " " + format.Bytes(to-at),
				Style: panel.Stretch(at, to, whole)})
			at = to
		}
	}
	for _, s := range a.Categories {
		n := useNames[known.UseOf(s.Category)]
		add(n.class, n.name, at+s.Bytes)
		guessed += s.Guessed
	}
	add("lost", "lost inside blocks", level.Used)
	add("free", "reserved, not used", level.Reserved)
	if guessed > 0 {
		u.note = fmt.Sprintf("%s of it by how long it lives: no stack tells.", format.Bytes(guessed))
	}
	end, text := r.Capacity, "%s in all could be reserved"
	if end == 0 {
		end, text = r.PeakReserved, "%s reserved at most"
	}
	u.mark = panel.Piece{Class: panel.Side("device", end, whole), Label: fmt.Sprintf(text, format.Bytes(end)),
		Style: panel.Place(end, whole)}
	return u
}

// devices writes a list of the devices in the file that have events or memory in use, if there are several.
func (c *Answer) devices(b *strings.Builder) {
	r := report(c.S)
	if r == nil {
		return
	}
	options, n := "", 0
	for _, d := range r.Devices {
		text, selected := fmt.Sprintf("device %d", d.Device), ""
		switch {
		case d.Failed:
			text = fmt.Sprintf("device %d, ran out of memory", d.Device)
		case d.InUse > 0:
			text = fmt.Sprintf("device %d, %s in use at the end", d.Device, format.Bytes(d.InUse))
		case d.Events == 0 && d.Device != r.Device:
			continue
		}
		if d.Device == r.Device {
			selected = " selected"
		}
		options += fmt.Sprintf(`<option value="%d"%s>%s</option>`, d.Device, selected, text)
		n++
	}
	if n > 1 {
		fmt.Fprintf(b, `<select class="device-pick" data-do="recording-device" data-testid="recording-device" aria-label="Device of the snapshot">%s</select>`, options)
	}
}

// Late returns data-moment: "late" while the answer about the chosen time is not known yet.
func (c *Answer) Late() string {
	if c.S.Examining() == proto.PartAlive {
		return "late"
	}
	return ""
}

// report returns the report about the recording, or nil if it is not known.
func report(s *state.State) *doctor.Report {
	if d := s.Doctor(); d != nil {
		return d.Report
	}
	return nil
}

// decisive returns the format of words about the decisive event: the failure or the peak.
func decisive(r *doctor.Report) string {
	if r.Failure != nil {
		return "when the request failed, event %s"
	}
	return "at the peak, event %s"
}

// momentOf returns what is in use in a. words is a format for its event.
func momentOf(words string, a *doctor.Alive) string {
	return fmt.Sprintf("%s in %s", format.Bytes(a.Bytes), profiles.Count(a.Count, "buffer")) + " " + fmt.Sprintf(words,
		format.Count(a.At))
}

// moment returns the time that the flame graph is about, with what is in use.
func moment(s *state.State) string {
	r, a := report(s), s.Alive()
	if a != r.Alive {
		return momentOf(wordsAtEvent, a)
	}
	return momentOf(decisive(r), a)
}

// short returns the advice in one sentence, with the line to set.
func short(s *state.State) string {
	if set := line(s); set != "" {
		if d := s.Doctor(); d.Report.Failure == nil {
			return fmt.Sprintf("%s would have reserved %s less in a replay.", set, format.Bytes(d.Advice.Saves))
		}
		return fmt.Sprintf("%s would have helped.", set)
	}
	return advice(s)
}

// line returns the environment variable and value that help, or "" if no setting is known to help.
func line(s *state.State) string {
	if d := s.Doctor(); d != nil && d.Advice != nil {
		return d.Advice.Line
	}
	return ""
}

// advice returns the advice without the line to set.
func advice(s *state.State) string {
	d := s.Doctor()
	if d == nil || d.Advice == nil {
		return ""
	}
	if a := d.Advice; a.Verdict == doctor.Setting {
		if d.Report.Failure != nil {
			return "A replay with this finds room for all requests. Set it before the program starts:"
		}
		return fmt.Sprintf("A replay with this reserves %s less than one with the settings of the run. Set it before the program starts:",
			format.Bytes(a.Saves))
	}
	return question.NoSetting(d.Report, d.Advice, d.Replays)
}

const (
	wordsAtEvent = "at event %s"
	wordsFlame   = "What is held, by call stack"
)

// useNames are the names of uses of memory, in the order of draw.Use, with the CSS classes of their colours in bars and
// in tables.
var useNames = [...]struct{ class, by, name string }{
	{"fix", "fixed", "weights"}, {"bwd", "backward", "gradients"}, {"opt", "fixed", "optimizer"},
	{"fwd", "forward", "activations"},
	{"scratch", "muted", "temporaries"}, {"unknown", "muted", "unknown use"},
}
