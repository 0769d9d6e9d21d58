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
)

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
