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
