// The part of ECharts that the page uses. It is bundled at build, and lists
// what web/chart's options name: a missing part shows as a console error.
import { getInstanceByDom, init, use } from "echarts/core";
import { LineChart, ScatterChart } from "echarts/charts";
import { GridSimpleComponent, MarkAreaComponent, MarkLineComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, ScatterChart, GridSimpleComponent, MarkAreaComponent, MarkLineComponent, CanvasRenderer]);

// The page asks for init, its tests for what was drawn.
globalThis.echarts = { init, getInstanceByDom };
