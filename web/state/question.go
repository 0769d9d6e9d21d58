package state

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/question"
)

// DefaultSlowdown is how much slower a step may be unless a person says otherwise,
// in hundredths of a per cent.
const DefaultSlowdown = 1000

// Slowdown is the accepted slowdown, in hundredths of a per cent.
func (s *State) Slowdown() int {
	if s.View.Slowdown == 0 {
		return DefaultSlowdown
	}
	return s.View.Slowdown - 1
}

// Subject is what questions are about. There has to be a network.
func (o *Side) Subject() question.Subject {
	c := o.Choice
	_, _, err := preset.Parse(c.Source.Preset)
	out := question.Subject{Method: proto.Method{Strategy: c.Strategy, Args: c.Args}, Graph: o.Network.Chain == nil,
		Preset: err == nil, Batch: o.Network.Totals.Batch, Usable: o.CurveStrategies(), Budget: o.Budget()}
	var all int
	if out.Unit, all = known.Trained(c, o.Network); out.Batch > 0 {
		out.Each = all / out.Batch
	}
	if c.ToHost == c.ToDev {
		out.Bandwidth = c.ToHost
	}
	return out
}

// answersKey identifies what the answers to a question depend on, but for the
// methods that they compare (see about).
func (s *State) answersKey(q *question.Question) string {
	c, method, budget, slowdown := s.Choice, s.Choice.MethodKey(), s.Budget(), 0
	if q.Slowdown {
		slowdown = s.Slowdown()
	}
	if q.Varies&question.Budget != 0 {
		budget = 0
	}
	if q.Varies&question.Bandwidth != 0 {
		c.ToHost, c.ToDev = 0, 0
	}
	if q.Varies&question.Batch != 0 {
		if p, _, err := preset.Parse(c.Source.Preset); err == nil {
			c.Source.Preset = p.ID
		}
	}
	if q.Varies&question.Strategy != 0 {
		method = ""
	}
	return fmt.Sprintf("%s|%s|%s|%d|%d", q.Name, c.SettingKey(), method, budget, slowdown)
}

// about reports whether answers are about the present choice: they have its key, and
// if they compare methods, its method. So choosing one of them for another keeps them.
func (s *State) about(a *Answers, key string) bool {
	return a.key == key && (a.methods == nil || slices.Contains(a.methods, s.Choice.MethodKey()))
}

// followQuestions drops what was answered about another choice, and stops what is
// being answered about it.
func (s *State) followQuestions() (out []Effect) {
	if s.Network == nil {
		return nil
	}
	for _, q := range question.All() {
		a := s.Answers(q)
		if a == nil && len(s.complete.keys) == 0 {
			continue
		}
		key := s.answersKey(q)
		if a != nil && s.about(a, key) {
			continue
		}
		if a != nil {
			out = append(out, s.forget(a)...)
			s.DOM++
		}
		if a, ok := s.complete.get(key); ok && s.about(a, key) {
			s.answers = append(s.answers, a)
			s.DOM++
		}
	}
	return out
}

// OpenQuestion opens a question, instead of the open one if there is, and closes it if
// it is that. It is asked if nobody has asked it.
type OpenQuestion struct{ Name string }

func (m OpenQuestion) apply(s *State) []Effect {
	q := question.Lookup(m.Name)
	if q == nil || q.Short == nil {
		return nil
	}
	s.DOM++
	out := []Effect{WriteURL{Replace}}
	if s.OpenedQuestion() == q {
		s.View.Questions = false
		return out
	}
	s.View.Questions, s.View.Question = true, q.Name
	if s.Answers(q) == nil {
		out = append(out, StartQuestion{q.Name}.apply(s)...)
	}
	return out
}

// OpenedQuestion is the question that is open; nil if none is.
func (s *State) OpenedQuestion() *question.Question {
	if !s.View.Questions {
		return nil
	}
	if q := question.Lookup(s.View.Question); q != nil && q.Short != nil {
		return q
	}
	return question.Lookup("least")
}

// SetSlowdown says how much slower than keeping everything a step may be, in
// hundredths of a per cent.
type SetSlowdown struct{ Slowdown int }

func (m SetSlowdown) apply(s *State) []Effect {
	s.View.Slowdown = min(max(m.Slowdown, 0), 10_000_00) + 1
	s.Draft = Draft{}
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// StopQuestion gives a question up.
type StopQuestion struct{ Name string }

func (m StopQuestion) apply(s *State) []Effect {
	s.DOM++
	a := s.Answers(question.Lookup(m.Name))
	if a == nil || a.ID == 0 {
		return nil
	}
	a.Stopped = true
	return a.cancel()
}

// StartQuestion asks a question about the present choice, again if it was given up.
type StartQuestion struct{ Name string }

func (m StartQuestion) apply(s *State) (out []Effect) {
	q := question.Lookup(m.Name)
	if s.Network == nil || q == nil {
		return nil
	}
	for _, a := range slices.Clone(s.answers) { // what somebody waits for comes first
		if a.Idle && a.ID != 0 {
			out = append(out, s.forget(a)...)
		}
	}
	return append(out, s.ask(q, false)...)
}

// idleOps is how many operations a network may have for questions to be answered that
// nobody has asked: they take many schedules.
const idleOps = 10_000

// followIdle asks, once nothing else is to be done, the next question that is
// answered without being asked. It is given up as soon as anything changes.
func (s *State) followIdle() []Effect {
	if s.View.Frame.Embed || s.Memory != nil || s.Network == nil || s.Compare != nil || s.busy() || s.fallback != 0 || s.Draft.Field != "" {
		return nil
	}
	if c := s.Curve; c == nil || !c.Complete() || c.ID != 0 && c.Improving == 0 || s.OverBudget == nil && (s.Shown == nil || !s.Shown.Choice.Equal(s.Choice)) {
		return nil
	}
	if s.Working() || len(s.Network.Graph.Ops) > idleOps {
		return nil
	}
	for _, q := range question.All() {
		if q.Idle && s.Answers(q) == nil {
			return s.ask(q, true)
		}
	}
	return nil
}

// Exceeds is the device if what is shown of the present choice is more than it has;
// nil if it is not, or if nobody knows.
func (s *State) Exceeds() *card.Card {
	d := DeviceOf(s.Choice)
	if d == nil || s.Shown == nil || !s.Shown.Choice.Equal(s.Choice) || s.Shown.Solved.Trace.Peak <= d.Memory {
		return nil
	}
	return d
}

// ask has a question about the present choice answered, again if it was given up.
func (s *State) ask(q *question.Question, idle bool) (out []Effect) {
	s.DOM++
	out = s.forget(s.Answers(q))
	a := &Answers{ID: s.newID(), Question: q, Idle: idle, key: s.answersKey(q), found: s.foundKey()}
	a.Strategy, a.Slowdown = s.Choice.Strategy, s.Slowdown()
	if p := s.current(); p != nil {
		a.KeepAll = p.Solved.KeepAll.StepTime
		if p.Choice.Equal(s.Choice) {
			a.Base = p.Solved.Trace.Makespan
		}
	}
	s.answers = append(s.answers, a)
	subject := s.Subject()
	req := proto.Question{Setting: s.Network.Setting(s.Choice), Method: subject.Method, Budget: choice.Budget{Bytes: max(s.Budget(), 1)},
		Name: q.Name, Slowdown: a.Slowdown, Limit: q.Limit}
	if q.Methods != nil {
		req.Methods = q.Methods(subject)
	}
	if idle && !subject.Graph && !elsewhere(subject.Method) { // nobody has asked for the other program
		req.Methods = slices.DeleteFunc(req.Methods, elsewhere)
	}
	if q.Varies&question.Strategy != 0 {
		for _, m := range req.Methods {
			a.methods = append(a.methods, choice.MethodKey(m.Strategy, m.Args))
		}
	}
	switch {
	case q.Name != HelpName:
	case s.Exceeds() != nil: // any plan that the device is likely to serve would help
		a.found, a.Base = "", 0
		req.Budget = choice.Budget{Bytes: max(choice.Usable(s.Exceeds().Memory), 1)}
		if req.Method.Strategy != engine.KeepAll {
			req.Methods = append([]proto.Method{req.Method}, req.Methods...)
			req.Method = proto.Method{Strategy: engine.KeepAll}
		}
	default:
		req.Methods, a.List = s.knownMethods(req.Methods)
		a.prior = len(a.List)
	}
	return append(out, Question{ID: a.ID, Request: req, Idle: idle})
}

// elsewhere says that another program has to be loaded for a method.
func elsewhere(m proto.Method) bool {
	st := engine.Lookup(m.Strategy)
	return st != nil && st.Elsewhere
}

// Answered is one answer.
type Answered struct {
	ID     int
	Answer proto.Answer
}

func (m Answered) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil {
		a.List = append(a.List, m.Answer)
		s.note(a, m.Answer)
		a.Done, a.Total = a.prior+m.Answer.Done, a.prior+m.Answer.Total
		s.DOM++
	}
	return nil
}

// QuestionProgressed is work on the next answer.
type QuestionProgressed struct {
	ID       int
	Progress proto.Progress
}

func (m QuestionProgressed) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil {
		a.Done, a.Total = a.prior+m.Progress.Done, m.Progress.Total
		if a.Total > 0 {
			a.Total += a.prior
		}
		s.DOM++
	}
	return nil
}

// QuestionEnded says that there is no more to come; Failed why, empty if all is said.
type QuestionEnded struct {
	ID     int
	Failed string
}

func (m QuestionEnded) apply(s *State) []Effect {
	if a := s.answering(m.ID); a != nil {
		a.ID, a.Failed = 0, headline(m.Failed)
		s.DOM++
		if m.Failed == "" {
			s.complete.put(a.key, a)
		}
	}
	return nil
}
