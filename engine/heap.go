package engine

// Heap is a binary heap: Pop removes an element that no other element is Before. The order of elements that are
// equal under Before is determined by the order of the calls.
type Heap[T interface{ Before(T) bool }] []T

// Push adds x.
func (h *Heap[T]) Push(x T) {
	q := append(*h, x)
	*h = q
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q[i].Before(q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// Pop removes and returns the first element. It panics if the heap is empty.
func (h *Heap[T]) Pop() T {
	q, last := *h, len(*h)-1
	top := q[0]
	q[0] = q[last]
	*h = q[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return top
		}
		if down+1 < last && q[down+1].Before(q[down]) {
			down++
		}
		if !q[down].Before(q[i]) {
			return top
		}
		q[i], q[down] = q[down], q[i]
		i = down
	}
}
