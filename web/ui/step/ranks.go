package step

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Ranks returns the ranks of a pipeline, a row each: what lies there at its peak against what
// a card has for the program. Empty without a pipeline.
func (c *Page) Ranks() vugu.HTML {
	r := c.reply()
	if r == nil || len(r.Ranks) == 0 {
		return ""
	}
	room := r.Memory - r.Context
	whole := max(room, r.Ranks[r.Full].High)
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

// Of more than mostRankRows ranks all but the first and last few, the fullest and the chosen one are folded.
const (
	mostRankRows = 16
	rankRows     = 4
)

// folded reports whether a rank is one of those that are folded.
func (c *Page) folded(i int) bool {
	r := c.reply()
	return len(r.Ranks) > mostRankRows && i >= rankRows && i < len(r.Ranks)-rankRows && i != r.Full &&
		i != c.S.Step.Rank()
}

// foldedRanks returns the rows of the ranks from i up to end behind a line that says how much they need.
func (c *Page) foldedRanks(i, end int, whole engine.Bytes) string {
	least, most := engine.NoLimit, engine.Bytes(0)
	var rows strings.Builder
	for n := i; n < end; n++ {
		least, most = min(least, c.reply().Ranks[n].High), max(most, c.reply().Ranks[n].High)
		rows.WriteString(c.rankRow(n, whole))
	}
	return fmt.Sprintf("<li><details><summary>"+wordsFoldedRanks+"</summary><ol>%s</ol></details></li>", i, end-1,
		format.Bytes(least), format.Bytes(most), rows.String())
}

// rankRow returns the row of a rank; the bar has the given bytes from end to end.
func (c *Page) rankRow(i int, whole engine.Bytes) string {
	r := c.reply()
	rank, class := &r.Ranks[i], ""
	if i == r.Full {
		class = "most"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<li class="%s"><button type="button" data-do="step-rank" data-index="%d" aria-pressed="%t"><b>%s</b><small>%s</small></button><span class="rank-bar">`,
		class, i, i == c.S.Step.Rank(), fmt.Sprintf(wordsRank, i), html.EscapeString(rankWords(rank)))
	at := engine.Bytes(0)
	for _, p := range rank.Phases[rank.Phase].Parts {
		b.WriteString(span("part "+string(p.Kind), panel.Stretch(at, at+p.Bytes, whole),
			html.EscapeString(p.Name)+" "+format.Bytes(p.Bytes), ""))
		at += p.Bytes
	}
	b.WriteString(span("part alloc", panel.Stretch(at, max(rank.High, at), whole),
		wordsOverhead+" "+format.Bytes(max(rank.High-at, 0)), "") + span("rank-mark",
		panel.Place(r.Memory-r.Context, whole), "", ""))
	fmt.Fprintf(&b, `</span><span class="rank-bytes">%s</span></li>`, format.Bytes(rank.High))
	return b.String()
}

// rankWords say what a rank has and holds.
func rankWords(r *proto.StepRank) string {
	layers := strings.ReplaceAll(r.Layers, "-", "–")
	word := "layers "
	if !strings.ContainsAny(layers, "–,") {
		word = "layer "
	}
	return word + layers + ", " + fmt.Sprintf(wordsInFlight, r.InFlight)
}

// RanksNote says in which order the passes run, and how long ranks wait.
func (c *Page) RanksNote() string {
	r := c.reply()
	if r == nil || len(r.Ranks) == 0 {
		return ""
	}
	return format.Capital(r.Order) + ". " + fmt.Sprintf(wordsRanksWait, format.Share(r.Idle))
}

// Orders returns the schedules of the pipeline, a row each; the one that was taken cannot be pressed.
func (c *Page) Orders() (out []Row) {
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

// ranksView returns the ranks under their title.
func (c *Page) ranksView() *vugu.VGNode {
	n := element("section", attr("class", "ranks", "aria-labelledby", "ranks-title"), c.passesView(),
		element("h2", attr("id", "ranks-title"), wordsRanks), element("p", attr("class", "note"), c.RanksNote()),
		element("ol", attr("data-testid", "step-ranks"), c.Ranks()))
	return hidden(n, c.Ranks() == "" || c.S.Step.Failed != "")
}
