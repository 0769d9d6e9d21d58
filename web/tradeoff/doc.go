// Package tradeoff is what memory costs in time: the step time of strategies by budget,
// and the budgets and rates that sliders go over. A Curve knows what is to be asked of
// workers (Missing, Unfinished) and takes what comes back; whoever holds it decides when.
package tradeoff
