// Package address has the address view: the addresses of the values of a schedule or of the buffers of a
// file, and whether all of them find room.
package address

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/mount"
	"memtide/web/ui/panel"
)

// Map is the address view.
type Map struct {
	S     *state.State
	Hosts mount.Hosts
}

// Open reports whether the view is unfolded.
func (c *Map) Open() bool { return c.S.Allocator() != "" }

// Height returns the style of a host. A file has no picture of the host memory.
func (c *Map) Height(name string) string {
	if name == "host" && c.S.Memory != nil {
		return "display:none"
	}
	return fmt.Sprintf("height:%gpx", mount.ByName[name].Picture.Height())
}

// Label returns the accessible name of a picture.
func (c *Map) Label(name string) string {
	m := c.S.PlacesModel()
	switch {
	case m == nil:
		return mount.ByName[name].Picture.Title()
	case name == "map":
		return m.MapSentence(m.Moment())
	}
	return mount.ByName[name].Picture.Title() + ". " + m.Summary()
}

// Allocators lists the allocators, first "As recorded" if the file has addresses.
func (c *Map) Allocators() (out []panel.Option) {
	name := c.S.Allocator()
	if m := c.S.Memory; m != nil && m.Data.Recorded != nil {
		out = append(out, panel.Option{ID: proto.Recorded, Title: "As recorded", Selected: name == proto.Recorded})
	}
	for _, a := range alloc.Allocators() {
		out = append(out, panel.Option{ID: a.Name, Title: a.Title, Selected: a.Name == name})
	}
	return out
}

// Doc returns the summary of the allocator.
func (c *Map) Doc() string {
	a := alloc.Lookup(c.S.Allocator())
	if a == nil {
		if c.S.Allocator() == proto.Recorded {
			return "Where the file says that the buffers lay."
		}
		return ""
	}
	return a.Doc
}

// Params returns the parameters of the allocator.
func (c *Map) Params() []panel.Param {
	a := alloc.Lookup(c.S.Allocator())
	if a == nil {
		return nil
	}
	return slices.DeleteFunc(panel.Params(c.S, a.Params, c.S.Choice.AllocArgs, "alloc-arg:"), func(p panel.Param) bool {
		return p.Name == alloc.OrderParam && c.S.Memory != nil // a file has its own order
	})
}

// Work returns the progress of the placement under way, or "" if there is no such request.
func (c *Map) Work() string {
	if c.S.Placing == nil {
		return ""
	}
	return "Placing…" + answer.Done(c.S.Placing.Progress)
}

// AgainText returns the text of the button that gives the search more time, or "" if there is no button.
func (c *Map) AgainText() string {
	p := c.S.Places
	if p == nil || p.Failure == nil || p.Failure.Kind != proto.Deadline || c.S.Placing != nil {
		return ""
	}
	if p.Placed == nil {
		return "Place"
	}
	return "Search for a minute"
}

// Stale returns data-stale: whether the pictures are those of another allocator or schedule.
func (c *Map) Stale() string {
	return strconv.FormatBool(c.S.Placing != nil || c.behind() != nil)
}

// behind returns the schedule whose addresses are shown while the other pictures show a preview, or nil if there is no
// preview.
func (c *Map) behind() *known.Picture {
	if c.S.Preview == nil || c.S.Memory != nil {
		return nil
	}
	return c.S.Shown
}

func (c *Map) placed() *proto.Placed {
	if p := c.S.Places; p != nil {
		return p.Placed
	}
	return nil
}

// Facts returns the numbers of the placement.
func (c *Map) Facts() []panel.Fact {
	p := c.placed()
	if p == nil {
		return nil
	}
	out := []panel.Fact{
		{Label: "in use at the peak", Value: format.Bytes(p.Peak),
			Title: "The largest total alive at one moment, without resident memory: no pool can be smaller"},
		needed(p),
	}
	if p.Chunk > 0 || p.Reserved != p.Pool || c.S.Memory != nil {
		out = append(out, panel.Fact{Label: "reserved", Value: format.Bytes(p.Reserved),
			Title: "The most that is taken from the device"})
	} else {
		title := "All addresses there are"
		if p.Resident > 0 {
			title = fmt.Sprintf("The budget without the %s that are resident", format.Bytes(p.Resident))
		}
		out = append(out, panel.Fact{Label: "pool", Value: format.Bytes(p.Pool), Title: title})
	}
	l := c.S.PlacesModel().LevelShown()
	when := "at the peak"
	if p.Failed != nil {
		when = "when it fails"
	}
	return append(out,
		panel.Fact{Label: "largest hole " + when, Value: format.Bytes(l.Largest),
			Title: "The largest stretch of free addresses"},
		panel.Fact{Label: "fragmentation " + when, Value: format.Share(l.Fragmentation()),
			Title: "1 − largest hole / free memory"},
		panel.Fact{Label: "lost inside blocks", Value: format.Bytes(p.Waste),
			Title: "What buffers are rounded up by, at most at a moment"})
}

// needed returns the pool that the allocator needs.
func needed(p *proto.Placed) panel.Fact {
	switch {
	case p.Failed == nil:
		return panel.Fact{Label: "needed", Value: format.Bytes(p.Top), Title: "The end of the highest block"}
	case p.Needs > 0:
		return panel.Fact{Label: "would be needed", Value: format.Bytes(p.Needs),
			Title: "The pool that this allocator finds by itself"}
	}
	return panel.Fact{Label: "would be needed", Value: "–", Title: "Not known"}
}

// Outcome returns a sentence about whether the buffers have found room.
func (c *Map) Outcome() string {
	at := c.S.Places
	if at == nil {
		return ""
	}
	p, f := at.Placed, at.Failure
	if p == nil {
		if f == nil {
			return ""
		}
		return format.Sentence(f.Text)
	}
	total := p.Pool + p.Resident
	switch {
	case f != nil && p.Fixed && p.Top > p.Pool:
		return fmt.Sprintf("Stopped: the best found so far needs a pool of %s, the pool has %s. Whether one fits is not decided.", format.BytesUp(p.Top), format.Bytes(p.Pool))
	case f != nil:
		return fmt.Sprintf("Stopped: the best found so far needs %s. A smaller one may exist.", format.BytesUp(p.Top))
	case p.NoneFits:
		return fmt.Sprintf("Proven: no placement fits into a pool of %s. The smallest needs %s; it is shown.",
			format.Bytes(p.Pool), format.BytesUp(p.Top))
	case p.Failed != nil:
		return c.failedText(p)
	case p.Allocator == proto.Recorded:
		return fmt.Sprintf("%s buffers, as recorded.", format.Count(c.S.Memory.Data.Count))
	case p.Optimal && !p.Fixed:
		return fmt.Sprintf("All %s buffers fit into %s: proven smallest.", format.Count(buffers(p)),
			format.BytesUp(p.Pool))
	case p.Fixed && p.Resident > 0:
		return fmt.Sprintf("All buffers find room: %s of the budget of %s are enough.",
			format.BytesUp(p.Top+p.Resident), format.Bytes(total))
	}
	return fmt.Sprintf("All %s buffers find room in %s.", format.Count(buffers(p)), format.BytesUp(p.Pool))
}

// failedText returns a sentence about the request that found no hole. The verdict on the step is elsewhere.
func (c *Map) failedText(p *proto.Placed) (text string) {
	if m := c.S.PlacesModel(); m != nil {
		text = m.FailureSentence() + "."
	}
	if p.Failed.Unreserved > 0 {
		text += fmt.Sprintf(" The device has %s more, too little for a segment.", format.Bytes(p.Failed.Unreserved))
	}
	if p.Needs > 0 {
		if c.S.Memory != nil {
			return text + fmt.Sprintf(" A pool of %s would do.", format.BytesUp(p.Needs))
		}
		text += fmt.Sprintf(" A budget of %s would do for this schedule.", format.BytesUp(p.Needs+p.Resident))
	}
	return text
}

func buffers(p *proto.Placed) (n int) {
	last := -1
	for _, x := range p.Pieces {
		if x.Buffer != last {
			n, last = n+1, x.Buffer
		}
	}
	return n
}

// Verdict says whether the shown layout has been checked.
func (c *Map) Verdict() panel.Badge {
	p := c.placed()
	if p == nil {
		return panel.Badge{Class: "muted"}
	}
	if at := c.behind(); at != nil {
		return panel.Badge{Class: "muted", Text: "of " + at.Choice.PlanName() +
			at.Within(" in ") + ", not of the preview",
			Title: "A click on the curve chooses the schedule that is previewed; its addresses are found then."}
	}
	v := panel.Badge{Class: "muted",
		Title: "An independent validator has compared every block that is shown with every other: none overlap, all lie in the pool."}
	if p.Optimal {
		v.Title += " That none needs less is the search's own proof, which is not checked here."
	}
	switch {
	case p.Unchecked:
		v.Text, v.Title = "not checked", "There are too many buffers to compare every one with every other."
	case !p.Verdict.Verified:
		v = panel.Badge{Text: "✗ check failed", Class: "bad", Title: p.Verdict.Problem}
	case p.Failed != nil:
		v.Text = "checked up to the failure"
	case p.NoneFits:
		v.Text = "checked, in the larger pool"
	default:
		v.Text, v.Class = "✓ layout checked", "good"
	}
	return v
}

// OutcomeClass returns the CSS class of Outcome: "bad" if the allocator gave no result, otherwise "".
func (c *Map) OutcomeClass() string {
	if c.placed() == nil && c.S.Places != nil {
		return "bad"
	}
	return ""
}

// RaiseText returns the text of the button that sets a budget that is large enough, or "" if none is known or needed.
func (c *Map) RaiseText() string {
	if b := c.S.PlacesNeed(); b > 0 {
		return "Set " + format.BytesUp(b)
	}
	return ""
}

// aliveRows is the largest number of buffers in the table.
const aliveRows = 40

// Moment returns the heading of the table.
func (c *Map) Moment() string {
	if p := c.placed(); p != nil && p.Failed != nil {
		return "Alive when it fails"
	}
	return "Alive at the peak"
}

// Orders lists the ways to sort the table.
func (c *Map) Orders() (out []panel.Option) {
	for by, title := range [draw.NumAliveBy]string{"size", "address", "since"} {
		out = append(out, panel.Option{ID: strconv.Itoa(by), Title: title,
			Selected: draw.AliveBy(by) == c.S.View.AliveBy})
	}
	return out
}

// HTML returns the table of the buffers that are alive at the peak or the failure, escaped.
func (c *Map) HTML() vugu.HTML {
	m := c.S.PlacesModel()
	if m == nil {
		return ""
	}
	rows := m.AliveAt(m.Moment(), c.S.View.AliveBy)
	var b strings.Builder
	b.WriteString(`<table><thead><tr><th scope="col">Buffer</th><th scope="col">Kind</th><th scope="col">Size</th><th scope="col">Address</th><th scope="col">Since</th><th scope="col">Until</th><th scope="col">Block</th></tr></thead><tbody>`)
	for _, r := range rows[:min(len(rows), aliveRows)] {
		b.WriteString("<tr>")
		for _, cell := range []string{r.Name, r.Kind, format.Bytes(r.Bytes), format.Bytes(r.Addr), r.Since, r.Until,
			r.Layer} {
			b.WriteString("<td>" + html.EscapeString(strings.ToValidUTF8(cell, "�")) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	if n := len(rows) - aliveRows; n > 0 {
		fmt.Fprintf(&b, `<p class="more">and %s more</p>`, format.Count(n))
	}
	return vugu.HTML(b.String())
}

// Numbers returns the line of numbers of a file about addresses.
func Numbers(s *state.State) []panel.Number {
	d := s.Memory.Data
	peak := d.Peak
	out := []panel.Number{
		{ID: "peak", Label: "peak in use", Value: format.Bytes(peak), Title: "The largest total alive at one moment"},
		{ID: "reserved", Label: "most reserved", Value: "–"},
		{ID: "over-peak", Label: "over the peak", Value: "–"},
		{ID: "fragmentation", Label: "fragmentation", Value: "–"},
		{ID: "buffers", Label: "buffers", Value: format.Count(d.Count)},
	}
	if s.Places == nil || s.Places.Placed == nil {
		return out
	}
	p := s.Places.Placed
	out[1].Value, out[1].Title = format.Bytes(p.Reserved), "The most that is taken from the device"
	over := math.Max(float64(p.Reserved)/math.Max(float64(peak), 1)-1, 0)
	out[2].Value, out[2].Title = format.Percent(over), "What is reserved beyond the peak"
	l := s.PlacesModel().LevelShown()
	out[3].Value, out[3].Title = format.Share(l.Fragmentation()), "1 − largest hole / free memory, at the peak"
	return out
}
