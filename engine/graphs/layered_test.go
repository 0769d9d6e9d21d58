package graphs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"memtide/engine"
)

// Layered returns a random layered graph with the given number of operations, like those on which learned and
// constraint-based rematerialisation is measured: layers have very different widths, each operation reads a fifth
// of the layer before it, and one in seven skips layers. In the order of the operations a few layers interleave.
func Layered(r *rand.Rand, ops int) *engine.Graph {
	root := int(engine.Int64(math.Ceil(math.Sqrt(float64(ops)))))
	width := root + root/10 + 1
	layers := [][]int{{0}}
	for made := 1; made < ops-1; {
		var layer []int
		for range min(2+r.IntN(width), ops-1-made) {
			layer = append(layer, made)
			made++
		}
		layers = append(layers, layer)
	}
	layers = append(layers, []int{ops - 1})
	reads, readers, key := make([][]int, ops), make([][]int, ops), make([]float64, ops)
	read := func(i, j int) {
		reads[i] = append(reads[i], j)
		readers[j] = append(readers[j], i)
	}
	for l := 1; l < len(layers); l++ {
		for _, i := range layers[l] {
			key[i] = float64(l) + 4*r.Float64()
			certain := r.IntN(len(layers[l-1]))
			for k, j := range layers[l-1] {
				if k == certain || r.IntN(5) == 0 || len(readers[j]) == 0 &&
					(l == len(layers)-1 || i == layers[l][len(layers[l])-1]) {
					read(i, j)
				}
			}
			if l > 2 && r.IntN(7) == 0 {
				other := layers[r.IntN(l-1)]
				read(i, other[r.IntN(len(other))])
			}
		}
	}
	return laid(r, reads, readers, key)
}

// laid returns the graph of the operations, in the order of their keys as far as data dependencies allow.
func laid(r *rand.Rand, reads, readers [][]int, key []float64) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	at, missing := make([]engine.ValueID, len(reads)), make([]int, len(reads))
	var ready engine.Heap[keyed]
	for i := range reads {
		if missing[i] = len(reads[i]); missing[i] == 0 {
			ready.Push(keyed{i, key[i]})
		}
	}
	for len(ready) > 0 {
		i := ready.Pop().op
		at[i] = engine.ValueID(len(g.Values))
		o := engine.Op{Name: fmt.Sprint(i), Time: time.Duration(r.IntN(1000)), Out: []engine.ValueID{at[i]}}
		size := engine.Bytes(10 + 10*r.IntN(250) + 10*r.IntN(250))
		g.Values = append(g.Values, engine.Value{Name: fmt.Sprint(i), Size: size, PartOf: engine.NoValue})
		for _, j := range reads[i] {
			o.In = append(o.In, at[j])
		}
		g.Ops = append(g.Ops, o)
		for _, j := range readers[i] {
			if missing[j]--; missing[j] == 0 {
				ready.Push(keyed{j, key[j]})
			}
		}
	}
	return g
}

// keyed is an operation that can come next.
type keyed struct {
	op  int
	key float64
}

func (a keyed) Before(b keyed) bool { return a.key < b.key }
