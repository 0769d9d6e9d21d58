// Package papers holds the experiments of the papers, recomputed on the presets: its
// tests compute the tables of REPRODUCTIONS.md, say which of the papers' claims come
// out and which do not, and fail with what differs. To write the tables anew:
//
//	MEMTIDE_LONG=1 go test ./engine/papers -run Reproductions -update
//
// and one of them alone:
//
//	go test ./engine/papers -run Reproductions/rotor-figs3-5 -update
//
// Every step time is that of a schedule which the simulator played and the checker
// confirmed; where one is not, the test fails. Every run has the same result, however
// long it takes.
package papers
