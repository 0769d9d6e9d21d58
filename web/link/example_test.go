package link_test

import (
	"fmt"

	"memtide/web/link"
)

func ExampleParse() {
	l, notes := link.Parse("p=resnet101-b32&s=rotor")
	fmt.Println(l.Preset, l.Strategy, notes)
	// Output: resnet101-b32 rotor []
}
