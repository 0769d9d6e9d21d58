package pipeline

import (
	"fmt"
	"strings"
)

func init() {
	const paper = "2104.04473"
	register(
		maker{name: "interleaved", title: "interleaved 1F1B, several stages a rank, in Megatron's rounds",
			paper: paper, shape: Wrapped,
			refuse: refuseMegatron, make: interleaved(megatronRounds)},
		maker{name: "interleaved-torch", title: "interleaved 1F1B in torch's rounds: all of a size", paper: paper,
			shape:  Wrapped,
			refuse: refuseTorch, make: interleaved(evenRounds)},
		maker{name: "interleaved-even", title: "interleaved 1F1B in rounds that differ by one at most", paper: paper,
			shape: Wrapped,
			make:  interleaved(evenRounds)},
		maker{name: "looped-bfs",
			title: "breadth first: stage by stage all forwards, then all backwards, micro batches in reverse",
			paper: "2211.05953", shape: Wrapped, make: loopedBFS},
		maker{name: "bf-pp", title: "breadth first in groups of micro batches (ZeroPP)", paper: "2402.03791",
			shape: Wrapped, make: groups},
	)
}

// megatronRounds returns rounds of a group; the last one has the remaining micro batches
// (--microbatch-group-size-per-virtual-pipeline-stage).
func megatronRounds(p *Request) (rounds []int) {
	for left := p.Micro; left > 0; left -= p.Group {
		rounds = append(rounds, min(left, p.Group))
	}
	return rounds
}

// evenRounds returns as many rounds as the number of ranks fits into that of micro batches. torch refuses rounds of
// two sizes.
func evenRounds(p *Request) (rounds []int) {
	n := max(1, p.Micro/p.Ranks)
	for i := range n {
		size := p.Micro / n
		if i < p.Micro%n {
			size++
		}
		rounds = append(rounds, size)
	}
	return rounds
}

// refuseMegatron refuses a last round that is shorter than the pipeline, with which ranks could wait for ever.
func refuseMegatron(p *Request) error {
	if last := p.Micro % p.Group; last == 0 || last >= p.Ranks {
		return nil
	}
	return fmt.Errorf("the interleaved schedule needs a multiple of %d micro batches, one for each rank; there are %d: interleaved-even takes them in %s", p.Group, p.Micro, sum(evenRounds(p)))
}

func refuseTorch(p *Request) error {
	n := max(1, p.Micro/p.Ranks)
	if p.Micro%n == 0 {
		return nil
	}
	return fmt.Errorf("torch cuts %d micro batches into %d rounds of one size; %d or %d micro batches can be, and interleaved-even takes them in %s", p.Micro, n, p.Micro/n*n, (p.Micro/n+1)*n, sum(evenRounds(p)))
}

// sum returns rounds in words, such as rounds 4 + 3.
func sum(rounds []int) string {
	if len(rounds) == 1 {
		return fmt.Sprintf("one round of %d", rounds[0])
	}
	return "rounds " + strings.ReplaceAll(strings.Trim(fmt.Sprint(rounds), "[]"), " ", " + ")
}

// interleaved returns Megatron-LM's order [arXiv:2104.04473, section 2.2]: the micro batches of a round go through
// one stage of a rank after the other. Megatron before 2024 ran all forwards first if there were as many micro
// batches as ranks.
func interleaved(rounds func(*Request) []int) func(*Request, *Problem) [][]Pass {
	return func(p *Request, _ *Problem) [][]Pass {
		list := rounds(p)
		var chunks []int // by forward of a rank: its stage on the rank
		for _, size := range list {
			for c := range p.Chunks {
				for range size {
					chunks = append(chunks, c)
				}
			}
		}
		return eachRank(p, func(w *writer, r int) {
			warm(len(chunks), 2*(p.Ranks-1-r)+(p.Chunks-1)*list[0],
				func(k int) { w.put(Forward, chunks[k]*p.Ranks+r, false) },
				func(k int) { w.put(Backward, (p.Chunks-1-chunks[k])*p.Ranks+r, false) })
		})
	}
}

func loopedBFS(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) {
		for c := range p.Chunks {
			w.puts(p.Micro, Forward, c*p.Ranks+r)
		}
		for c := p.Chunks - 1; c >= 0; c-- {
			for m := p.Micro - 1; m >= 0; m-- {
				w.list = append(w.list, Pass{Kind: Backward, Micro: m, Stage: c*p.Ranks + r})
			}
		}
	})
}

// groups is loopedBFS for one group of micro batches after the other, with the backwards in the order of the micro
// batches.
func groups(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) {
		for _, size := range megatronRounds(p) {
			for c := range p.Chunks {
				w.puts(size, Forward, c*p.Ranks+r)
			}
			for c := p.Chunks - 1; c >= 0; c-- {
				w.puts(size, Backward, c*p.Ranks+r)
			}
		}
	})
}
