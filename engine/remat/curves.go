package remat

import (
	"time"

	"memtide/engine"
)

// Fall is a step of a falling function of memory: with Bytes or more, until the next fall,
// computing again takes Extra.
type Fall struct {
	Bytes int64 // memory besides the input
	Extra time.Duration
}

// Curves returns, for every stage s, how long the chain from s on computes again as a function of
// the memory: the falls by rising Bytes. Times above limit are left out. Curves returns an error
// that wraps engine.ErrUnsupported if its table would take more than most bytes.
func Curves(c *engine.Chain, limit time.Duration, most int, poll *engine.Poll) ([][]Fall, error) {
	t := newTerms(c, engine.NoLimit)
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
