package main

import (
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/window"
)

func init() { algorithms["window"] = answerWindow }

// windowMethod is a method of paper 004 with its numbers: its schedule, or the
// function at which that does not fit.
type windowMethod struct {
	solve func(p *engine.Problem) (*engine.Solution, error)
	stops func(p *engine.Problem) (engine.OpID, bool, error)
}

func windowMethods(v *enginetest.Vector) map[string]windowMethod {
	methods := map[string]windowMethod{"window": {
		func(p *engine.Problem) (*engine.Solution, error) { return window.ByWindow(p, engine.Bytes(v.Window)) },
		func(p *engine.Problem) (engine.OpID, bool, error) {
			return window.WindowStops(p, engine.Bytes(v.Window))
		},
	}}
	if l := v.LMS; l != nil {
		methods["lms"] = windowMethod{
			func(p *engine.Problem) (*engine.Solution, error) {
				return window.ByLMS(p, l.SwapoutThreshold, l.SwapinAhead)
			},
			func(p *engine.Problem) (engine.OpID, bool, error) {
				return window.LMSStops(p, l.SwapoutThreshold, l.SwapinAhead)
			},
		}
	}
	return methods
}

// answerWindow schedules the functions of a vector of paper 004 with its window
// and with the two numbers of its baseline, and plays the schedules on a link of
// two directions and of one. A nanosecond is one unit of time.
func answerWindow(v *enginetest.Vector) (fields, error) {
	g := v.Graph()
	f := fields{}
	for name, m := range windowMethods(v) {
		answer := fields{"feasible": true}
		for field, duplex := range map[string]engine.Duplex{"makespan": engine.FullDuplex, "makespan_half_duplex": engine.HalfDuplex} {
			p := &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
			sol, err := m.solve(p)
			trace, err := play(p, sol, err)
			if err != nil {
				return nil, err
			}
			if trace == nil {
				op, _, err := m.stops(p)
				if err != nil {
					return nil, err
				}
				answer = fields{"feasible": false, "fail_function": op}
				break
			}
			answer[field], answer["peak"] = int64(trace.Makespan/time.Nanosecond), trace.Peak
		}
		f[name] = answer
	}
	return f, nil
}
