package profiles_test

import (
	"fmt"

	"memtide/profiles"
)

func ExampleCleanText() {
	fmt.Printf("%+q\n", profiles.CleanText("conv\tone\x1b[2J"))
	// Output:
	// "conv one\ufffd[2J"
}
