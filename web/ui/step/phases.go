package step

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/ui/panel"
)

// Column is a bar of the memory at the peak of a phase. The style sheet makes it horizontal on narrow screens.
type Column struct {
	Name, Label, About string
	Class              string // "most" for the phase of the peak
	Parts              []panel.Piece
}

// tallest returns the bytes of the height of the columns.
func (c *View) tallest() engine.Bytes {
	return max(c.reply().Allocated, c.reply().Memory-c.reply().Context, 1)
}

// pictured returns the answer with the memory of the chosen rank, or nil if there is no answer.
func (c *View) pictured() *proto.Stepped {
	r := c.reply()
	if at := c.S.Step.Rank(); r != nil && at >= 0 && at != r.Full {
		of, rank := *r, r.Ranks[at]
		of.Allocated, of.Phase, of.Phases = rank.Allocated, rank.Phase, rank.Phases
		return &of
	}
	return r
}

// Phases returns the columns, in the order of the step.
func (c *View) Phases() (out []Column) {
	r := c.pictured()
	if r == nil {
		return nil
	}
	for i, p := range r.Phases {
		col := Column{Name: p.Name, Label: format.Bytes(p.Bytes), About: largest(p.Parts)}
		if i == r.Phase {
			col.Class = "most"
		}
		at := engine.Bytes(0)
		for _, part := range p.Parts {
			col.Parts = append(col.Parts,
				panel.Piece{Class: string(part.Kind), Title: part.Name + " " + format.Bytes(part.Bytes),
					Style: fmt.Sprintf("--from:%s;--size:%s", panel.Percent(at, c.tallest()),
						panel.Percent(part.Bytes, c.tallest()))})
			at += part.Bytes
		}
		out = append(out, col)
	}
	return out
}

// largest returns the two largest uses of memory in a phase.
func largest(parts []proto.StepPart) string {
	var first, second proto.StepPart
	for _, p := range parts {
		switch {
		case p.Bytes > first.Bytes:
			first, second = p, first
		case p.Bytes > second.Bytes:
			second = p
		}
	}
	text := first.Name + " " + format.Bytes(first.Bytes)
	if second.Bytes > 0 {
		text += ", " + second.Name + " " + format.Bytes(second.Bytes)
	}
	return text
}

// AssumedLine returns the assumptions that a person has changed.
func (c *View) AssumedLine() string {
	var out []string
	for _, w := range c.Assumed() {
		if v, chosen := c.S.Choice.StepArgs[w.Name]; chosen {
			out = append(out, w.Label+": "+ask.WordsIn(c.S.Choice.StepArgs, w.Name, v))
		}
	}
	if len(out) == 0 {
		return "as the program does"
	}
	return strings.Join(out, " · ")
}

// OriginLine returns the bytes that are exact and those that were read in code, and the error of the nearest published
// run.
func (c *View) OriginLine() string {
	if c.reply() == nil {
		return ""
	}
	sums := map[proto.Origin]engine.Bytes{}
	r := c.pictured()
	for _, p := range r.Phases[r.Phase].Parts {
		sums[p.Origin] += p.Bytes
	}
	line := fmt.Sprintf(wordsOriginLine, format.Bytes(sums[proto.Exact]), format.Bytes(sums[proto.CodeRead]))
	if n := r.Nearest; n != nil {
		line += fmt.Sprintf("; the nearest published run is met to %s", signedPercent(n.Percent))
	}
	return line
}

// signedPercent returns an error with its sign.
func signedPercent(p float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", p), "-", "−", 1)
}

// nearestWords describes a published run, and its differences from the present step.
func nearestWords(n *proto.StepMeasured) string {
	out := []string{ask.Title(n.Model)}
	for i := range ask.Options {
		if name := ask.Options[i].Name; n.Args[name] != "" {
			out = append(out, strings.ToLower(ask.Options[i].Title)+" "+ask.Words(name, n.Args[name]))
		}
	}
	text := strings.Join(out, ", ")
	var differs []string
	for _, name := range n.Differs {
		if o := ask.Option(name); o != nil {
			name = o.Title
		}
		differs = append(differs, name)
	}
	if len(differs) == 0 {
		return text + "; as here"
	}
	return text + "; here differs: " + strings.Join(differs, ", ")
}

// Origins returns a table of the parts at the peak and of the other numbers, with the origin of each.
func (c *View) Origins() vugu.HTML {
	r := c.pictured()
	if r == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table class="origins"><thead><tr><th scope="col">At the peak</th><th scope="col">Size</th><th scope="col">Known</th><th scope="col">From</th></tr></thead><tbody>`)
	row := func(name, size string, origin proto.Origin, why string) {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th><td>%s</td><td>%s</td><td>%s</td></tr>`, html.EscapeString(name),
			html.EscapeString(size), origin, html.EscapeString(why))
	}
	for _, p := range r.Phases[r.Phase].Parts {
		row(p.Name, format.Bytes(p.Bytes), p.Origin, p.Why)
	}
	row("reserved for all of it", format.Range(r.Low, r.High), proto.Replayed, wordsSent)
	if r.Experts {
		row("how busy the experts are", "–", proto.Assumed, wordsBusyExperts)
	}
	row("CUDA and collectives", format.Bytes(r.Context), proto.Assumed, "a fixed size, to be changed above")
	row("parameters", format.Count(int(r.Params)), proto.Exact, "counted by the shapes of the weights")
	time := format.Duration(r.Time) + "; too few published runs to say how far off"
	if r.TimeHigh > 0 {
		time = fmt.Sprintf("%s; %s to %s by nine of ten published runs of its kind", format.Duration(r.Time),
			format.Duration(r.TimeLow), format.Duration(r.TimeHigh))
	}
	row("time of the step", time, proto.Estimated, wordsTimeWhy)
	row("the program", ask.WordsIn(c.S.Choice.StepArgs, "program", ask.Value(c.S.Choice.StepArgs, "program")),
		proto.CodeRead, r.Program)
	if n := r.Nearest; n != nil {
		row("nearest published run, reserved", format.Bytes(n.Bytes), proto.Measured, nearestWords(n))
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th><td>%s</td><td>%s</td><td><a href="%s" rel="noreferrer">%s</a></td></tr>`, wordsNearestPlayed, format.Range(n.Low, n.High), signedPercent(n.Percent), html.EscapeString(n.URL), html.EscapeString(n.Where))
	}
	b.WriteString("</tbody></table>")
	return vugu.HTML(b.String())
}
