package chart

import (
	"bytes"
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
	if template.Marks != seriesMarks || template.Bound != seriesBound || template.Line != seriesLine || template.Dot != seriesDot {
		t.Error("the series of the template are not in the order that the chart expects")
	}
}
