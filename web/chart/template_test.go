package chart

import (
	"encoding/json"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/web/chart/template"
)

// The embedded template is what go-echarts makes now.
func TestTemplateIsCurrent(t *testing.T) {
	got, err := template.TradeOff(template.Margins{Left: px(left), Right: px(right), Top: px(top), Bottom: px(bottom)})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.File(t, "tradeoff.template.json", got)
	tradeOffTemplate = got // what is written with -update is used by the other tests
	checkSeries(t, got, map[int]string{seriesMarks: "budget", seriesLine: "strategy", seriesDot: "point"})
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
