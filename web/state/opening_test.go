package state

import (
	"testing"

	"memtide/engine"
)

// TestSetWhileOpening checks that settings that the user changes while a profile is being read apply to it: to
// the profile of a link, to a preset, and to a file that names a link to the host.
func TestSetWhileOpening(t *testing.T) {
	withDevice := chain("mine")
	withDevice.Device = &engine.Device{ToHost: 7, ToDev: 7}
	file := opened(0, withDevice)
	for name, c := range map[string]struct {
		open Message
		read Opened
	}{
		"a link":   {Navigate(Start{Choice: chosen("other-b8")}), opened(0, chain("other"))},
		"a preset": {PickPreset{ID: "other-b8"}, opened(0, chain("other"))},
		"a file":   {PickFile{Name: "mine.csv", Bytes: []byte("x")}, file},
	} {
		p := shown(t)
		p.play(c.open)
		c.read.ID = last[Open](t, p).ID
		p.play(SetTransfers{engine.Streamed}, SetDuplex{engine.HalfDuplex}, SetBandwidth{Rate: 5e9, Settled: true},
			SetStrategy{Name: "testoffload"}, c.read)
		if got := p.Choice; p.Opening != nil || got.Transfers != engine.Streamed || got.Duplex != engine.HalfDuplex ||
			got.ToHost != 5e9 || got.Strategy != "testoffload" {
			t.Errorf("%s: the choice is %+v; want streamed transfers, half duplex, 5 GB/s and testoffload, as they were set while it was read", name, got)
		}
	}
	p := shown(t)
	p.play(PickFile{Name: "mine.csv", Bytes: []byte("x")})
	file.ID = last[Open](t, p).ID
	if p.play(file); p.Choice.ToHost != 7 {
		t.Errorf("nobody has chosen a link, and it is %v; want the 7 B/s of the file", p.Choice.ToHost)
	}
}

// TestAddressWhileOpening checks that the address does not change while the profile in it is being read, because
// the page does not know the profile yet. Settings are written into the address afterwards, even if the profile
// cannot be read.
func TestAddressWhileOpening(t *testing.T) {
	for name, end := range map[string]func(id int) Message{
		"read":     func(id int) Message { return opened(id, chain("other")) },
		"not read": func(id int) Message { return OpenFailed{ID: id, Text: "no"} },
	} {
		for first, p := range map[string]*player{"at the start": {State: New()}, "later": shown(t)} {
			start := Start{Choice: chosen("other-b8")}
			if first == "later" {
				p.play(Navigate(start))
			} else {
				p.play(start)
			}
			id := last[Open](t, p).ID
			p.play(SetTransfers{engine.Streamed}, ToggleTable, SetRange{From: 1, To: 2})
			if n := count[WriteURL](p); n != 0 {
				t.Errorf("%s, %s: %s while the profile is read; want the address left alone", first, name,
					names(p.effects))
			}
			end := end
			for range 3 { // after a link that cannot be read, the page opens the example
				p.play(end(id))
				if p.Opening == nil {
					break
				}
				id, end = p.Opening.ID, func(id int) Message { return opened(id, chain("example")) }
			}
			if n := count[WriteURL](p); n != 1 || last[WriteURL](t, p).History != Replace {
				t.Errorf("%s, %s: %s; want the address rewritten once", first, name, names(p.effects))
			}
			if p.play(ToggleTable); count[WriteURL](p) != 1 {
				t.Errorf("%s, %s: %s for a change after that; want the address written", first, name, names(p.effects))
			}
		}
	}
	p := shown(t)
	p.play(Navigate(Start{Choice: chosen("other-b8")}))
	if p.play(opened(last[Open](t, p).ID, chain("other"))); count[WriteURL](p) != 0 {
		t.Errorf("a link was followed and nothing set: %s; want the address left alone", names(p.effects))
	}
	p = shown(t)
	p.play(Navigate(Start{Choice: chosen("other-b8"), Amended: true}))
	if p.play(opened(last[Open](t, p).ID, chain("other"))); count[WriteURL](p) != 1 {
		t.Errorf("a link with a value that is not used was followed: %s; want the address written", names(p.effects))
	}
}

// TestQuickWords checks that words that are chosen before the step of the first one is there add up, and that a card
// that is chosen while a file is being read is the file's, where another word changes nothing.
func TestQuickWords(t *testing.T) {
	p := policed(t, "llama3.2-1b-step-4096tok-on-rtx-4090-b1", "rtx-4090")
	p.play(SetOption{"batch", "4"}, SetOption{"loss", "chunked"}, SetOption{"seq", "1024"})
	_, args, _ := p.Opening.Choice.Source.Step()
	if args["batch"] != "4" || args["loss"] != "chunked" || args["seq"] != "1024" {
		t.Errorf("three words open a step with %v; want all three", args)
	}
	p.play(PickFile{Name: "net.json"}, SetGPU{"h100"}, SetOption{"batch", "8"})
	if o := p.Opening; o == nil || o.Choice.Source.File != "net.json" || o.Choice.Device != "h100" {
		t.Errorf("beside a file and a card: %+v; want the file on the card", o)
	}
}
