//go:build !js

package browsertest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// traced is an event of the browser's own trace, with times in microseconds. Tdur is the time within Dur in which
// the thread had a core.
type traced struct {
	Name, Ph string
	Pid, Tid int
	Ts, Dur  int64
	Tdur     int64
}

// trace returns what the browser traces while do runs.
func (p *Page) trace(categories []string, do func()) []traced {
	p.t.Helper()
	var events []traced
	done := make(chan bool, 1)
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.do(chromedp.ListenBrowser(ctx, func(ev any) {
		switch e := ev.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var one traced
				if json.Unmarshal(v, &one) == nil {
					events = append(events, one)
				}
			}
		case *tracing.EventTracingComplete:
			done <- true
		}
	}))
	_, err := chromedp.CallBrowser(p.ctx, tracing.Start, tracing.StartParams{
		TransferMode: "ReportEvents",
		TraceConfig:  &tracing.TraceConfig{RecordMode: "recordAsMuchAsPossible", IncludedCategories: categories},
	})
	p.do(err)
	do()
	_, err = chromedp.CallBrowser(p.ctx, tracing.End, cdp.Empty{})
	p.do(err)
	select {
	case <-done:
	case <-time.After(time.Minute):
		p.t.Fatal("the browser did not hand its trace over within a minute")
	}
	return events
}

// tasksWith returns the tasks of a page's thread in which the given measure ended.
func tasksWith(events []traced, measure string) []traced {
	var tasks []traced
	for _, end := range events {
		if end.Name != measure || end.Ph != "e" {
			continue
		}
		for _, task := range events {
			if task.Name == "ThreadControllerImpl::RunTask" && task.Pid == end.Pid && task.Tid == end.Tid &&
				task.Ts <= end.Ts && end.Ts <= task.Ts+task.Dur {
				tasks = append(tasks, task)
			}
		}
	}
	return tasks
}
