package step

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/export"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Ranks returns a row for each rank of a pipeline, with a bar of its memory at the peak and a mark at the memory
// of the card without CUDA. It is empty without a pipeline.
func (c *View) Ranks() vugu.HTML {
	r := c.reply()
	if r == nil || len(r.Ranks) == 0 {
		return ""
	}
	whole := max(r.Memory, r.Ranks[r.Full].High+r.Context)
	var b strings.Builder
	for i := 0; i < len(r.Ranks); i++ {
		end := i
		for c.folded(end) {
			end++
		}
		if end > i {
			b.WriteString(c.foldedRanks(i, end, whole))
			i = end
		}
		b.WriteString(c.rankRow(i, whole))
	}
	return vugu.HTML(b.String())
}

// If there are more than mostRankRows ranks, all are folded except the first and last rankRows, the fullest and the
// chosen one.
const (
	mostRankRows = 16
	rankRows     = 4
)

// folded reports whether rank i is folded.
func (c *View) folded(i int) bool {
	r := c.reply()
	return len(r.Ranks) > mostRankRows && i >= rankRows && i < len(r.Ranks)-rankRows && i != r.Full &&
		i != c.S.Step.Rank()
}

// foldedRanks returns the rows of the ranks from i to end-1, folded under a line with the range of what they need.
func (c *View) foldedRanks(i, end int, whole engine.Bytes) string {
	least, most := engine.NoLimit, engine.Bytes(0)
	var rows strings.Builder
	for n := i; n < end; n++ {
		needs := c.reply().Ranks[n].High + c.reply().Context
		least, most = min(least, needs), max(most, needs)
		rows.WriteString(c.rankRow(n, whole))
	}
	return fmt.Sprintf("<li><details><summary>"+wordsFoldedRanks+"</summary><ol>%s</ol></details></li>", i, end-1,
		format.Bytes(least), format.Bytes(most), rows.String())
}

// rankRow returns the row of rank i. whole is the bytes of the whole bar.
func (c *View) rankRow(i int, whole engine.Bytes) string {
	r := c.reply()
	rank, class := &r.Ranks[i], ""
	needs := rank.High + r.Context // with CUDA, as in the verdict
	if i == r.Full {
		class = "most"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<li class="%s"><button type="button" data-do="step-rank" data-index="%d" aria-pressed="%t"><b>%s</b><small>%s</small></button><span class="rank-bar">`,
		class, i, i == c.S.Step.Rank(), fmt.Sprintf("Rank %d", i), html.EscapeString(rankWords(rank)))
	at := engine.Bytes(0)
	for _, p := range rank.Phases[rank.Phase].Parts {
		b.WriteString(span("part "+string(p.Kind), panel.Stretch(at, at+p.Bytes, whole),
			html.EscapeString(p.Name)+" "+format.Bytes(p.Bytes), ""))
		at += p.Bytes
	}
	b.WriteString(span("part alloc", panel.Stretch(at, max(needs, at), whole),
		"allocator and CUDA "+format.Bytes(max(needs-at, 0)), "") + span("rank-mark",
		panel.Place(r.Memory, whole), "", ""))
	fmt.Fprintf(&b, `</span><span class="rank-bytes">%s</span></li>`, format.Bytes(needs))
	return b.String()
}

// rankWords returns the layers of a rank and its micro batches in flight.
func rankWords(r *proto.StepRank) string {
	layers := strings.ReplaceAll(r.Layers, "-", "–")
	word := "layers "
	if !strings.ContainsAny(layers, "–,") {
		word = "layer "
	}
	return word + layers + ", " + fmt.Sprintf("%d in flight", r.InFlight)
}

// RanksNote returns the order of the passes and the share of time that ranks wait.
func (c *View) RanksNote() string {
	r := c.reply()
	if r == nil || len(r.Ranks) == 0 {
		return ""
	}
	return format.Capital(r.Order) + ". " + fmt.Sprintf(wordsRanksWait, format.Share(r.Idle))
}

// Orders returns a row for each schedule of the pipeline. That of the present one is not a button.
func (c *View) Orders() (out []Row) {
	r := c.reply()
	if r == nil || len(r.Orders) == 0 {
		return nil
	}
	for i := range r.Orders {
		o := c.row(&r.Orders[i], input.OrderRow, i)
		if o.about, o.lanes = r.Orders[i].Words, r.Orders[i].Lanes; i == r.Taken {
			o.Arg, o.time, o.now = "", format.Duration(r.Time), true
		}
		out = append(out, o)
	}
	return c.scaled(out)
}

// ranksView returns the list of ranks, whose rows are given.
func (c *View) ranksView(rows vugu.HTML) *vugu.VGNode {
	return element("section", attr("class", "ranks", "aria-labelledby", "ranks-title"),
		element("h2", attr("id", "ranks-title"), wordsRanks), element("p", attr("class", "note"), c.RanksNote()),
		element("ol", attr("data-testid", "step-ranks"), rows))
}

// passesView returns the picture of the passes of a pipeline with a table.
func (c *View) passesView() *vugu.VGNode {
	x, label, made, height := c.S.Passes(), wordsPasses, "", 0.0
	if x != nil {
		made, height = x.Made, x.Height()
		label += ". " + x.Summary() + " " + PassSentence(c.S)
	}
	host := element("div", attr("class", "host", "data-testid", "passes", "style", fmt.Sprintf("height:%gpx", height)))
	host.JSCreateHandler = vugu.JSValueFunc(func(value js.Value) { c.Hosts.Give("passes", value) })
	return element("section", attr("class", "lead"),
		element("div", attr("class", "passes", "id", "passes", "tabindex", "0", "role", "application",
			"aria-roledescription", wordsPasses, "aria-describedby", "passes-help", "aria-label", label), host),
		element("p", attr("class", "sr", "id", "passes-help"), wordsPassesHelp),
		element("p", attr("class", "note"), made),
		element("div", attr("class", "row"),
			button(attr("class", "button small", "data-do", "pass-whole"), c.S.View.To == 0, "Whole step"),
			button(attr("class", "button small", "data-do", "passes-svg", "title", wordsPassesSave), x == nil, "SVG")),
		c.besideView(),
		element("details", attr("class", "passes-table"), element("summary", nil, "As a table"),
			element("div", attr("data-testid", "passes-table"), vugu.HTML(c.passesTable()))))
}

// whyView returns what is said about the selected pass or idle time.
func (c *View) whyView() *vugu.VGNode {
	title := "Why ranks wait"
	if x, t := c.S.Passes(), c.S.View.Selected; x != nil && t.Kind == lookup.OnIdle {
		from, to, rank := x.Interval(t)
		title = fmt.Sprintf("Why rank %d waits %s", rank, format.Duration(to-from))
	}
	return element("section", attr("class", "panel passes-why", "aria-labelledby", "why-title"),
		element("h2", attr("id", "why-title"), title),
		element("p", attr("data-testid", "pass-why"),
			vugu.HTML(html.EscapeString(cmp.Or(PassSentence(c.S), wordsPassesAsk)))),
		button(attr("class", "button small", "data-do", "pass-follow"), !c.follows(), "Follow the cause"))
}

// PassSentence describes the selection in the picture of a pipeline, with its cause.
func PassSentence(s *state.State) string {
	x := s.Passes()
	if x == nil {
		return ""
	}
	return strings.Join(x.Why(s.View.Selected), " ")
}

// follows reports whether the selection has a cause to follow.
func (c *View) follows() bool {
	x, t := c.S.Passes(), c.S.View.Selected
	return x != nil && len(x.Why(t)) > 0 && x.Follow(t) != t
}

// mostPasses is the largest number of passes of a rank in the table: those around the selected one.
const mostPasses = 100

// passesTable returns a table of the idle times of the ranks, and a table of the passes of the shown rank.
func (c *View) passesTable() string {
	x := c.S.Passes()
	if x == nil {
		return ""
	}
	text := `<table class="parts"><caption>What ranks do</caption>` + wordsIdleHead
	row := func(first int, cells ...string) {
		text += `<tr><th scope="row">` + strconv.Itoa(first) + "</th><td>" + strings.Join(cells, "</td><td>") +
			"</td></tr>"
	}
	for r := range x.Ranks() {
		start, drain, between := x.Idle(r)
		row(r, format.Duration(x.End()-start-drain-between), format.Duration(start), format.Duration(between),
			format.Duration(drain))
	}
	at := max(0, c.S.Step.Rank())
	from, to := x.Numbers(at)
	if _, _, r := x.Interval(c.S.View.Selected); r == at {
		from = max(from, min(c.S.View.Selected.Index-mostPasses/2, to-mostPasses))
	}
	to = min(to, from+mostPasses)
	text += `</tbody></table><table class="parts"><caption>` + fmt.Sprintf("Passes of rank %d</caption>", at) +
		wordsPassHead
	for n := from; n < to; n++ {
		p, _ := x.Pass(n)
		w, path := x.Wait(lookup.Target{Kind: lookup.OnIdle, Index: n}), ""
		if slices.Contains(x.Path, n) {
			path = "yes"
		}
		row(p.Micro, p.Kind.String(), strconv.Itoa(p.Stage), format.Duration(p.Start), format.Duration(p.End),
			format.Duration(max(0, w.To-w.From)), path)
	}
	return text + "</tbody></table>"
}

// PassesFile returns the picture of a pipeline as a file. It returns false without a pipeline.
func PassesFile(s *state.State) (export.File, bool) {
	x := s.Passes()
	if x == nil {
		return export.File{}, false
	}
	r := s.Step.Shown
	var scene, whole draw.Scene
	x.Draw(&scene, draw.PassLanes, draw.View{From: s.View.From, To: s.View.To, Width: export.FigureWidth,
		Cursor: draw.NoCursor, Selected: s.View.Selected})
	draw.Headed(&whole, &scene, draw.Heading{Title: fmt.Sprintf("%s on %d × %s", r.Name, r.GPUs, r.Card),
		Lines: append([]string{format.Capital(r.Order) + ". " + x.Summary(), x.Made}, x.Why(s.View.Selected)...)})
	return export.SVG(export.NameFor(r.Name+" ranks", "svg"), &whole, display.Light, "")
}
