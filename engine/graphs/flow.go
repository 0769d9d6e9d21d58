package graphs

import (
	"math"

	"memtide/engine"
)

// network is a flow network with whole capacities.
type network struct {
	edges []edgeTo  // an edge and its reverse are neighbours
	from  [][]int32 // of every node its edges
	poll  *engine.Poll
}

type edgeTo struct {
	to   int32
	room int64
}

const boundless = math.MaxInt64 / 4

func (n *network) add(a, b int32, capacity int64) {
	n.from[a] = append(n.from[a], int32(len(n.edges)))
	n.edges = append(n.edges, edgeTo{b, capacity})
	n.from[b] = append(n.from[b], int32(len(n.edges)))
	n.edges = append(n.edges, edgeTo{a, 0})
}

// reached are the nodes on the source's side of a least cut, by Dinic's algorithm
// with paths instead of recursion; nil if poll ended it.
func (n *network) reached(source, sink int32) []bool {
	level, next := make([]int32, len(n.from)), make([]int, len(n.from))
	for n.levels(level, source) && level[sink] >= 0 {
		clear(next)
		for n.augment(level, next, source, sink) {
			if n.poll.Err() != nil {
				return nil
			}
		}
	}
	if n.poll.Err() != nil {
		return nil
	}
	side := make([]bool, len(level))
	for v, l := range level {
		side[v] = l >= 0
	}
	return side
}

// levels finds how far nodes are from the source; false if poll ended it.
func (n *network) levels(level []int32, source int32) bool {
	for v := range level {
		level[v] = -1
	}
	level[source] = 0
	for queue := []int32{source}; len(queue) > 0; queue = queue[1:] {
		if n.poll.Err() != nil {
			return false
		}
		for _, e := range n.from[queue[0]] {
			if to := n.edges[e].to; n.edges[e].room > 0 && level[to] < 0 {
				level[to] = level[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return true
}

// augment sends what fits along one path from level to level; false if there is none.
func (n *network) augment(level []int32, next []int, source, sink int32) bool {
	var path []int32
	for at := source; at != sink; {
		if next[at] == len(n.from[at]) { // a dead end
			if len(path) == 0 {
				return false
			}
			last := path[len(path)-1]
			path = path[:len(path)-1]
			at = n.edges[last^1].to
			next[at]++
			continue
		}
		e := n.from[at][next[at]]
		if to := n.edges[e].to; n.edges[e].room > 0 && level[to] == level[at]+1 {
			path = append(path, e)
			at = to
		} else {
			next[at]++
		}
	}
	least := int64(boundless)
	for _, e := range path {
		least = min(least, n.edges[e].room)
	}
	for _, e := range path {
		n.edges[e].room -= least
		n.edges[e^1].room += least
	}
	return true
}
