// Package chart makes the options of the charts that ECharts draws: plain JSON,
// filled into a template that a test makes with go-echarts, whose
// imports would add a tenth to the program. A Plot is also the geometry of its chart, so that
// pointing at it needs no question to the browser and is tested natively.
//
// Options contain no functions (the page's policy forbids to evaluate any, and
// string templates do); colours come in, because a canvas knows no style sheet.
package chart
