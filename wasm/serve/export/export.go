// Package export makes a program that imports it one that writes schedules as Python
// and JSON.
package export

import (
	"memtide/engine"
	"memtide/engine/export"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

func init() { serve.RegisterWriter(write) }

func write(q *proto.Export, profile string, p *engine.Problem) ([]byte, error) {
	plan := &export.Plan{Name: profile, Strategy: q.Strategy, Args: q.Args, Problem: p, Schedule: q.Schedule}
	if q.Form == proto.FormJSON {
		return plan.JSON()
	}
	text, err := plan.Python()
	return []byte(text), err
}
