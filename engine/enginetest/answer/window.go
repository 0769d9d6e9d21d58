package main

import (
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/engine/window"
)

func init() { algorithms["window"] = answerWindow }

// answerWindow schedules the functions of a vector of paper 004 with its window
// and with the two numbers of its baseline, and plays the schedules on a link of
// two directions and of one. A nanosecond is one unit of time.
func answerWindow(v *enginetest.Vector) (fields, error) {
	g := v.Graph()
	methods := map[string]func(p *engine.Problem) (*engine.Solution, error){
		"window": func(p *engine.Problem) (*engine.Solution, error) { return window.ByWindow(p, engine.Bytes(v.Window)) },
	}
	if v.LMS != nil {
		methods["lms"] = func(p *engine.Problem) (*engine.Solution, error) {
			return window.ByLMS(p, v.LMS.SwapoutThreshold, v.LMS.SwapinAhead)
		}
	}
	f := fields{}
	for name, solve := range methods {
		answer := fields{"feasible": true}
		for field, duplex := range map[string]engine.Duplex{"makespan": engine.FullDuplex, "makespan_half_duplex": engine.HalfDuplex} {
			p := &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
			sol, err := solve(p)
			var infeasible *engine.InfeasibleError
			if errors.As(err, &infeasible) {
				answer = fields{"feasible": false}
				break
			}
			if err != nil {
				return nil, err
			}
			trace, err := sim.Play(p, sol.Schedule)
			if err != nil {
				return nil, err
			}
			answer[field], answer["peak"] = int64(trace.Makespan/time.Nanosecond), trace.Peak
		}
		f[name] = answer
	}
	return f, nil
}
