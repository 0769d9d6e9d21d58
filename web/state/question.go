package state

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/question"
)

// answersKey identifies what the answers depend on.
func (s *State) answersKey() string {
	return fmt.Sprintf("%s|%s|%d", s.Choice.SettingKey(), s.Choice.MethodKey(), s.Budget())
}

// followQuestions drops what was answered about another choice, and stops what is
// being answered about it.
func (s *State) followQuestions() (out []Effect) {
	a := s.Answers()
	if s.Network == nil || a == nil && len(s.complete.keys) == 0 {
		return nil
	}
	key := s.answersKey()
	if a != nil && a.key == key {
		return nil
	}
	out = s.questions.drop()
	known, ok := s.complete.get(key)
	if ok {
		s.answers = known
	}
	if ok || a != nil {
		s.DOM++
	}
	return out
}

// StopQuestion gives the question up.
type StopQuestion struct{}

func (m StopQuestion) apply(s *State) []Effect {
	s.DOM++
	a := s.Answers()
	if a == nil || a.ID == 0 {
		return nil
	}
	a.Stopped = true
	return a.cancel()
}

// StartQuestion asks what would help the present choice, again if it was given up.
type StartQuestion struct{}

func (m StartQuestion) apply(s *State) (out []Effect) {
	if s.Network == nil {
		return nil
	}
	return s.ask(false)
}

// idleOps is how many operations a network may have for questions to be answered that
// nobody has asked: they take many schedules.
const idleOps = 10_000

// rests reports whether nothing is under way but what nobody waits for: there is an answer to the choice,
// and the curve is complete. A view in another page rests where its line says what would help: its link
// does not choose its parts, and the answer does not fit or is slower than if everything fitted.
func (s *State) rests() bool {
	if s.Memory != nil || s.Network == nil || s.Compare != nil || s.busy() || s.fallback != 0 || s.Draft.Field != "" {
		return false
	}
	shown := s.Shown != nil && s.Shown.Choice.Equal(s.Choice)
	if s.View.Frame.Embed {
		return s.View.Frame.Show == nil &&
			(s.OverBudget != nil || shown && s.Shown.Solved.Trace.Makespan > s.Shown.Solved.KeepAll.StepTime)
	}
	c := s.Curve
	return c != nil && c.Complete() && (c.ID == 0 || c.Improving > 0) && (s.OverBudget != nil || shown)
}

// followIdle asks what would help, once nothing else is to be done. It is given up as soon as anything changes.
func (s *State) followIdle() []Effect {
	if !s.rests() || s.asking != 0 || s.Working() || len(s.Network.Graph.Ops) > idleOps {
		return nil
	}
	if s.Answers() != nil {
		return nil
	}
	return s.ask(true)
}

// Exceeds returns the device if what is shown of the present choice is more than it has;
// nil if it is not, or if that is unknown.
func (s *State) Exceeds() *card.Card {
	d := DeviceOf(s.Choice)
	if d == nil || s.Shown == nil || !s.Shown.Choice.Equal(s.Choice) || s.Shown.Solved.Trace.Peak <= d.Memory {
		return nil
	}
	return d
}

// ask has the question about the present choice answered, again if it was given up.
func (s *State) ask(idle bool) (out []Effect) {
	s.DOM++
	out = s.questions.drop()
	a := &Answers{ID: s.newID(), key: s.answersKey(), found: s.foundKey()}
	a.Strategy = s.Choice.Strategy
	if p := s.current(); p != nil {
		a.KeepAll = p.Solved.KeepAll.StepTime
		if p.Choice.Equal(s.Choice) {
			a.Base = p.Solved.Trace.Makespan
		}
	}
	s.answers = a
	graph := s.Network.Chain == nil
	req := proto.Question{Setting: s.Network.Setting(s.Choice), Budget: choice.Budget{Bytes: max(s.Budget(), 1)},
		Limit: question.Limit, Method: proto.Method{Strategy: s.Choice.Strategy, Args: s.Choice.Args}}
	if !s.View.Frame.Embed { // a view tries no other plans
		req.Methods = question.Methods(s.Choice.Strategy, s.CurveStrategies(), graph)
	}
	if idle && !graph && !elsewhere(req.Method) { // nobody has asked for the other program
		req.Methods = slices.DeleteFunc(req.Methods, elsewhere)
	}
	if d := s.Exceeds(); d != nil { // any plan that the device is likely to serve would help
		a.found, a.Base = "", 0
		req.Budget = choice.Budget{Bytes: max(choice.Usable(d.Memory), 1)}
		if req.Method.Strategy != engine.KeepAll {
			req.Methods = append([]proto.Method{req.Method}, req.Methods...)
			req.Method = proto.Method{Strategy: engine.KeepAll}
		}
	} else {
		req.Methods, a.List = s.knownMethods(req.Methods)
		a.prior = len(a.List)
	}
	return append(out, Question{ID: a.ID, Request: req, Idle: idle})
}

// elsewhere reports whether another program has to be loaded for a method.
func elsewhere(m proto.Method) bool {
	st := engine.Lookup(m.Strategy)
	return st != nil && st.Elsewhere
}

// Answered is one answer.
type Answered struct {
	ID     int
	Answer proto.Suggestion
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
