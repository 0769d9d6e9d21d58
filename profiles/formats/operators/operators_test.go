package operators_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
)

// unpacked returns the content of a gzipped file.
func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// stored calls visit for each of the network traces that memtide_torch.py has collected
// (profiles/torchtest/write_traces.py).
func stored(t *testing.T, visit func(name string, p *profiles.Profile, trace *play.Trace)) {
	t.Helper()
	files, err := filepath.Glob("testdata/traces/*.json.gz")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d stored traces (%v), want 6", len(files), err)
	}
	for _, file := range files {
		p, trace, err := operators.Read(filepath.Base(file), unpacked(t, file), nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		visit(p.Name, p, trace)
	}
}

// TestPlayerIsPythons checks that plans give the results that the player in Python has given, and that checkPlan
// accepts each.
func TestPlayerIsPythons(t *testing.T) {
	n := 0
	stored(t, func(name string, _ *profiles.Profile, trace *play.Trace) {
		var rows []struct {
			Segments []*play.Segment `json:"segments"`
			Peak     engine.Bytes    `json:"peak_bytes"`
			Again    int64           `json:"again_ns"`
			Left     engine.Bytes    `json:"left_bytes"`
			Sent     engine.Bytes    `json:"sent_bytes"`
		}
		if err := json.Unmarshal(unpacked(t, "testdata/traces/"+name+".plays"), &rows); err != nil {
			t.Fatal(err)
		}
		p := play.NewPlayer(trace)
		for _, row := range rows {
			if err := trace.Validate(row.Segments); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, log := p.Log(row.Segments)
			if err := checkPlan(trace, row.Segments, got, log); err != nil {
				plan, _ := json.Marshal(row.Segments)
				t.Errorf("%s, %s: refuted: %v", name, plan, err)
			}
			if got.Peak != row.Peak || got.Again.Nanoseconds() != row.Again || got.Left != row.Left ||
				got.Sent != row.Sent {
				plan, _ := json.Marshal(row.Segments)
				t.Errorf("%s, %s: peak %d, again %d ns, left %d, sent %d; Python's player says %d, %d, %d, %d", name,
					plan, got.Peak, got.Again, got.Left, got.Sent, row.Peak, row.Again, row.Left, row.Sent)
			}
			n++
		}
	})
	if n < 150 {
		t.Errorf("%d plans were played, want at least 150", n)
	}
}

// TestChain compares keeping everything in the derived chain with the played step.
func TestChain(t *testing.T) {
	stored(t, func(name string, p *profiles.Profile, trace *play.Trace) {
		c := p.Chain
		got, want := c.KeepAllPeak()-c.Resident.Total()-c.Input, play.NewPlayer(trace).Play(nil).Peak
		t.Logf("%s: %d stages, keeping everything %d, played %d", name, c.Len(), got, want)
		most := 101 * want
		if name == "unet" {
			most = 120 * want // three stages: the workspace of one counts at its worst moment
		}
		if 100*got < 99*want || 100*got > most {
			t.Errorf("%s: keeping everything takes %d in the chain, %d played; want at most 1 %% less or more", name,
				got, want)
		}
		if sum := c.ForwardTime() + c.BackTime(); sum != trace.Time() {
			t.Errorf("%s: the stages take %v, the operators %v", name, sum, trace.Time())
		}
		if name == "gpt" && c.Len() < 10 {
			t.Errorf("a GPT of 8 blocks has %d stages, want at least 10", c.Len())
		}
	})
}

// TestPlanFile checks that a plan that is written and read is written again unchanged.
func TestPlanFile(t *testing.T) {
	stored(t, func(name string, _ *profiles.Profile, trace *play.Trace) {
		units := trace.UnitNames()
		segments := []*play.Segment{{Units: units[:2], Do: play.DoRecompute,
			Inner: []*play.Segment{{Units: units[:1], Do: play.DoRecompute}}},
			{Units: units[3:4], Do: play.DoRecompute, Save: []play.Saved{{Op: "aten.mm.default", At: 1}}}}
		plan := play.NewPlayer(trace).Plan(segments, "nested", "a test", 5)
		text, err := plan.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := play.ReadPlan(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if second, _ := again.JSON(); !bytes.Equal(text, second) {
			t.Errorf("%s: written again the plan is\n%s\nwant\n%s", name, second, text)
		}
	})
}
