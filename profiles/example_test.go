package profiles_test

import (
	"fmt"

	"memtide/profiles"
	_ "memtide/profiles/formats/all"
)

func ExampleDecode() {
	p, err := profiles.Decode("net.csv",
		profiles.Bytes("name,forward_s,backward_s,output_bytes,saved_bytes\nconv,0.002,0.004,1048576,2097152\nfc,0.001,0.002,65536,65536\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := p.Totals()
	fmt.Println(p.Name, p.Format, t.Stages, t.Forward, t.Back, t.Saved)

	_, err = profiles.Decode("net.csv", profiles.Bytes("forward_s,backward_s,output_bytes\n-3,1,1\n"), nil)
	for _, problem := range profiles.Problems(err) {
		fmt.Println(problem)
		fmt.Println(problem.Remedy)
	}
	// Output:
	// net csv 2 3ms 6ms 2162688
	// Line 2: forward_s is -3. Times cannot be negative.
	// Correct the number, or measure again; 0 is allowed.
}
