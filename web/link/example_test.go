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

// Each kind of file that the page saves contains the link to the view that it shows.
func ExampleIn() {
	const address = "https://example.org/#p=resnet101-b32&s=rotor"
	fmt.Println(link.In(link.WithJSON([]byte(`{"steps": 3}`), address)))
	fmt.Println(link.In(link.WithLastLine([]byte("layer,bytes\nconv,3\n"), address)))
	fmt.Println(link.In([]byte("layer,bytes\n")))
	// Output:
	// p=resnet101-b32&s=rotor true
	// p=resnet101-b32&s=rotor true
	//  false
}
