// Package tradeoff is what memory costs in time: the step time of strategies by budget,
// of a strategy by the values of its parameters, and the budgets and rates that sliders
// go over. A Curve and a Tuning know what is to be asked of workers (Missing, Unfinished, Refine) and
// take what comes back; whoever holds them decides when.
package tradeoff
