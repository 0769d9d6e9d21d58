package question

import (
	"slices"
	"testing"
	"time"

	"memtide/wasm/proto"
)

// The fastest comes first, what has no schedule last, equals as they came.
func TestByGain(t *testing.T) {
	a := &Answers{}
	for _, d := range []time.Duration{0, 15, 11, 0, 11} {
		a.List = append(a.List, proto.Answer{StepTime: d})
	}
	if got, want := a.ByGain(), []int{2, 4, 1, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("by gain %v; want %v", got, want)
	}
}

// A question with the name of another is refused.
func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second help is taken")
		}
	}()
	register(&Question{Name: "help"})
}
