package chart

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"memtide/web/chart/template"
)

// The embedded template is what go-echarts makes now.
func TestTemplateIsCurrent(t *testing.T) {
	got, err := template.TradeOff(template.Margins{Left: px(left), Right: px(right), Top: px(top), Bottom: px(bottom)})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile("tradeoff.template.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
		tradeOffTemplate = got
	}
	if !bytes.Equal(got, tradeOffTemplate) {
		t.Errorf("tradeoff.template.json is not what package template makes (go test -run Template -update rewrites it):\n%s", got)
	}
	checkSeries(t, got, map[int]string{seriesMarks: "budget", seriesBound: "bound", seriesLine: "strategy", seriesDot: "point"})
}

// checkSeries compares the names of a template's series with what the chart takes them for.
func checkSeries(t *testing.T, template []byte, want map[int]string) {
	t.Helper()
	var o struct{ Series []struct{ Name string } }
	if err := json.Unmarshal(template, &o); err != nil {
		t.Fatal(err)
	}
	for i, s := range o.Series {
		if s.Name != want[i] || len(o.Series) != len(want) {
			t.Errorf("series %d of %d is %q; want %q of %d", i, len(o.Series), s.Name, want[i], len(want))
		}
	}
}
