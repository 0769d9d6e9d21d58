package choice_test

import (
	"fmt"

	"memtide/web/choice"
)

func ExampleFields() {
	s := choice.Said{Preset: "resnet101-b32", Strategy: "rotor"}
	for _, f := range choice.Fields(&s) {
		if f.Value != nil && f.Value.String() != "" {
			fmt.Println(f.Key, f.Value)
		}
	}
	// Output:
	// p resnet101-b32
	// s rotor
}

// A budget is a number of bytes, or a share of the peak of keeping everything.
func ExampleParseBudget() {
	for _, text := range []string{"4GiB", "60%", "much"} {
		b, err := choice.ParseBudget(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(b, int64(b.Of(10<<30)))
	}
	// Output:
	// 4GiB 4294967296
	// 60% 6442450944
	// "much": that is not a number; expected a size, for example 12 GiB
}
