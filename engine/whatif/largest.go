package whatif

import (
	"context"
	"errors"

	"memtide/engine"
)

// LargestAnswer is the largest batch that was found to train.
type LargestAnswer struct {
	BatchPoint     // if Batch is 0, not even one sample trains, and Smallest is the budget for one sample
	Fails      int // a larger batch that does not train; 0 if even MaxBatch trains
	// Undecided are batches without an answer within the limit, or beyond the range of the methods. They count as
	// if they did not train.
	Undecided []int
	Gaps      bool // a smaller batch does not train although this one does
}

// LargestBatch finds the largest batch that trains within the budget; the package comment says how far that is
// certain. report gets the largest batch that trains so far, and may be nil. The error is that of AtBatch, or ctx's.
// In the latter case the answer is the largest batch found so far, without step time.
func LargestBatch(ctx context.Context, q *BatchQuestion, report func(trains int)) (*LargestAnswer, error) {
	s := &search{ctx: ctx, q: q, report: report, known: map[int]bool{}}
	for start := 1; start > 0; {
		s.gallop(start)
		s.bisect()
		start = s.beyond()
		s.a.Gaps = s.a.Gaps || start > 0
	}
	s.a.Fails, s.a.Batch = s.fails, s.trains
	if s.err != nil {
		return &s.a, s.err
	}
	at, err := AtBatch(ctx, q, max(s.trains, 1))
	if s.trains > 0 {
		s.a.BatchPoint = at
	}
	s.a.Smallest = at.Smallest
	return &s.a, err
}

// search is a search for the largest batch.
type search struct {
	ctx    context.Context
	q      *BatchQuestion
	report func(trains int)
	known  map[int]bool
	a      LargestAnswer
	err    error

	trains int // the largest that trains
	fails  int // the smallest above it that does not; 0 if none is known
}

// gallop doubles the batch until one does not train.
func (s *search) gallop(from int) {
	s.fails = 0
	for b := from; s.try(b) && b < s.q.most(); {
		b = min(2*b, s.q.most())
	}
}

// bisect narrows down the largest batch that trains, between trains and fails.
func (s *search) bisect() {
	for s.err == nil && s.fails > s.trains+1 {
		s.try(s.trains + (s.fails-s.trains)/2)
	}
}

// beyond tests some batches above fails. It returns one that trains, or 0.
func (s *search) beyond() int {
	fails := s.fails
	for _, b := range []int{fails + 1, fails + 2, fails + fails/8, fails + fails/2, 2 * fails, 4 * fails} {
		if s.err == nil && fails > 0 && b <= s.q.most() && s.test(b) {
			return b
		}
	}
	return 0
}

// try tests a batch and updates trains or fails. It returns false after an error.
func (s *search) try(b int) bool {
	ok := s.test(b)
	if s.err != nil {
		return false
	}
	if ok {
		s.trains = max(s.trains, b)
	} else {
		s.fails = b
	}
	if s.report != nil {
		s.report(s.trains)
	}
	return ok
}

// test reports whether a batch trains. It remembers the result.
func (s *search) test(b int) bool {
	if ok, known := s.known[b]; known || s.err != nil {
		return ok
	}
	var ok, decided bool
	p, err := s.q.problem(b)
	switch {
	case s.ctx.Err() != nil:
		s.err = s.ctx.Err()
	case err == nil:
		ok, decided = s.fits(p)
	case b == 1 || !errors.Is(err, engine.ErrRange):
		s.err = err
	}
	if s.err != nil {
		return false
	}
	if !decided {
		s.a.Undecided = append(s.a.Undecided, b)
	}
	s.known[b] = ok
	return ok
}

// fits reports whether p fits into its budget, and whether that was decided within the limit. It solves p with a
// budget of 0 first, whose error has the smallest budget that would do. If this error does not know, fits solves p.
func (s *search) fits(p *engine.Problem) (ok, decided bool) {
	var least *engine.InfeasibleError
	for _, budget := range []engine.Bytes{0, p.Budget} {
		sol, stopped, err := s.q.solve(s.ctx, p.WithBudget(budget))
		switch {
		case s.ctx.Err() != nil:
			s.err = s.ctx.Err()
			return false, false
		case err == nil || stopped && sol != nil:
			return true, true
		case errors.As(err, &least) && (least.Smallest > 0 || budget == p.Budget):
			return least.Smallest > 0 && least.Smallest <= p.Budget, true
		case errors.Is(err, engine.ErrUnsupported) || stopped:
			// Only the result for the budget itself counts, since a budget in which nothing has to move needs no link.
		case err != nil && !errors.As(err, &least):
			s.err = err
			return false, false
		}
		decided = !stopped
	}
	return false, decided
}
