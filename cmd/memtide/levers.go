//go:build !js

package main

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/question"
)

// leverLimit is the most that the schedule of one change may take.
const leverLimit = 1500 * time.Millisecond

// leverReport is a change that helps: it makes the same work faster, or gives a schedule to a step that has none.
type leverReport struct {
	Change string        `json:"change"`
	Preset string        `json:"preset,omitempty"`       // the network with it; empty: it is the same
	Budget engine.Bytes  `json:"budget_bytes,omitempty"` // if it is another one
	Link   *deviceReport `json:"device,omitempty"`       // if its link is another one
	// work per second over that now, less 1; 0 where there is no schedule now
	Faster   float64 `json:"faster"`
	Complete bool    `json:"complete"`
	costReport
}

// levers finds what would help: the same list as the page's, without other strategies. base is the
// step time that was found; 0 if there is no schedule. The second list names what was tried and
// does not help.
func (in *input) levers(ctx context.Context, limit, base time.Duration) (help []leverReport, none []string) {
	if limit <= 0 || limit > leverLimit {
		limit = leverLimit
	}
	a := question.Answers{Strategy: in.method().Strategy, Base: base}
	q := &proto.Question{Setting: in.setting(), Method: in.method(), Budget: in.link.Budget, Limit: limit}
	_, err := proto.Do(ctx, new(serve.Server).Handle, q, func(x *proto.Answer) { a.List = append(a.List, *x) })
	help, none = []leverReport{}, []string{}
	if err != nil && len(a.List) == 0 {
		return help, none
	}
	best, rest := a.Helps(base <= 0, engine.NoLimit)
	for _, i := range best {
		x := &a.List[i]
		r := leverReport{Change: question.ChangeName(x), Preset: x.Preset, Faster: a.Gain(i), Complete: !x.Partial,
			costReport: costReport{int64(x.StepTime), x.Peak}}
		if x.Preset == "" && x.Device == nil { // more memory
			r.Budget = x.Budget
		}
		if d := x.Device; d != nil {
			r.Link = &deviceReport{ToHost: d.ToHost, ToDevice: d.ToDev, Duplex: d.Duplex.String()}
		}
		help = append(help, r)
	}
	for _, i := range rest {
		none = append(none, question.ChangeName(&a.List[i]))
	}
	return help, none
}
