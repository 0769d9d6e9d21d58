package pool

import (
	"slices"
	"sync"
	"testing"
)

// TestInboxKeepsOrder checks that functions put into an inbox while another one is blocked run after it, in
// order.
func TestInboxKeepsOrder(t *testing.T) {
	const n = 100
	var (
		q    inbox
		got  []int
		all  sync.WaitGroup
		gate = make(chan bool)
	)
	all.Add(n)
	for i := range n {
		q.put(func() {
			if i == 0 {
				<-gate
			}
			got = append(got, i)
			all.Done()
		})
	}
	close(gate)
	all.Wait()
	if !slices.IsSorted(got) || len(got) != n {
		t.Errorf("%d things were done in the order %v; want %d, in the order in which they came", len(got), got, n)
	}
}
