package chart

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/display"
	"memtide/web/state"
)

// TestStepChart checks the chart of a step that opens by itself: orders are diamonds, policies circles, full if they
// fit, and each opens itself. Keeping everything is the square and no circle, the order that is taken has no diamond,
// there is no line of a budget, and the time that no order beats is a line across. What is unsure and left of the card's
// line is full. The chart begins at that line if all need more.
func TestStepChart(t *testing.T) {
	change := func(name string, fit proto.Fit, gib engine.Bytes, step time.Duration, args engine.Args) proto.StepChange {
		return proto.StepChange{Names: []string{name}, Fit: fit, High: gib * engine.GiB, Time: step, Args: args}
	}
	ckpt := engine.Args{"ckpt": "full"}
	s, reply := state.New(), proto.Stepped{Fit: proto.Fits, Memory: 80 * engine.GiB, Context: engine.GiB, GPUs: 2, Unit: "pictures",
		High: 40 * engine.GiB, Time: 120 * ms, Bound: 90 * ms, Trained: 240, Taken: 1, Done: 7, Total: 7,
		Phases: []proto.StepPhase{{Name: "forward"}},
		Orders: []proto.StepChange{change("GPipe", proto.FitsNot, 90, 125*ms, ckpt),
			change("1F1B", proto.Fits, 40, 120*ms, ckpt)},
		Policies: []proto.StepChange{change("everything", proto.Fits, 60, 100*ms, nil),
			change("compiled", proto.Fits, 45, 95*ms, engine.Args{"compile": "yes"}),
			change("half", proto.Unsure, 50, 110*ms, engine.Args{"ckpt": "full", "every": "2"})}}
	c := choice.Default()
	c.Step, c.StepArgs = "llama3-8b", engine.Args{"gpus": "2", "pp": "2", "ckpt": "full"}
	for _, e := range s.Update(state.Start{Choice: c}) {
		if e, ok := e.(state.AskStep); ok {
			s.Update(state.StepAnswered{ID: e.ID, Stepped: &reply, Whole: true})
		}
	}
	p := New(s, 900, 400)
	if p == nil {
		t.Fatal("there is no chart of two orders and two policies")
	}
	var spots []string
	for _, x := range p.Spots {
		spots = append(spots, fmt.Sprintf("%s %v %v %+v", x.Name, x.Order, x.Fits, x.Do))
	}
	want := []string{fmt.Sprintf("Compiled false true %+v", state.UseChange{Index: 1, Of: state.PolicyChanges}),
		fmt.Sprintf("Half false true %+v", state.UseChange{Index: 2, Of: state.PolicyChanges}),
		fmt.Sprintf("GPipe true false %+v", state.UseChange{Index: 0, Of: state.OrderChanges})}
	if !slices.Equal(spots, want) {
		t.Errorf("the chart has %q; want %q", spots, want)
	}
	if p.KeepAll.StepTime != 100*ms || p.Now.StepTime != 120*ms || p.Batch != 240 || p.Unit != "pictures" {
		t.Errorf("everything in %v, the step in %v with %d %s; want 100ms, 120ms and 240 pictures", p.KeepAll.StepTime,
			p.Now.StepTime, p.Batch, p.Unit)
	}
	if !slices.ContainsFunc(p.strokes(), func(s stroke) bool { return s.y0 == s.y1 && s.y0 == p.Y(p.Bound) }) {
		t.Errorf("names may cover the line of the bound: %+v", p.strokes())
	}
	raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
	var o struct {
		Series []struct {
			Name     string
			Data     []struct{ Symbol string }
			MarkLine struct{ Data []map[string]any }
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m := o.Series[0].MarkLine.Data; len(m) != 2 || m[0]["yAxis"] == nil && m[1]["yAxis"] == nil ||
		m[0]["name"] != nil {
		t.Errorf("lines across the chart: %v; want the card and the bound, and no budget", m)
	}
	for _, x := range o.Series {
		if x.Name == "policies" && (x.Data[0].Symbol != "circle" || x.Data[2].Symbol != "diamond") {
			t.Errorf("the symbols are %v; want a circle first and a diamond last", x.Data)
		}
	}
	to := p.To
	reply.Orders = append(reply.Orders, change("far", proto.FitsNot, 130, 125*ms, ckpt), change("farther", proto.FitsNot,
		150, 125*ms, ckpt))
	if got := New(s, 900, 400).To; got != to {
		t.Errorf("with orders that need much more than the card has, the chart goes to %d bytes; want %d, as without", got, to)
	}
	reply.Memory = 20 * engine.GiB
	if p := New(s, 900, 400); p.X(p.Device) < 0 || p.From >= p.Device {
		t.Errorf("a card of 20 GiB, less than all need: the chart begins at %d bytes, the card ends at %d", p.From, p.Device)
	}
	reply.Memory = 80 * engine.GiB
	reply.Bound = 98 * ms
	if got := New(s, 900, 400).Bound; got != 0 {
		t.Errorf("a policy takes 95ms, and the line says that no order is faster than %v; want no line", got)
	}
	reply.Orders, reply.Policies = nil, reply.Policies[:1]
	if New(s, 900, 400) != nil {
		t.Error("there is a chart of one policy; want none")
	}
}
