//go:build !js

package plans

import (
	"reflect"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

func TestLineCommands(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		in   input.Command
		want state.Message
	}{
		{input.Command{Do: "lines", Arg: "greedy", Settled: true}, state.ToggleLines{Names: []string{"greedy"}}},
		{input.Command{Do: "lines", Arg: "vdnn,vdnnpp", Settled: true},
			state.ToggleLines{Names: []string{"vdnn", "vdnnpp"}}},
		{input.Command{Do: "lines-all", Settled: true}, state.SetLines{Names: []string{"all"}}},
		{input.Command{Do: "lines-default", Settled: true}, state.SetLines{}},
		{input.Command{Do: "axis", Value: "time", Settled: true}, state.SetAxis{Axis: tradeoff.StepTime}},
		{input.Command{Do: "axis", Value: "odd", Settled: true}, state.SetAxis{Axis: tradeoff.Throughput}},
		{input.Command{Do: "kind", Value: "graph", Settled: true}, state.SetGraph{Graph: true}},
	} {
		if got := c.in.Message(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: message %#v; want %#v", c.in, got, c.want)
		}
	}
}

// TestLinesInLink checks that lines and axis are in the link, unless they are the defaults, and that unknown
// names are dropped.
func TestLinesInLink(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		lines []string
		axis  string
		want  string
	}{
		{nil, tradeoff.Throughput, "v=1&p=resnet101-b32&m=60%25"},
		{[]string{"pofo", "rotor"}, tradeoff.StepTime, "v=1&p=resnet101-b32&m=60%25&c=pofo,rotor&y=time"},
		{[]string{"all"}, tradeoff.Slowdown, "v=1&p=resnet101-b32&m=60%25&c=all&y=slowdown"},
		{[]string{}, tradeoff.Throughput, "v=1&p=resnet101-b32&m=60%25&c=none"},
	} {
		s.View.Lines, s.View.Axis = c.lines, c.axis
		l := permalink.Of(s, link.Link{})
		if got := l.String(); got != c.want {
			t.Errorf("lines %q, axis %q: %s; want %s", c.lines, c.axis, got, c.want)
		}
		_, m, notes := permalink.Follow(c.want)
		if !slices.Equal(m.Lines, c.lines) || (m.Lines == nil) != (c.lines == nil) || m.Axis != c.axis ||
			len(notes) > 0 {
			t.Errorf("%s is read as lines %q, axis %q, notes %q; want %q, %q", c.want, m.Lines, m.Axis, notes,
				c.lines, c.axis)
		}
	}
	if _, m, _ := permalink.Follow("v=1&p=resnet101-b32&m=60%25&c=rotor,nosuch,bound"); !slices.Equal(m.Lines,
		[]string{"rotor"}) {
		t.Errorf("lines %q; want the known ones", m.Lines)
	}
}

func TestStrategyKeys(t *testing.T) {
	s := pagetest.First(t)
	for i, st := range input.KeyStrategies() {
		name := st.Name
		a, ok := input.KeyOf(input.Key{Code: "Digit" + string(rune('1'+i)), Key: "&"}) // the key types & on AZERTY
		if got := a.Act(s); !ok || got != (state.SetStrategy{Name: name}) || engine.Lookup(name) == nil {
			t.Errorf("key %d: message %#v; want %s, which exists", i+1, got, name)
		}
	}
	a, _ := input.KeyOf(input.Key{Code: "Digit2", Key: "2"})
	if got := a.Act(pagetest.Graph(t, nil)); got != nil {
		t.Errorf("on a graph the key of rotor does %#v; want nothing", got)
	}
	for _, code := range []string{"Digit7", "Digit", "Digit12"} {
		if _, ok := input.KeyOf(input.Key{Code: code}); ok {
			t.Errorf("%s is taken", code)
		}
	}
}
