//go:build !js

package input

import (
	"testing"

	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestAddressCommands(t *testing.T) {
	s := pagetest.First(t)
	s.Choice.Alloc = "va"
	for _, c := range []struct {
		in   Command
		want state.Message
	}{
		{Command{Do: "places", Settled: true}, state.TogglePlaces{}},
		{Command{Do: "places-stop", Settled: true}, state.StopPlacing{}},
		{Command{Do: "places-again", Settled: true}, state.PlaceAgain{}},
		{Command{Do: "alloc", Value: "optimal", Settled: true}, state.SetAllocator{Name: "optimal"}},
		{Command{Do: "alloc", Value: "optimal"}, nil},
		{Command{Do: "alloc-arg", Arg: "chunk", Value: "4", Settled: true},
			state.SetAllocArg{Name: "chunk", Value: "4"}},
		{Command{Do: "alloc-arg", Arg: "chunk", Value: "4"}, state.Type{Field: "alloc-arg:chunk", Text: "4"}},
		{Command{Do: "alive", Arg: "1", Settled: true}, state.SortAlive{By: draw.ByAddress}},
		{Command{Do: "alive", Arg: "9", Settled: true}, nil},
	} {
		if got := c.in.Message(s); got != c.want {
			t.Errorf("%+v: message %#v; want %#v", c.in, got, c.want)
		}
	}
	c := Command{Do: "alloc-arg", Arg: "chunk", Value: "1", Settled: true}
	if got, ok := c.Message(s).(state.Refuse); !ok || got.Text == "" {
		t.Errorf("%+v: message %#v; want a refusal", c, c.Message(s))
	}
}
