package main

import (
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/window"
)

func init() { algorithms["window"] = answerWindow }

// windowMethods are the methods of paper 004 with the numbers of a vector.
func windowMethods(v *enginetest.Vector) map[string]func(p *engine.Problem) (*engine.Solution, error) {
	methods := map[string]func(p *engine.Problem) (*engine.Solution, error){
		"window": func(p *engine.Problem) (*engine.Solution, error) { return window.ByWindow(p, engine.Bytes(v.Window)) },
	}
	if l := v.LMS; l != nil {
		methods["lms"] = func(p *engine.Problem) (*engine.Solution, error) {
			return window.ByLMS(p, l.SwapoutThreshold, l.SwapinAhead)
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
	for name, solve := range windowMethods(v) {
		answer := fields{"feasible": true}
		for field, duplex := range map[string]engine.Duplex{"makespan": engine.FullDuplex, "makespan_half_duplex": engine.HalfDuplex} {
			p := &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
			sol, err := solve(p)
			if stop, stops := errors.AsType[*window.StopError](err); stops {
				answer = fields{"feasible": false, "fail_function": stop.At}
				break
			}
			trace, err := play(p, sol, err)
			if err != nil {
				return nil, err
			}
			answer[field], answer["peak"] = int64(trace.Makespan/time.Nanosecond), trace.Peak
		}
		f[name] = answer
	}
	return f, nil
}
