//go:build !js

package input

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/pagetest"
)

func TestCommands(t *testing.T) {
	s := pagetest.First(t)
	r := s.BudgetRange()
	device := card.All()[len(card.All())-1]
	varied := func(change func(*preset.Options)) state.Message {
		_, o := s.Choice.Source.Variant()
		change(&o)
		return state.SetVariant{Options: o}
	}
	for _, c := range []struct {
		in   Command
		want state.Message
	}{
		{Command{Do: "budget", Value: "7"}, state.SetBudget{Bytes: r.At(7)}},
		{Command{Do: "budget", Value: "7", Settled: true}, state.SetBudget{Bytes: r.At(7), Settled: true}},
		{Command{Do: "budget-text", Value: "3", Settled: false}, state.Type{Field: "budget-text", Text: "3"}},
		{Command{Do: "budget-text", Value: "3 GiB", Settled: true},
			state.SetBudget{Bytes: 3 * engine.GiB, Settled: true}},
		{Command{Do: "budget-text", Value: " 1.5", Settled: true},
			state.SetBudget{Bytes: 3 * engine.GiB / 2, Settled: true}},
		{Command{Do: "budget-text", Value: "70 %", Settled: true},
			state.SetBudget{Share: 70 * choice.Percent, Settled: true}},
		{Command{Do: "dismiss", Settled: true}, state.Dismiss{Notice: true}},
		{Command{Do: "more", Settled: true}, state.ToggleMore{}},
		{Command{Do: "option", Arg: "loss", Value: "fused", Settled: true},
			state.SetOption{Name: "loss", Value: "fused"}},
		{Command{Do: "option", Arg: "loss", Value: "fused"}, nil},
		{Command{Do: "budget-off", Settled: true}, state.SetBudget{Bytes: s.Choice.Room().Bytes, Settled: true}},
		{Command{Do: "ask", Arg: "help", Settled: true}, state.StartQuestion{}},
		{Command{Do: "unask", Arg: "help", Settled: true}, state.StopQuestion{}},
		{Command{Do: "use-answer", Arg: "help", Index: 3, Settled: true}, state.UseAnswer{Index: 3}},
		{Command{Do: "layers", Settled: true}, state.ToggleLayers},
		{Command{Do: "layers-sort", Arg: "3", Settled: true}, state.SortLayers{By: tell.LayerSize}},
		{Command{Do: "layers-sort", Arg: "99", Settled: true}, nil},
		{Command{Do: "layers-find", Value: "conv"}, state.FindLayers{Text: "conv"}},
		{Command{Do: "step-on", Settled: true}, state.GoOn{}},
		{Command{Do: "bandwidth", Value: "10", Settled: true}, state.SetBandwidth{Rate: 2e9, Settled: true}},
		{Command{Do: "bandwidth-text", Value: "12.5 GB/s", Settled: true},
			state.SetBandwidth{Rate: 12.5e9, Settled: true}},
		{Command{Do: "pick", Arg: "vgg16", Settled: true}, state.PickNetwork{ID: "vgg16"}},
		{Command{Do: "picker", Settled: true}, state.TogglePicker{}},
		{Command{Do: "picker-find", Value: "den"}, nil},
		{Command{Do: "picker-find", Value: "den", Settled: true}, nil},
		{Command{Do: "variant", Arg: "image", Value: "500", Settled: true},
			varied(func(o *preset.Options) { o.Image = 500 })},
		{Command{Do: "variant", Arg: "tokens", Value: "512", Settled: true},
			varied(func(o *preset.Options) { o.Tokens = 512 })},
		{Command{Do: "variant", Arg: "precision", Value: "f16", Settled: true},
			varied(func(o *preset.Options) { o.Precision = "f16" })},
		{Command{Do: "variant", Arg: "algorithms", Value: "mp", Settled: true}, varied(func(o *preset.Options) { o.Fast = true })},
		{Command{Do: "variant", Arg: "algorithms", Value: "m", Settled: true}, varied(func(o *preset.Options) { o.Fast = false })},
		{Command{Do: "variant", Arg: "functions", Value: "separate", Settled: true}, varied(func(o *preset.Options) { o.Separate = true })},
		{Command{Do: "variant", Arg: "functions", Value: "joined", Settled: true}, varied(func(o *preset.Options) { o.Separate = false })},
		{Command{Do: "variant", Arg: "image", Value: "many", Settled: true}, nil},
		{Command{Do: "option-number", Arg: "batch", Value: "64", Settled: true}, state.SetOption{Name: "batch", Value: "64"}},
		{Command{Do: "gpu", Value: device.ID, Settled: true}, state.SetGPU{ID: device.ID}},
		{Command{Do: "duplex", Value: "full", Settled: true}, state.SetDuplex{Duplex: engine.FullDuplex}},
		{Command{Do: "transfers", Value: "streamed", Settled: true}, state.SetTransfers{Transfers: engine.Streamed}},
		{Command{Do: "strategy", Value: "greedy", Settled: true}, state.SetStrategy{Name: "greedy"}},
		{Command{Do: "theme", Settled: true}, state.SetTheme{Theme: "light"}},
		{Command{Do: "rows-on", Settled: true}, state.ScrollTable{Top: TableRows}},
		{Command{Do: "nothing", Settled: true}, nil},
	} {
		if got := c.in.Message(s); got != c.want {
			t.Errorf("%+v: message %#v; want %#v", c.in, got, c.want)
		}
	}
}

func TestCommandsRefuse(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		in   Command
		want string // part of the text
	}{
		{Command{Do: "budget-text", Value: "lots", Settled: true}, "lots"},
		{Command{Do: "budget-text", Value: "0", Settled: true}, "at least 1 byte"},
		{Command{Do: "budget-text", Value: "0%", Settled: true}, "above 0"},
		{Command{Do: "budget-text", Value: "-1", Settled: true}, "negative"},
		{Command{Do: "bandwidth-text", Value: "-3", Settled: true}, "-3"},
		{Command{Do: "option-number", Arg: "batch", Value: "0", Settled: true}, `"0"`},
		{Command{Do: "option-number", Arg: "batch", Value: "many", Settled: true}, "many"},
	} {
		m, ok := c.in.Message(s).(state.Refuse)
		if !ok || !strings.Contains(m.Text, c.want) {
			t.Errorf("%+v: message %#v; want a refusal that names %q", c.in, c.in.Message(s), c.want)
		}
	}
}

func TestSmallestSetsTheOffer(t *testing.T) {
	s := pagetest.First(t)
	s.OverBudget = &state.OverBudget{Budget: 1, Smallest: 3*engine.GiB + 5, Offer: 3*engine.GiB + 100}
	if got, want := (Command{Do: "smallest", Settled: true}).Message(s),
		(state.SetBudget{Bytes: 3*engine.GiB + 100, Settled: true}); got != want {
		t.Errorf("message %#v; want %#v", got, want)
	}
}

func TestKeys(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		key  Key
		want state.Message
	}{
		{Key{Code: "KeyN", Key: "n"}, state.StepWait{By: 1}},
		{Key{Code: "KeyP", Key: "p"}, state.StepWait{By: -1}},
		{Key{Code: "KeyI", Key: "i"}, state.FollowCause{}},
		{Key{Code: "BracketLeft", Key: "["}, state.StepBudget{Steps: -1}},
		{Key{Code: "BracketRight", Key: "}", Shift: true}, state.StepBudget{Steps: 10}},
		{Key{Code: "Digit0", Key: "0"}, state.SetRange{}},
		{Key{Code: "Slash", Key: "?", Shift: true}, state.ToggleHelp{}},
		{Key{Code: "Escape", Key: "Escape"}, state.Dismiss{}},
		{Key{Code: "KeyT", Key: "t"}, state.ToggleTable},
		{Key{Code: "KeyC", Key: "c"}, state.ToggleCompare{}},
		{Key{Code: "KeyX", Key: "x"}, state.SwapSides{}},
		// On AZERTY the key at the place of W types z. The place of the key counts.
		{Key{Code: "KeyW", Key: "z"}, Zoomed(s, 0.7, 0.5)},
	} {
		a, ok := KeyOf(c.key)
		if got := a.Act(s); !ok || got != c.want {
			t.Errorf("%+v: message %#v, %v; want %#v", c.key, got, ok, c.want)
		}
	}
	if _, ok := KeyOf(Key{Code: "KeyV", Key: "v"}); ok {
		t.Error("the key V is taken; want it left to the browser")
	}
}

func TestZoomKeepsThePlace(t *testing.T) {
	s := pagetest.First(t)
	end := s.Shown.Solved.Trace.Makespan
	s.Update(Zoomed(s, 0.5, 0.25))
	v := Visible(s)
	at := func(v Stretch) float64 { return float64(v.From) + 0.25*float64(v.Length) }
	if got, want := at(v), 0.25*float64(end); got < want-2 || got > want+2 {
		t.Errorf("after zooming at a quarter it is at %.0f ns; want %.0f", got, want)
	}
	s.Update(MovedTo(s, end))
	if v = Visible(s); v.From+v.Length != end {
		t.Errorf("panned too far right the view ends at %v; want the end, %v", v.From+v.Length, end)
	}
	s.Update(Zoomed(s, 4, 0.5))
	if !Visible(s).Whole() {
		t.Errorf("zoomed out the view is %+v; want all", Visible(s))
	}
}

// TestEveryDoHasAMeaning checks that every data-do on the page is a command, and that every command belongs to an
// element.
func TestEveryDoHasAMeaning(t *testing.T) {
	written := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") ||
			path == filepath.Join("..", "input") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?:"data-do", |\bDo: |data-do=|\.Do = (?:[a-zA-Z]+, )*|return words[a-zA-Z]+, )\\?"([a-z-]+)`).FindAllSubmatch(text, -1) {
			written[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range written {
		if commands[name] == nil {
			t.Errorf("an element does %q, which means nothing", name)
		}
	}
	for name := range commands {
		if !written[name] {
			t.Errorf("%q has a meaning, but no element does it", name)
		}
	}
}

// TestMemoryAlone checks that a memory alone in the field of another card keeps the card's other figures.
func TestMemoryAlone(t *testing.T) {
	s := pagetest.First(t)
	own, err := choice.OwnCard("24GiB, 25GB/s, 165TFLOP/s")
	if err != nil {
		t.Fatal(err)
	}
	want, err := choice.OwnCard("16GiB, 25GB/s, 165TFLOP/s")
	if err != nil {
		t.Fatal(err)
	}
	s.Choice.Device = own
	if got := (Command{Do: "own-card", Value: "16", Settled: true}).Message(s); got != (state.SetGPU{ID: want}) {
		t.Errorf("16 in the field of %s chooses %+v; want %s", own, got, want)
	}
}
