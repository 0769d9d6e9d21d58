package state

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Questions are what a person can ask, in the order of the page. Nothing is
// computed before it is asked.
var Questions = [...]proto.Question{proto.WhatHelps, proto.Smallest, proto.LargestBatch, proto.Links}

// Asked is a question that was asked, and its answers so far.
type Asked struct {
	ID       int // of the request at work, 0 if none is
	Question proto.Question
	Choice   Choice         // that it was asked about
	Base     time.Duration  // step time of that choice; 0 if it has no schedule
	KeepAll  time.Duration  // step time without a limit
	Answers  []proto.Answer // as they came
	Done     int
	Total    int // 0 if unknown
	Stopped  bool
	Failed   string

	key     string
	methods []string // of a chart: the keys of the methods it compares
}

// questions is the part of the state about questions.
type questions struct {
	asked   map[proto.Question]*Asked // about the present choice
	answers recent[*Asked]
}

// Inquire asks a worker a question.
type Inquire struct {
	ID      int
	Request proto.Ask
}

func (Inquire) effect() {}

// DefaultSlowdown is how much slower a step may be unless a person says otherwise,
// in hundredths of a per cent.
const DefaultSlowdown = 1000

// How long one schedule of a question may take: the best so far counts. The
// smallest budget is one question that needs many schedules.
const (
	answerLimit   = 1500 * time.Millisecond
	smallestLimit = 30 * time.Second
)

// Slowdown is the accepted slowdown, in hundredths of a per cent.
func (s *State) Slowdown() int {
	if s.View.Slowdown == 0 {
		return DefaultSlowdown
	}
	return s.View.Slowdown - 1
}

// Asked is the question as it was asked about the present choice; nil if it was not.
func (a *questions) Asked(q proto.Question) *Asked { return a.asked[q] }

// askKey identifies what the answers to a question depend on, but for the methods
// that a chart compares (see about).
func (s *State) askKey(q proto.Question) string {
	c, methods := s.Choice, s.Choice.MethodKey()
	switch q {
	case proto.Smallest:
		return fmt.Sprintf("%s|%s|%s|%d", q, c.SettingKey(), methods, s.Slowdown())
	case proto.Links: // the link and the batch are what is varied: using one keeps the chart
		c.ToHost, c.ToDev, methods = 0, 0, ""
	case proto.LargestBatch:
		if p, _, err := preset.Parse(c.Source.Preset); err == nil {
			c.Source.Preset = p.ID
		}
		methods = ""
	}
	return fmt.Sprintf("%s|%s|%s|%d", q, c.SettingKey(), methods, s.Budget())
}

// about reports whether answers are about the present choice: it has their key, and
// a chart has its method. So choosing one line of a chart for another keeps the chart.
func (s *State) about(a *Asked, key string) bool {
	return a.key == key && (a.methods == nil || slices.Contains(a.methods, s.Choice.MethodKey()))
}

// The strategies of the charts, beside the chosen one: of paper 000's figure 3
// recomputing, offloading and both; for batches keeping everything too.
var (
	linkMethods  = []string{"rotor", "dynprog", "pofo"}
	batchMethods = []string{"keepall", "rotor", "dynprog", "pofo"}
)

// followQuestions drops what was answered about another choice, and stops what is
// being answered about it.
func (s *State) followQuestions() (out []Effect) {
	for _, q := range Questions {
		a := s.asked[q]
		if a == nil && len(s.answers.keys) == 0 {
			continue
		}
		key := s.askKey(q)
		if a != nil && s.about(a, key) {
			continue
		}
		if a != nil {
			out = append(out, a.cancel()...)
			s.DOM++
		}
		delete(s.asked, q)
		if known, ok := s.answers.get(key); ok && s.about(known, key) {
			s.asked[q] = known
			s.DOM++
		}
	}
	return out
}

// drop forgets and stops them all.
func (a *questions) drop() (out []Effect) {
	for _, q := range Questions {
		if x := a.asked[q]; x != nil {
			out = append(out, x.cancel()...)
		}
	}
	clear(a.asked)
	return out
}

// cancel stops the request of the question, if it is at work.
func (a *Asked) cancel() []Effect {
	if a.ID == 0 {
		return nil
	}
	id := a.ID
	a.ID = 0
	return []Effect{Cancel{id}}
}

// ToggleQuestions opens and closes the questions.
type ToggleQuestions struct{}

func (ToggleQuestions) apply(s *State) []Effect {
	s.View.Questions = !s.View.Questions
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// SetSlowdown says how much slower than keeping everything a step may be, in
// hundredths of a per cent.
type SetSlowdown struct{ Slowdown int }

func (m SetSlowdown) apply(s *State) []Effect {
	s.View.Slowdown = min(max(m.Slowdown, 0), 10_000_00) + 1
	s.Draft = Draft{}
	s.DOM++
	return append(s.followQuestions(), WriteURL{Replace})
}

// Unask gives a question up.
type Unask struct{ Question proto.Question }

func (m Unask) apply(s *State) []Effect {
	s.DOM++
	a := s.asked[m.Question]
	if a == nil || a.ID == 0 {
		return nil
	}
	a.Stopped = true
	return a.cancel()
}

// Ask asks a question about the present choice, again if it was given up.
type Ask struct{ Question proto.Question }

func (m Ask) apply(s *State) []Effect {
	s.DOM++
	q := m.Question
	if s.Network == nil || !slices.Contains(Questions[:], q) {
		return nil
	}
	var out []Effect
	if old := s.asked[q]; old != nil {
		out = old.cancel()
	}
	a := &Asked{ID: s.newID(), Question: q, Choice: s.Choice, key: s.askKey(q)}
	if p := s.Shown; p != nil && p.Network == s.Network {
		a.KeepAll = p.Solved.KeepAll.StepTime
		if p.Choice.Equal(s.Choice) {
			a.Base = p.Solved.Trace.Makespan
		}
	}
	if s.asked == nil {
		s.asked = map[proto.Question]*Asked{}
	}
	s.asked[q] = a
	request := s.inquiry(q)
	if q == proto.Links || q == proto.LargestBatch {
		for _, m := range request.Others {
			a.methods = append(a.methods, choice.MethodKey(m.Strategy, m.Args))
		}
	}
	return append(out, Inquire{ID: a.ID, Request: request})
}

// inquiry is the request of a question.
func (s *State) inquiry(q proto.Question) proto.Ask {
	c := s.Choice
	req := proto.Ask{Setting: s.Network.setting(c), Method: proto.Method{Strategy: c.Strategy, Args: c.Args},
		Budget: choice.Budget{Bytes: max(s.Budget(), 1)}, Question: q, Limit: answerLimit}
	switch q {
	case proto.WhatHelps:
		req.Others = s.others()
	case proto.Smallest:
		req.Slowdown, req.Limit = s.Slowdown(), smallestLimit
	case proto.Links:
		req.Others, req.Rates = s.contenders(linkMethods...), LinkRates()
	case proto.LargestBatch:
		req.Others = s.contenders(batchMethods...)
		req.Batches = s.batches()
	}
	return req
}

// others are the strategies that might do better than the chosen one, with their
// default arguments.
func (o *Side) others() (out []proto.Method) {
	for _, st := range o.CurveStrategies() {
		if st.Name != o.Choice.Strategy {
			out = append(out, proto.Method{Strategy: st.Name})
		}
	}
	return out
}

// contenders are the strategies of a chart: some by name, of a graph those that
// take graphs, and the chosen one with its arguments.
func (o *Side) contenders(names ...string) (out []proto.Method) {
	if o.Network.Chain == nil {
		names = []string{"keepall", choice.GraphStrategy, "lms"}
	}
	out = append(out, proto.Method{Strategy: o.Choice.Strategy, Args: o.Choice.Args})
	for _, name := range names {
		if st := engine.Lookup(name); st != nil && name != o.Choice.Strategy && o.Network.Applies(st) {
			out = append(out, proto.Method{Strategy: name})
		}
	}
	return out
}

// LinkRates are the rates of the chart over bandwidth: 1 to 200 GB/s, evenly on
// a logarithmic axis.
func LinkRates() (out []engine.Rate) {
	for _, tenths := range []int64{10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1400, 2000} {
		out = append(out, engine.Rate(tenths*100_000_000))
	}
	return out
}

// batches are the batches of the chart of throughput: doublings, and the present
// one.
func (o *Side) batches() (out []int) {
	most, now := 1024, o.Network.Totals.Batch
	if p, _, err := preset.Parse(o.Choice.Source.Preset); err == nil {
		most = min(most, p.Largest())
	}
	for b := 1; b <= most; b *= 2 {
		out = append(out, b)
	}
	if now > 0 && !slices.Contains(out, now) {
		out = append(out, now)
		slices.Sort(out)
	}
	return out
}

// Answered is one answer.
type Answered struct {
	ID     int
	Answer proto.Answer
}

func (m Answered) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil {
		a.Answers = append(a.Answers, m.Answer)
		a.Done, a.Total = m.Answer.Done, m.Answer.Total
		s.DOM++
	}
	return nil
}

// AskProgressed is work on the next answer.
type AskProgressed struct {
	ID       int
	Progress proto.Progress
}

func (m AskProgressed) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil && a.Question == proto.Smallest {
		a.Done, a.Total = m.Progress.Done, m.Progress.Total
		s.DOM++
	}
	return nil
}

// AskEnded says that there is no more to come; Failed why, empty if all is said.
type AskEnded struct {
	ID     int
	Failed string
}

func (m AskEnded) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil {
		a.ID, a.Failed = 0, headline(m.Failed)
		s.DOM++
		if m.Failed == "" {
			s.answers.put(a.key, a)
		}
	}
	return nil
}

// answering is the question that waits for answers under an ID, nil if none does:
// answers to older questions are dropped.
func (a *questions) answering(id int) *Asked {
	for _, x := range a.asked {
		if x.ID != 0 && x.ID == id {
			return x
		}
	}
	return nil
}

// UseAnswer chooses what an answer found: the budget, the link, the strategy,
// the bandwidth or the batch.
type UseAnswer struct {
	Question proto.Question
	Index    int // of Asked.Answers
}

func (m UseAnswer) apply(s *State) []Effect {
	a := s.asked[m.Question]
	if a == nil || m.Index < 0 || m.Index >= len(a.Answers) || a.Answers[m.Index].StepTime <= 0 {
		return nil
	}
	x, c := a.Answers[m.Index], s.Choice
	switch m.Question {
	case proto.Smallest:
		c.Budget = choice.Budget{Bytes: offer(x.Budget)}
	case proto.Links:
		c.Device, c.ToHost, c.ToDev = "", x.Rate, x.Rate
		c = c.By(x.Strategy)
	case proto.LargestBatch:
		p, _, err := preset.Parse(c.Source.Preset)
		if err != nil {
			return nil
		}
		c = c.By(x.Strategy)
		c.Source, c.Budget = Source{Preset: preset.Ref(p.ID, x.Batch)}, choice.Budget{Bytes: x.Budget}
		return s.open(c, nil, Push)
	case proto.WhatHelps:
		if x.Budget != s.Budget() {
			c.Budget = choice.Budget{Bytes: x.Budget}
		}
		if d := x.Device; d != nil {
			if d.ToHost != c.ToHost || d.ToDev != c.ToDev {
				c.Device = ""
			}
			c.ToHost, c.ToDev, c.Duplex = d.ToHost, d.ToDev, d.Duplex
		}
		c = c.By(x.Strategy)
	}
	return s.choose(c, Push, false)
}

// Helps are the answers to what would help that were asked, by gain: the indices
// of Answers, those without a schedule last.
func (a *Asked) Helps() []int {
	out := make([]int, len(a.Answers))
	for i := range out {
		out[i] = i
	}
	rank := func(i int) time.Duration {
		if t := a.Answers[i].StepTime; t > 0 {
			return t
		}
		return 1<<63 - 1
	}
	slices.SortStableFunc(out, func(i, j int) int {
		switch x, y := rank(i), rank(j); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return out
}

// Complete says that all answers have been given.
func (a *Asked) Complete() bool { return a.ID == 0 && !a.Stopped && a.Failed == "" }
