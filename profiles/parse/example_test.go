package parse_test

import (
	"fmt"

	"memtide/profiles/parse"
)

// A quantity reads a decimal number exactly, in any spelling, or says what is wrong with it.
func ExampleQuantity_Read() {
	for _, text := range []string{"1024", "1.5e3", "0.5", "-1", "1e400"} {
		n, problem := parse.ByteCount.Read("size_bytes", text)
		if problem != nil {
			fmt.Println(problem)
			continue
		}
		fmt.Println(n)
	}
	// Output:
	// 1024
	// 1500
	// size_bytes is 0.5. Sizes are whole numbers of bytes.
	// size_bytes is -1. Sizes cannot be negative.
	// size_bytes is 1e400. Sizes above 2^53 bytes are not read.
}
