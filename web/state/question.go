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

// answersKey is the key of questions.complete for the present choice.
func (s *State) answersKey() string {
	return fmt.Sprintf("%s|%s|%d", s.Choice.SettingKey(), s.Choice.MethodKey(), s.Budget())
}

// followQuestions replaces the answers about another choice by those about the present one, if they are known.
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
	s.answers, _ = s.complete.get(key)
	if s.answers != nil || a != nil {
		s.DOM++
	}
	return out
}

// StopQuestion stops answering the question and keeps the answers so far.
type StopQuestion struct{}

func (m StopQuestion) apply(s *State) []Effect {
	s.DOM++
	if !s.Working() {
		return nil
	}
	s.answers.Stopped = true
	return cancel(&s.answers.ID)
}

// StartQuestion asks what would help the present choice. It discards the answers of a question that was stopped.
type StartQuestion struct{}

func (m StartQuestion) apply(s *State) (out []Effect) {
	if s.Network == nil {
		return nil
	}
	return s.ask(false)
}

// idleOps is the largest number of operations of a network about which the page asks the question by itself. The
// question takes many schedules.
const idleOps = 10_000

// idle reports whether no person waits for anything: the choice has a schedule or its budget is too small, and the
// curve is complete. A view in another page is idle only if it shows what would help: its link does not choose the
// parts of the page, and the step does not fit or is slower than keeping everything.
func (s *State) idle() bool {
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

// followIdle asks what would help if nothing else is under way. followQuestions cancels the request when the choice
// changes.
func (s *State) followIdle() []Effect {
	if !s.idle() || s.asking != 0 || s.answers != nil || len(s.Network.Graph.Ops) > idleOps {
		return nil
	}
	return s.ask(true)
}

// Exceeds returns the chosen device if the peak of the choice's schedule exceeds its memory beside CUDA. It returns nil
// if the peak fits, or if memory or schedule are not known.
func (s *State) Exceeds() *card.Card {
	d := DeviceOf(s.Choice)
	if d == nil || s.Shown == nil || !s.Shown.Choice.Equal(s.Choice) ||
		s.Shown.Solved.Trace.Peak <= d.Memory-s.Choice.Context() {
		return nil
	}
	return d
}

// ask asks what would help the present choice. idle says that the page asks by itself.
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
	if s.Config() != "" && !graph {
		req.Model, req.Options, _ = s.stepOf()
	}
	if s.Choice.Policy != nil { // of what it leaves to keep there are no other plans
		a.found, req.Model, req.Options = "", req.Network.Model, req.Network.Options
	} else if !s.View.Frame.Embed { // a view tries no other plans
		req.Methods = question.Methods(s.Choice.Strategy, s.CurveStrategies(), graph)
	}
	if idle && !graph && !inSecond(req.Method) { // do not load the second program for this
		req.Methods = slices.DeleteFunc(req.Methods, inSecond)
	}
	if d := s.Exceeds(); d != nil { // any plan that is likely to fit the device would help
		a.found, a.Base = "", 0
		req.Budget = choice.Budget{Bytes: max(s.Choice.Usable(d.Memory), 1)}
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

// inSecond reports whether the solver of a method is in the second program.
func inSecond(m proto.Method) bool {
	st := engine.Lookup(m.Strategy)
	return st != nil && st.Elsewhere
}

// Answered is one answer to Question.
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

// QuestionEnded ends the answers to Question.
type QuestionEnded struct {
	ID     int
	Failed string // why answers are missing; empty if all have been given
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
