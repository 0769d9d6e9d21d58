package csv_test

import (
	"fmt"

	"memtide/profiles"
	_ "memtide/profiles/formats/csv"
)

func Example() {
	table := "name,forward_s,backward_s,output_bytes\nconv,0.002,0.004,1048576\n"
	p, err := profiles.Decode("net.csv", profiles.Bytes(table), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Chain.Stages[0].Name, p.Chain.Stages[0].Forward, p.Chain.Stages[0].Out)
	// Output: conv 2ms 1048576
}
