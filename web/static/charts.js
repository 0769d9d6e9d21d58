// The part of ECharts that the page uses. It is bundled at build, and lists
// what web/chart's options name: a missing part shows as a console error.
import { getInstanceByDom, init, use } from "echarts/core";
import { LineChart, ScatterChart } from "echarts/charts";
import { GridSimpleComponent, MarkAreaComponent, MarkLineComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, ScatterChart, GridSimpleComponent, MarkAreaComponent, MarkLineComponent, CanvasRenderer]);

// Axes group digits by narrow spaces, as the rest of the page; the library puts commas.
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 9 });
function create(...of) {
  const chart = init(...of), draw = chart.setOption;
  chart.setOption = (option, how) => {
    for (const axis of [option.xAxis ?? [], option.yAxis ?? []].flat()) { // none when it is cleared
      const text = axis.axisLabel.formatter;
      axis.axisLabel.formatter = (value) => text.replace("{value}", number.format(value).replaceAll(",", "\u202f"));
    }
    draw.call(chart, option, how);
  };
  return chart;
}

// The page asks for init, its tests for what was drawn.
globalThis.echarts = { init: create, getInstanceByDom };
