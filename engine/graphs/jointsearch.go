package graphs

// How many proposals the search makes for each operation: few on small graphs, where it
// is one of many methods that are tried.
const (
	firstJoint = 100
	eachJoint  = 25 // more for every operation
	mostJoint  = 4000
)

// search anneals in rounds, each twice as long as the one before: from the best sequence,
// from the order that keeps everything, and from the sequences of the others in turn.
func (j *joint) search() {
	n := len(j.m.order)
	total := n * min(firstJoint+eachJoint*n, mostJoint) << (j.args.Int("effort") - 1)
	given := j.m.given()
	starts := [][]kindID{given}
	if seq := j.m.ofSchedule(j.p, j.best.Schedule); seq != nil {
		starts = append(starts, seq)
		j.play(seq, j.how)
	}
	scale, _, _ := j.m.cost(given)
	next, done, weight := max(total/16, 500), 0, 1.0
	for round := uint64(0); done < total && !j.done() && j.poll.Err() == nil; round++ {
		count := min(next, total-done)
		if 5*next > 2*(total-done) {
			count = total - done
		}
		c, from := wide, starts[int(round/2)%len(starts)]
		if round%2 == 1 && j.seq != nil {
			c, from = narrow, j.seq
		}
		before := j.best
		st := newState(j.m, j.p.Budget, j.args.Is("order", "kept"), from)
		a := &annealer{state: st, r: newRandom(uint64(j.args.Int("seed"))*1000 + round), poll: j.poll, scale: float64(max(scale, 1)) / float64(int64(1)<<st.unit)}
		a.plays = func() bool {
			if a.took >= j.best.Makespan {
				return true
			}
			was := j.best
			ok := j.play(a.sequence(), "Found by annealing.")
			if j.best != was {
				j.tell(done+a.proposals, total)
			}
			return ok
		}
		a.anneal(c, count, weight, j.lower)
		if a.best != nil && j.poll.Err() == nil {
			j.play(a.best, "Found by annealing.") // without waits it may be faster
		}
		if j.best == before {
			weight = min(weight*3, 1000)
		}
		next *= 2
		if round%2 == 0 {
			next /= 2
		}
		done += count
	}
}
