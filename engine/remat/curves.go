package remat

import (
	"time"

	"memtide/engine"
)

// Fall says how long computing again takes from some memory on, until the next fall.
type Fall struct {
	Bytes int64 // beside the input
	Extra time.Duration
}

// Curves returns for every stage s how long a chain from s on, with what is before it done,
// computes again in which memory: the falls with rising bytes. What takes longer than limit
// is left out. It returns an error that wraps engine.ErrUnsupported if the table would take
// more than most bytes.
func Curves(c *engine.Chain, limit time.Duration, most int, poll *engine.Poll) ([][]Fall, error) {
	t := newTerms(c, engine.NoLimit, outputCounted)
	if t.tooLong() {
		return nil, errTooLong
	}
	x := newTable(t, tricks{limit: true, gallop: true}, poll)
	x.store.most = most
	if _, err := x.fill(int64(limit)); err != nil {
		return nil, err
	}
	curves := make([][]Fall, x.n+1)
	for s := 1; s <= x.n; s++ {
		for _, w := range x.row(s, x.n) {
			curves[s] = append(curves[s], Fall{w.m, time.Duration(w.v)})
		}
	}
	return curves, nil
}
