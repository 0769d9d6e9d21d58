package pipeline

import (
	"fmt"
	"time"

	"memtide/engine"
)

// Kind is the kind of a pass or a copy.
type Kind uint8

// The kinds; their letters are those of the package comment.
const (
	Forward  Kind = iota // F
	Backward             // A
	Inputs               // B
	Weights              // W
	Dropped              // D
	Again                // R
	Out                  // O
	In                   // I
)

// kinds are the letters and names of the kinds.
var kinds = [...]struct{ letter, name string }{{"F", "forward"}, {"A", "backward"}, {"B", "backward of inputs"},
	{"W", "backward of weights"},
	{"D", "dropped forward"}, {"R", "repeated forward"}, {"O", "copy to the host"}, {"I", "copy back"}}

func (k Kind) String() string { return kinds[k].name }

// Letter returns the letter of a kind, as in the package comment.
func (k Kind) Letter() string { return kinds[k].letter }

// MarshalText returns the letter.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.Letter()), nil }

// copies reports whether a kind is a copy, which runs beside the passes.
func (k Kind) copies() bool { return k >= Out }

// Pass is a pass or a copy of one micro batch at one stage. Micro batches are numbered from 0 on each path.
type Pass struct {
	Kind   Kind `json:"kind"`
	Stage  int  `json:"stage"`
	Micro  int  `json:"micro"`
	Joined bool `json:"-"` // a forward that runs as one pass with the backward after it in its rank's order
}

func (x Pass) String() string {
	return fmt.Sprintf("the %v of micro batch %d at stage %d", x.Kind, x.Micro, x.Stage)
}

// Holds are the bytes that a stage keeps for one micro batch; see the package comment.
type Holds struct {
	Act, Rest, Input                 engine.Bytes
	FwdTemp, InputsTemp, WeightsTemp engine.Bytes  // during F, D and R; A and B; W
	Off                              engine.Bytes  // part of Act that a copy moves; 0: no copies
	Out, In                          time.Duration // times of the copies
}

// Stage is a stage of a path.
type Stage struct {
	Rank, Path               int
	Forward, Inputs, Weights time.Duration // [f, b, w]
	Whole                    time.Duration // time of a whole backward; 0: Inputs + Weights
	Comm                     time.Duration // [c] time of a message from or to the stage before
	Holds
}

// Messages says how messages between stages delay passes, in addition to their time.
type Messages uint8

// The rules for messages. In all of them, a message does not wait for its receiver.
const (
	Latency  Messages = iota // each message arrives after its time, regardless of other messages
	Queued                   // those from one rank to another run one at a time, in the order of the sender's passes
	Blocking                 // the sender is busy for the message's time after its pass, the receiver before its pass
	Included                 // the times of passes include messages
)

// Problem is the pipeline that orders are played on.
type Problem struct {
	Ranks  int
	Micro  []int   // micro batches of each path
	Stages []Stage // path by path, each in the order of its stages
	Fused  bool    // the search does not split backwards

	Fixed, Limit []engine.Bytes // bytes of each rank; nil: 0, and no limit
	Messages     Messages

	// Cost returns the time of a pass; nil: the time of its stage. The search ignores Cost.
	Cost func(Pass) time.Duration
	Pair func(f, a Pass) time.Duration // time of a joined pass; nil: the sum of both
}

// mostPasses is the largest number of passes and copies of a step.
const mostPasses = 1 << 22

// Check returns an error if the problem is not a pipeline, or its numbers are out of range.
func (p *Problem) Check() error {
	if p.Ranks < 1 || len(p.Stages) == 0 || p.Fixed != nil && len(p.Fixed) != p.Ranks || p.Limit != nil &&
		len(p.Limit) != p.Ranks {
		return fmt.Errorf("%d ranks, %d stages, %d fixed amounts and %d limits; want at least a rank and a stage, and one of the others for each rank, or for no rank",
			p.Ranks, len(p.Stages), len(p.Fixed), len(p.Limit))
	}
	passes, path := 0, -1
	var times time.Duration
	var bytes engine.Bytes
	for s := range p.Stages {
		st := &p.Stages[s]
		if st.Path != path {
			path++
		}
		if st.Path != path || path >= len(p.Micro) || st.Rank < 0 || st.Rank >= p.Ranks {
			return fmt.Errorf("stage %d lies on rank %d and path %d; want one of %d ranks, and paths from 0 on, one after the other", s, st.Rank, st.Path, p.Ranks)
		}
		n := p.Micro[path]
		if n < 1 || n > mostPasses || 8*n > mostPasses-passes {
			return fmt.Errorf("%d micro batches on path %d; want at least one, and no more than %d passes and copies of a step", n, path, mostPasses)
		}
		passes += 8 * n
		for _, d := range []time.Duration{st.Forward, st.Inputs, st.Weights, st.Whole, st.Comm, st.Out, st.In} {
			if d < 0 || d > engine.MaxTime/time.Duration(n) || times+d*time.Duration(n) > engine.MaxTime {
				return fmt.Errorf("stage %d takes %v for a pass, a message or a copy; want times that add up to at most %v", s, d, engine.MaxTime)
			}
			times += d * time.Duration(n)
		}
		for _, b := range []engine.Bytes{st.Act, st.Rest, st.Input, st.FwdTemp, st.InputsTemp, st.WeightsTemp, st.Off} {
			if b < 0 || b > engine.MaxBytes/engine.Bytes(n) || bytes+b*engine.Bytes(n) > engine.MaxBytes {
				return fmt.Errorf("stage %d holds %d bytes; want amounts that add up to at most %d", s, b,
					engine.MaxBytes)
			}
			bytes += b * engine.Bytes(n)
		}
		if st.Input > st.Act || st.Off > st.Act {
			return fmt.Errorf("stage %d keeps %d bytes of input and copies %d; want at most its activations, %d bytes", s, st.Input, st.Off, st.Act)
		}
	}
	if path+1 != len(p.Micro) {
		return fmt.Errorf("%d paths have micro batches, and %d have stages", len(p.Micro), path+1)
	}
	return nil
}

// first reports whether stage s is the first one of its path.
func (p *Problem) first(s int) bool { return s == 0 || p.Stages[s-1].Path != p.Stages[s].Path }

// last reports whether stage s is the last one of its path.
func (p *Problem) last(s int) bool {
	return s == len(p.Stages)-1 || p.Stages[s+1].Path != p.Stages[s].Path
}

// micro returns the number of micro batches that pass stage s.
func (p *Problem) micro(s int) int { return p.Micro[p.Stages[s].Path] }

// limit returns the limit of rank r.
func (p *Problem) limit(r int) engine.Bytes {
	if p.Limit == nil {
		return engine.NoLimit
	}
	return p.Limit[r]
}

func (p *Problem) fixed(r int) engine.Bytes {
	if p.Fixed == nil {
		return 0
	}
	return p.Fixed[r]
}

// Time returns the time of a pass or a copy.
func (p *Problem) Time(x Pass) time.Duration {
	st := &p.Stages[x.Stage]
	switch {
	case x.Kind == Out:
		return st.Out
	case x.Kind == In:
		return st.In
	case p.Cost != nil:
		return p.Cost(x)
	case x.Kind == Inputs:
		return st.Inputs
	case x.Kind == Weights:
		return st.Weights
	case x.Kind == Backward:
		return st.whole()
	}
	return st.Forward
}

// whole returns the time of a whole backward.
func (st *Stage) whole() time.Duration {
	if st.Whole > 0 {
		return st.Whole
	}
	return st.Inputs + st.Weights
}

// bytes returns the bytes that a pass or a copy allocates at its start and frees at its end.
func (st *Stage) bytes(k Kind) (take, give engine.Bytes) {
	switch k {
	case Forward:
		return st.Act + st.FwdTemp, st.FwdTemp
	case Dropped:
		return st.Input + st.FwdTemp, st.FwdTemp
	case Again:
		return st.Act - st.Input + st.FwdTemp, st.FwdTemp
	case Backward:
		return st.InputsTemp, st.InputsTemp + st.Act
	case Inputs:
		return st.InputsTemp + max(0, st.Rest-st.Act), st.InputsTemp + max(0, st.Act-st.Rest)
	case Weights:
		return st.WeightsTemp, st.WeightsTemp + st.Rest
	case Out:
		return 0, st.Off
	}
	return st.Off, 0
}
