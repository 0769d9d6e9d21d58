package ui

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/chart"
	"memtide/web/format"
	"memtide/web/state"
)

// Questions are what people ask, which takes several schedules to answer. Nothing
// is computed until it is asked.
type Questions struct {
	S     *state.State
	Hosts Hosts
}

// Expanded is for aria-expanded.
func (c *Questions) Expanded() string { return strconv.FormatBool(c.S.View.Questions) }

// ToggleText is the text of the button that opens and closes the questions.
func (c *Questions) ToggleText() string {
	if c.S.View.Questions {
		return "Hide questions"
	}
	return "Show questions"
}

// Inquiry is one question with its answers.
type Inquiry struct {
	S     *state.State
	Hosts Hosts
	Name  string // a proto.Question
}

// Open says whether the questions are open.
func (c *Inquiry) Open() bool { return c.S.View.Questions }

func (c *Inquiry) question() proto.Question { return proto.Question(c.Name) }

// asked is nil while the question was not asked, or is not on the page.
func (c *Inquiry) asked() *state.Asked {
	if !c.S.View.Questions {
		return nil
	}
	return c.S.Asked(c.question())
}

// Title is the question.
func (c *Inquiry) Title() string {
	switch c.question() {
	case proto.WhatHelps:
		return "What would help?"
	case proto.Smallest:
		return "How little memory will do?"
	case proto.LargestBatch:
		return "How large a batch?"
	}
	if n := c.S.Network; n != nil && n.Chain == nil { // nothing recomputes a graph
		return "Which bandwidth does offloading need?"
	}
	return "From which bandwidth on is offloading faster?"
}

// HasField says whether the question has a number to fill in.
func (c *Inquiry) HasField() bool { return c.question() == proto.Smallest }

// FieldID is the id of that field.
func (c *Inquiry) FieldID() string { return "slowdown-" + c.Name }

// Slowdown is the accepted slowdown in per cent.
func (c *Inquiry) Slowdown() string {
	if c.S.Draft.Field == "slowdown" {
		return c.S.Draft.Text
	}
	return strconv.FormatFloat(float64(c.S.Slowdown())/100, 'f', -1, 64)
}

// CanAsk says whether the question can be asked, AskText in which word.
func (c *Inquiry) CanAsk() bool {
	a := c.asked()
	return c.S.Network != nil && (a == nil || a.ID == 0 && !a.Complete())
}

// AskText is the text of the button that asks.
func (c *Inquiry) AskText() string {
	if c.asked() != nil {
		return "Ask again"
	}
	return "Compute"
}

// Work says how far the answers are.
func (c *Inquiry) Work() string {
	a := c.asked()
	switch {
	case a == nil || a.ID == 0:
		return ""
	case a.Total > 0:
		return fmt.Sprintf("%d of %d", a.Done, a.Total)
	case a.Done > 0:
		return fmt.Sprintf("%d tried", a.Done)
	}
	return "Working…"
}

// Sentence says what came out.
func (c *Inquiry) Sentence() string {
	a := c.asked()
	switch {
	case a == nil:
		return ""
	case a.Failed != "":
		return a.Failed
	case a.ID == 0 && len(a.Answers) == 0:
		return "Given up before there was an answer."
	}
	str := ""
	switch a.Question {
	case proto.WhatHelps:
		str = helpSentence(a)
	case proto.Smallest:
		str = c.smallestSentence(a)
	case proto.Links:
		str = linksSentence(a)
	case proto.LargestBatch:
		str = batchSentence(a, c.S.Choice.Strategy)
	}
	if a.Stopped {
		str = strings.TrimSpace(fmt.Sprintf("Stopped after %d of %d. ", a.Done, a.Total) + str)
	}
	return str
}

func helpSentence(a *state.Asked) string {
	if a.ID != 0 || len(a.Answers) == 0 {
		return ""
	}
	best := a.Answers[a.Helps()[0]]
	switch {
	case best.StepTime <= 0:
		return "Nothing of this fits either."
	case a.Base <= 0:
		return "There is no schedule for what is chosen now. These have one."
	case best.StepTime >= a.Base:
		return "Nothing of this makes the step faster."
	}
	return fmt.Sprintf("Most: %s, %s per step instead of %s.", best.Name, format.Duration(best.StepTime), format.Duration(a.Base))
}

func (c *Inquiry) smallestSentence(a *state.Asked) string {
	if len(a.Answers) == 0 {
		return ""
	}
	x := a.Answers[0]
	if x.StepTime <= 0 {
		if x.Failure != nil {
			return x.Failure.Text + "."
		}
		return "No budget was found."
	}
	str := fmt.Sprintf("%s are enough for at most %s %% more: %s per step", format.BytesUp(x.Budget), strconv.FormatFloat(float64(c.S.Slowdown())/100, 'f', -1, 64), format.Duration(x.StepTime))
	if a.KeepAll > 0 {
		str += ", " + format.Ratio(float64(x.StepTime)/float64(a.KeepAll))
	}
	if x.Partial {
		return str + ". Less may do: the search was stopped."
	}
	return str + "."
}

// SetText is the text of the button that takes the smallest budget over.
func (c *Inquiry) SetText() string {
	if a := c.asked(); a != nil && a.Question == proto.Smallest && len(a.Answers) > 0 && a.Answers[0].StepTime > 0 {
		return "Set " + format.BytesUp(a.Answers[0].Budget)
	}
	return ""
}

// linksSentence says where offloading begins to beat recomputing.
func linksSentence(a *state.Asked) string {
	if a.ID != 0 {
		return ""
	}
	var parts []string
	for _, fast := range []string{"dynprog", "pofo"} {
		x, ok := a.Crossing(fast, "rotor")
		st, slow := engine.Lookup(fast), engine.Lookup("rotor")
		if !ok || st == nil || slow == nil {
			continue
		}
		switch {
		case x.From == 0:
			parts = append(parts, fmt.Sprintf("%s is not faster than %s at any of these bandwidths.", st.Title, slow.Title))
		case x.Above == 0:
			parts = append(parts, fmt.Sprintf("%s is faster than %s already at %s.", st.Title, slow.Title, format.Rate(x.From)))
		default:
			parts = append(parts, fmt.Sprintf("%s is faster than %s from somewhere between %s and %s on.", st.Title, slow.Title, format.Rate(x.Above), format.Rate(x.From)))
		}
	}
	if len(parts) == 0 {
		return enoughSentence(a)
	}
	return strings.Join(parts, " ")
}

// enoughPercent is how much slower a step may be for a bandwidth to be enough.
const enoughPercent = 5

// enoughSentence says from which bandwidth on the chosen strategy costs little,
// where there is nothing to compare it with.
func enoughSentence(a *state.Asked) string {
	limit := a.KeepAll + a.KeepAll*enoughPercent/100
	from, above := engine.Rate(0), engine.Rate(0) // the lowest rate that will do with all higher ones, the highest that will not
	for _, x := range a.Answers {
		if x.Strategy == a.Choice.Strategy && (x.StepTime <= 0 || x.StepTime > limit) {
			above = max(above, x.Rate)
		}
	}
	for _, x := range a.Answers {
		if x.Strategy == a.Choice.Strategy && x.Rate > above && (from == 0 || x.Rate < from) {
			from = x.Rate
		}
	}
	st := engine.Lookup(a.Choice.Strategy)
	switch {
	case st == nil || a.KeepAll <= 0 || from == 0 && above == 0:
		return ""
	case from == 0:
		return fmt.Sprintf("%s costs more than %d %% at any of these bandwidths.", st.Title, enoughPercent)
	case above == 0:
		return fmt.Sprintf("%s costs at most %d %% already at %s.", st.Title, enoughPercent, format.Rate(from))
	}
	return fmt.Sprintf("%s costs at most %d %% from somewhere between %s and %s on.", st.Title, enoughPercent, format.Rate(above), format.Rate(from))
}

func batchSentence(a *state.Asked, chosen string) string {
	for _, x := range a.Answers {
		if x.Largest && x.Strategy == chosen && x.StepTime > 0 {
			return fmt.Sprintf("In %s the chosen strategy trains %s.", format.Bytes(x.Budget), batchName(&x))
		}
	}
	return ""
}

// batchName is a batch that is the largest, as far as that is known.
func batchName(x *proto.Answer) string {
	if x.Partial {
		return "a batch of at least " + format.Count(x.Batch)
	}
	return "a batch of up to " + format.Count(x.Batch)
}

// HTML is the table of answers. Everything in it is escaped.
func (c *Inquiry) HTML() vugu.HTML {
	a := c.asked()
	if a == nil || len(a.Answers) == 0 {
		return ""
	}
	var b strings.Builder
	switch a.Question {
	case proto.WhatHelps:
		helpTable(&b, a)
	case proto.LargestBatch:
		_, _, err := preset.Parse(c.S.Choice.Source.Preset)
		batchTable(&b, a, err == nil)
	}
	return vugu.HTML(b.String())
}

func helpTable(b *strings.Builder, a *state.Asked) {
	b.WriteString(`<table><thead><tr><th scope="col">Change</th><th scope="col">Step time</th><th scope="col">Difference</th><th scope="col"><span class="sr">Use</span></th></tr></thead><tbody>`)
	for _, i := range a.Helps() {
		x := &a.Answers[i]
		fmt.Fprintf(b, `<tr><th scope="row">%s</th>`, html.EscapeString(changeTitle(x)))
		if x.StepTime <= 0 {
			fmt.Fprintf(b, `<td></td><td title="%s">%s</td><td></td></tr>`, html.EscapeString(failureText(x.Failure)), failureWord(x.Failure))
			continue
		}
		class, difference := "", "fits"
		if a.Base > 0 {
			difference = differenceText(x.StepTime, a.Base)
			if x.StepTime < a.Base {
				class = ` class="better"`
			}
		}
		fmt.Fprintf(b, `<td>%s</td><td%s>%s</td><td>%s</td></tr>`, stepTime(x), class, difference, useButton(proto.WhatHelps, i, "Use it", "Use it: "+x.Name))
	}
	b.WriteString(`</tbody></table>`)
}

// changeTitle is what a variant changes, at the beginning of a row; names of
// strategies are as they are.
func changeTitle(x *proto.Answer) string {
	if st := engine.Lookup(x.Strategy); st != nil && st.Title == x.Name || x.Name == "" {
		return x.Name
	}
	return strings.ToUpper(x.Name[:1]) + x.Name[1:]
}

// stepTime is a step time; of the best so far it is at most that.
func stepTime(x *proto.Answer) string {
	if x.Partial && !x.Largest {
		return "≤ " + format.Duration(x.StepTime)
	}
	return format.Duration(x.StepTime)
}

// differenceText says by how much a step time is another.
func differenceText(now, base time.Duration) string {
	if now == base {
		return "the same"
	}
	return fmt.Sprintf("%s, %s", format.DurationChange(now-base), format.Percent(float64(now-base)/float64(base)))
}

func failureText(f *proto.Failure) string {
	if f == nil {
		return ""
	}
	return f.Text
}

// failureWord says in a word or two why there is no schedule.
func failureWord(f *proto.Failure) string {
	switch {
	case f == nil:
		return "no answer"
	case f.Kind == proto.Infeasible:
		return "does not fit"
	case f.Kind == proto.Unsupported:
		return "does not apply"
	case f.Kind == proto.Deadline:
		return "takes too long"
	}
	return "failed"
}

func useButton(q proto.Question, index int, words, label string) string {
	return fmt.Sprintf(`<button class="button small" type="button" data-do="use-answer" data-arg="%s" data-index="%d" aria-label="%s">%s</button>`,
		q, index, html.EscapeString(label), words)
}

func batchTable(b *strings.Builder, a *state.Asked, usable bool) {
	b.WriteString(`<table><thead><tr><th scope="col">Strategy</th><th scope="col">Largest batch</th><th scope="col">Step time</th><th scope="col">Samples/s</th><th scope="col"><span class="sr">Use</span></th></tr></thead><tbody>`)
	for i := range a.Answers {
		x := &a.Answers[i]
		st := engine.Lookup(x.Strategy)
		if !x.Largest || st == nil {
			continue
		}
		sample := Chip{Title: st.Title, stroke: strokes[chart.Role(st.Name)], dash: chart.Dash(st.Name)}.HTML()
		fmt.Fprintf(b, `<tr><th scope="row">%s</th>`, sample)
		if x.StepTime <= 0 {
			fmt.Fprintf(b, `<td title="%s">%s</td><td></td><td></td><td></td></tr>`, html.EscapeString(failureText(x.Failure)), failureWord(x.Failure))
			continue
		}
		count, use := format.Count(x.Batch), ""
		if x.Partial {
			count = "≥ " + count
		}
		if usable {
			use = useButton(proto.LargestBatch, i, "Use it", fmt.Sprintf("Use it: %s with a batch of %d", st.Title, x.Batch))
		}
		fmt.Fprintf(b, `<td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>`, count, stepTime(x), strings.TrimSuffix(format.Throughput(x.Batch, x.StepTime), " samples/s"), use)
	}
	b.WriteString(`</tbody></table>`)
}

// HasChart says whether there is something to draw.
func (c *Inquiry) HasChart() bool {
	a := c.asked()
	if a == nil || a.Question != proto.Links && a.Question != proto.LargestBatch {
		return false
	}
	for _, x := range a.Answers {
		if x.StepTime > 0 {
			return true
		}
	}
	return false
}

// ReplyOf lays the chart of a question out; nil if there is none.
func ReplyOf(s *state.State, q proto.Question, width, height float64) *chart.Reply {
	switch q {
	case proto.Links:
		return chart.NewLinks(s, width, height)
	case proto.LargestBatch:
		return chart.NewBatches(s, width, height)
	}
	return nil
}

// Label says in words what the chart shows.
func (c *Inquiry) Label() string {
	if !c.HasChart() {
		return c.Title()
	}
	return ReplyOf(c.S, c.question(), 600, 240).Words()
}
