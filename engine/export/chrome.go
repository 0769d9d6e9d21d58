package export

import (
	"encoding/json"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// chromeEvent is an event of the trace format of Chrome and Perfetto, as the document "Trace Event Format" defines
// it. Times are in microseconds.
type chromeEvent struct {
	Name    string         `json:"name"`
	Phase   string         `json:"ph"` // X a span, C counters, M a name
	Process int            `json:"pid"`
	Lane    int            `json:"tid"`
	Start   float64        `json:"ts"`
	Took    *float64       `json:"dur,omitempty"` // of a span
	Args    map[string]any `json:"args,omitempty"`
}

// chromeLanes are the names of the lines of a trace, by lane. A line with the waits of the compute lane comes after
// them.
var chromeLanes = []string{sim.Compute: "compute", sim.ToHost: "device to host", sim.ToDev: "host to device",
	sim.Network: "network", sim.CPU: "host CPU"}

// ChromeTrace returns a played schedule in the trace format of Chrome and Perfetto. It has a line for each lane, in
// which each span has the reason why it did not start earlier, a line with the waits of the compute lane, and
// counters of the device memory by category and of the host memory.
func ChromeTrace(p *engine.Problem, t *sim.Trace) ([]byte, error) {
	micro := func(d time.Duration) float64 { return float64(d) / 1e3 }
	took := func(start, end time.Duration) *float64 { d := micro(end - start); return &d }
	list := []chromeEvent{{Name: "process_name", Phase: "M", Args: map[string]any{"name": "memtide"}}}
	waits := len(chromeLanes)
	for lane, name := range append(chromeLanes[:waits:waits], "waits of compute") {
		list = append(list, chromeEvent{Name: "thread_name", Phase: "M", Lane: lane,
			Args: map[string]any{"name": name}})
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		e := chromeEvent{Phase: "X", Lane: int(s.Lane), Start: micro(s.Start), Took: took(s.Start, s.End),
			Args: map[string]any{}}
		if s.Op != engine.NoOp {
			e.Name = p.Graph.Ops[s.Op].Name
		} else {
			e.Name = p.Graph.Values[s.Value].Name
			e.Args["bytes"] = p.Graph.Values[s.Value].Size
		}
		if s.Kind == sim.SpanRecompute {
			e.Args["again"] = true
		}
		if s.Why != sim.None && s.Why != sim.Dependency {
			e.Args["waited for"] = s.Why.String()
		}
		list = append(list, e)
	}
	for i := range t.Gaps {
		g := &t.Gaps[i]
		e := chromeEvent{Name: g.Reason.String(), Phase: "X", Lane: waits, Start: micro(g.Start),
			Took: took(g.Start, g.End), Args: map[string]any{}}
		if g.Value != engine.NoValue {
			e.Args["value"] = p.Graph.Values[g.Value].Name
		}
		if g.Need > 0 {
			e.Args["missing bytes"] = g.Need
		}
		list = append(list, e)
	}
	for i := range t.Memory {
		used := map[string]any{}
		for c, n := range t.Memory[i].Used {
			used[sim.Category(c).String()] = n
		}
		list = append(list, chromeEvent{Name: "device memory", Phase: "C", Start: micro(t.Memory[i].At), Args: used})
	}
	for _, h := range t.Host {
		list = append(list, chromeEvent{Name: "host memory", Phase: "C", Start: micro(h.At),
			Args: map[string]any{"bytes": h.Used}})
	}
	return json.Marshal(map[string]any{"traceEvents": list, "displayTimeUnit": "ms"})
}
