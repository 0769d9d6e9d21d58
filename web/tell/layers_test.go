package tell

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

// TestLayerTable checks that the table of the small trace has the times of its spans.
func TestLayerTable(t *testing.T) {
	rows := smallModel().LayerTable(LayerNumber, false, "")
	want := []LayerRow{
		{Stage: 1, Name: "conv1", Decision: sim.Offload, Size: 300 << 20, Forward: 20 * ms, Backward: 40 * ms,
			Copies: 100 * ms, Slack: 135 * ms, Waiting: 15 * ms,
			Why: "moved: 300 MiB, copies 100 ms of the 135 ms between its passes, waiting 15 ms; computing again: 20 ms"},
		{Stage: 2, Name: "block<2>&", Decision: sim.Recompute, Size: 200 << 20, Forward: 30 * ms, Recompute: 30 * ms,
			Backward: 60 * ms, Slack: 30 * ms,
			Why: "computed again: 200 MiB for 30 ms; copies: 41.9 ms"},
		{Stage: 3, Name: "loss", Size: 4,
			Why: "kept: computing again would take 0 ms, and its backward pass follows at once"},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows; want %d", len(rows), len(want))
	}
	for i := range want {
		if rows[i] != want[i] {
			t.Errorf("row %d: %+v\nwant   %+v", i, rows[i], want[i])
		}
	}
}

// TestLayerTableSorts checks that every column sorts in both directions, and that equal rows keep their order.
func TestLayerTableSorts(t *testing.T) {
	m := randomModel(400, 5)
	for by := range NumLayerColumns {
		if by.Title() == "" || by.Doc() == "" {
			t.Errorf("column %d has no title or no text", by)
		}
		up, down := m.LayerTable(by, false, ""), m.LayerTable(by, true, "")
		if len(up) != m.Stages() || len(down) != m.Stages() {
			t.Fatalf("column %d: %d and %d rows; want %d", by, len(up), len(down), m.Stages())
		}
		for i := 1; i < len(up); i++ {
			if c := layerColumns[by].compare(&up[i-1], &up[i]); c > 0 || c == 0 && up[i-1].Stage > up[i].Stage {
				t.Errorf("sorted up by %s, row %d comes too late", by.Title(), i)
			}
			if c := layerColumns[by].compare(&down[i-1], &down[i]); c < 0 || c == 0 && down[i-1].Stage > down[i].Stage {
				t.Errorf("sorted down by %s, row %d comes too late", by.Title(), i)
			}
		}
	}
}

func TestLayerTableFinds(t *testing.T) {
	for text, want := range map[string]string{"BLOCK": "2", "moved": "1", " 3 Loss ": "3",
		"computing again would": "3", "nothing like it": ""} {
		got := ""
		for _, r := range smallModel().LayerTable(LayerNumber, false, text) {
			got += string(rune('0' + r.Stage))
		}
		if got != want {
			t.Errorf("%q is in the rows %q; want %q", text, got, want)
		}
	}
}

func TestLayersCSV(t *testing.T) {
	rows := smallModel().LayerTable(LayerNumber, false, "")
	rows[0].Name, rows[1].Name = `=cmd,"x"`, "two\nlines"
	got, err := csv.NewReader(strings.NewReader(CSV(LayersCells(rows)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || strings.Join(got[1], "|") != `1|'=cmd,"x"|O|314572800|20|40|0|100|135|15|`+rows[0].Why ||
		got[2][1] != "two\nlines" {
		t.Errorf("read back the table is %q", got)
	}
}

// TestCSVFormulas checks that a field that a spreadsheet may take for a formula is marked as text, even if the
// formula follows spaces.
func TestCSVFormulas(t *testing.T) {
	for cell, want := range map[string]string{"=1+1": "'=1+1", " =1+1": "' =1+1", "\t=1+1": "'\t=1+1",
		"\u00a0@x": "'\u00a0@x", "--x": "'--x", "a=1": "a=1", " a": " a", "": "", " ": " "} {
		if got := quoteCSV(cell); got != want {
			t.Errorf("%q is written as %q; want %q", cell, got, want)
		}
	}
}

// TestWhyWithoutLink checks that the reasons do not mention copies if the device has no link to the host.
func TestWhyWithoutLink(t *testing.T) {
	p := tracetest.Problem()
	p.Device.ToHost = 0
	m := New(p, tracetest.Trace(p))
	r := LayerRow{Size: 1 << 20, Forward: time.Millisecond}
	if got, want := m.why(&r), "kept: computing again would take 1 ms"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got, want := m.why(&LayerRow{}), "saves nothing"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}
