package alloc_test

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/alloc"
	_ "memtide/engine/allocators"
)

// An allocator places buffers in a pool, in the order of their requests. In a pool that is too small, Failed is the
// request that found no room.
func ExampleAllocator_Place() {
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 2 * engine.KiB}, {Name: "b", Bytes: engine.KiB}, {Name: "a", Free: true},
		{Name: "c", Bytes: 2 * engine.KiB}, {Name: "d", Bytes: engine.KiB},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, pool := range []engine.Bytes{engine.NoLimit, 3 * engine.KiB} {
		layout, err := alloc.Lookup("best-fit").Place(r, pool, nil, nil)
		fmt.Println(layout.Pool, layout.Addr, layout.Failed, err)
	}
	// Output:
	// 4096 [0 2048 0 3072] <nil> <nil>
	// 3072 [0 2048 0 -1] event 4: no room for 1024 bytes: 0 bytes is free, the largest hole has 0 bytes <nil>
}
