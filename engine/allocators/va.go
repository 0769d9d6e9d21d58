package allocators

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:  "va",
		Title: "Virtual addresses",
		Doc:   "A buffer is mapped onto chunks of physical memory that need not lie side by side.",
		Params: []engine.Param{{
			Name: "chunk", Title: "Chunk", Doc: "Size of a chunk of physical memory in MiB.",
			Default: "40", Min: 2, Max: 4096,
		}, {
			Name: "small", Title: "Small buffers",
			Doc:     "What a buffer no larger than a chunk gets: a chunk of its own, or pieces of 2 MiB.",
			Default: "chunk", Choices: []string{"chunk", "pieces"},
		}},
		Placer: func(r *alloc.Requests, pool engine.Bytes, args engine.Parsed, poll *engine.Poll) (*alloc.Layout,
			error) {
			chunk := engine.Bytes(args.Int("chunk")) * engine.MiB
			if args.Is("small", "pieces") {
				return virtual(r, pool, leastChunk, int((chunk+leastChunk-1)/leastChunk), poll)
			}
			return Virtual(r, pool, chunk, poll)
		},
	})
}

// Virtual maps every buffer onto the lowest free chunks of physical memory. The size of a chunk must be positive. A
// new chunk is made if no chunk is free, and kept for later requests, so Layout.Reserved never falls.
func Virtual(r *alloc.Requests, pool, chunk engine.Bytes, poll *engine.Poll) (*alloc.Layout, error) {
	if chunk <= 0 {
		return nil, fmt.Errorf("chunks of %d bytes; expected 1 or more", chunk)
	}
	return virtual(r, pool, chunk, 1, poll)
}

// leastChunk is the least size that the hardware maps.
const leastChunk = 2 * engine.MiB

// virtual is Virtual, except that buffers of more than group chunks get a multiple of group.
func virtual(r *alloc.Requests, pool, chunk engine.Bytes, group int, poll *engine.Poll) (*alloc.Layout, error) {
	l := alloc.NewLayout(r)
	l.Group = group
	l.Chunk, l.Took, l.Chunks = chunk, make([]engine.Bytes, len(r.Buffers)), make([][]int32, len(r.Buffers))
	most := pool / chunk
	var free []int32 // descending
	var made, inUse engine.Bytes
	for i, e := range r.Events {
		if err := poll.Err(); err != nil {
			return l, err
		}
		if e.Free {
			for _, c := range l.Chunks[e.Buffer] {
				at, _ := slices.BinarySearchFunc(free, c, func(x, c int32) int { return int(c) - int(x) })
				free = slices.Insert(free, at, c)
			}
			inUse -= engine.Bytes(len(l.Chunks[e.Buffer]))
			continue
		}
		n := (r.Buffers[e.Buffer].Bytes + chunk - 1) / chunk
		if g := engine.Bytes(group); n > g {
			n = (n + g - 1) / g * g
		}
		if inUse+n > most {
			rest := (most - inUse) * chunk
			l.Failed = &alloc.Failure{Event: i, Buffer: e.Buffer, Bytes: n * chunk, Largest: rest, Free: rest}
			return l, nil
		}
		l.Addr[e.Buffer], l.Took[e.Buffer] = l.Pool, n*chunk
		l.Pool += n * chunk
		inUse += n
		for range n {
			if len(free) == 0 {
				free = append(free, int32(made))
				made++
			}
			l.Chunks[e.Buffer] = append(l.Chunks[e.Buffer], free[len(free)-1])
			free = free[:len(free)-1]
		}
		l.Reserve(i, made*chunk)
	}
	return l, nil
}
