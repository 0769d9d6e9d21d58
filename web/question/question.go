package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// Question is one thing to ask. Functions that may be nil say so.
type Question struct {
	Name  string // in requests and in data-testids; never changed
	Order int    // on the page, from the top; no two are equal
	Title string // as people ask it

	// Slowdown says that the answers depend on how much slower than keeping
	// everything a step may be. The page has a field for it.
	Slowdown bool
	// Idle says that the page answers it before anybody asks, once it has nothing
	// else to do.
	Idle bool
	// Varies is what of a choice the answers do not depend on, because it is what
	// they vary: choosing one of them keeps them on the page.
	Varies Varied
	// Limit is how long the page has a worker look for a schedule, or for the whole
	// answer if that is a search: the best until then counts.
	Limit time.Duration

	// Methods are what is solved beside the chosen method, or, if Varies has
	// Strategy, with it. Nil: nothing.
	Methods func(Subject) []proto.Method
	// Answer finds the answers and gives them to w one by one. The error says what
	// is wrong with the question as it was asked. It ends soon after ctx does.
	Answer func(ctx context.Context, w *Work) error

	// Short is the question in a few words, its answer then stands below it; nil: it
	// is not among those. Headline is that answer, with a line about it; empty while
	// there is none.
	Short    func(Subject, *Answers) string
	Headline func(*Answers, Subject) (value, about string)

	// Sentence says what came out: something for any complete answers. It is asked
	// before the last of them only if Early says so, and then may be empty.
	Sentence func(*Answers, Subject) string
	Early    bool
	// Button is the text of what takes the first answer over; empty: it cannot be. Nil: there is none.
	Button func(*Answers) string
	// Table lists the answers, of which there is at least one. Nil: there is no table.
	Table func(*Answers, Subject) *Table
	// Chart draws them. Nil: there is no chart.
	Chart func(*Answers, Subject) *Chart
}

// Varied are parts of a choice.
type Varied uint8

// The parts that questions vary.
const (
	Budget Varied = 1 << iota
	Bandwidth
	Batch
	Strategy
)

// Subject is what a question is about: what is chosen now.
type Subject struct {
	Method    proto.Method
	Graph     bool               // the network is no chain
	Preset    bool               // it can be had at any batch
	Batch     int                // of the network; 0: not known
	Bandwidth engine.Rate        // of both directions of the link; 0: there is none, or two
	Usable    []*engine.Strategy // that apply to the network and the device, but for keeping everything
	Budget    engine.Bytes
	Unit      string // what a sample counts as: itself, or its tokens
	Each      int    // so many of them
}

// Answers are the answers to a question as far as they have come.
type Answers struct {
	List     []proto.Answer // in the order they came
	Strategy string         // chosen when it was asked
	Slowdown int            // accepted, in hundredths of a per cent
	Base     time.Duration  // step time of what was chosen; 0 if it has no schedule
	KeepAll  time.Duration  // step time without a limit; 0 if it is not known
}

// solves is the time for one schedule of a question that needs many.
const solves = 1500 * time.Millisecond

var registry []*Question

// register adds a question. It panics if the name or the place is taken.
func register(q *Question) {
	for _, other := range registry {
		if other.Name == q.Name || other.Order == q.Order {
			panic("question: " + q.Name + " has the name or the order of " + other.Name)
		}
	}
	registry = append(registry, q)
	for i := len(registry) - 1; i > 0 && registry[i-1].Order > q.Order; i-- {
		registry[i-1], registry[i] = q, registry[i-1]
	}
}

// All are the questions, in the order of the page. The list is not to be changed.
func All() []*Question { return registry }

// Lookup is the question of a name; nil if there is none.
func Lookup(name string) *Question {
	for _, q := range registry {
		if q.Name == name {
			return q
		}
	}
	return nil
}

// The classes of strategies that charts set against each other.
const (
	recomputing = engine.MayRecompute
	offloading  = engine.MayOffload
	both        = engine.MayRecompute | engine.MayOffload
)

// against returns the methods of a chart: the chosen one, and of each class the strategy
// that is offered first.
func against(classes ...engine.Class) func(Subject) []proto.Method {
	return func(s Subject) []proto.Method {
		out := []proto.Method{s.Method}
		for _, class := range classes {
			if st := engine.Best(class, s.Graph); st != nil && st.Name != s.Method.Strategy {
				out = append(out, proto.Method{Strategy: st.Name})
			}
		}
		return out
	}
}
