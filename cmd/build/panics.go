//go:build !js

package main

// Where a function that has deferred calls goes on when one of them recovers:
// at its call of runtime.deferreturn, which the linker notes in the table of
// functions (runtime/runtime2.go, type _func).
const (
	funcEntry       = 0
	funcDeferReturn = 12
)

// placesAfterPanics are the numbers of these places by functions of a module.
// It is nil if the table does not look as expected.
func placesAfterPanics(sections []section) (map[int]int, error) {
	memory, err := initialMemory(sections)
	if err != nil {
		return nil, err
	}
	m := findModule(memory)
	if m == nil {
		return nil, nil
	}
	places := map[int]int{}
	for i := range m.funcs {
		f := m.function(i)
		if place := m.word(f + funcDeferReturn); place > 0 {
			places[i] = place
		}
		if m.word(f+funcEntry) != firstNumber+i || m.bad {
			return nil, nil
		}
	}
	return places, nil
}
