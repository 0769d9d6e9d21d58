// Package papers repeats the experiments of the papers on the presets. Its tests compute the tables of
// REPRODUCTIONS.md, determine which of the papers' claims hold, and fail with the differences. To write all tables:
//
//	MEMTIDE_LONG=1 go test ./engine/papers -run Reproductions -update
//
// and to write one of them:
//
//	go test ./engine/papers -run Reproductions/rotor-figs3-5 -update
//
// Every step time is that of a schedule that the simulator has played and the checker has confirmed; otherwise the
// test fails. The results do not depend on how long a run takes.
package papers
