//go:build !js

package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// control takes ways through functions that are hard to keep: loops with and
// without calls, loops entered in their middle, goroutines that are switched in
// calls, and panics that are recovered in all kinds of places.
const control = `package main

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
)

func collatz(n int) (steps int) {
	for ; n != 1; steps++ {
		if n%2 == 0 {
			n /= 2
			continue
		}
		n = 3*n + 1
	}
	return
}

func primes(n int) (sum int) {
next:
	for i := 2; i < n; i++ {
		for k := 2; k*k <= i; k++ {
			if i%k == 0 {
				continue next
			}
		}
		sum += i
	}
	return
}

// crossed jumps into loops, and from one into the other.
func crossed(n int) (out []int) {
	i := n
	if n%2 == 0 {
		goto middle
	}
top:
	out = append(out, i)
	i -= 3
middle:
	i += 2
	if i%5 == 0 {
		goto top
	}
	if i < 40 {
		goto middle
	}
	if len(out) < 20 && i < 60 {
		goto top
	}
	return
}

func machine(program string) string {
	var out strings.Builder
	stack := []int{}
	for pc := 0; pc < len(program); {
		switch c := program[pc]; {
		case c >= '0' && c <= '9':
			stack = append(stack, int(c-'0'))
		case c == '+':
			stack = append(stack[:len(stack)-2], stack[len(stack)-2]+stack[len(stack)-1])
		case c == '.':
			fmt.Fprint(&out, stack[len(stack)-1], " ")
		case c == '?':
			if stack[len(stack)-1]++; stack[len(stack)-1] < 12 {
				pc = strings.IndexByte(program, '.')
				continue
			}
		default:
			return out.String() + "end"
		}
		pc++
	}
	return out.String()
}

// recovered goes on after panics of the runtime and its own, in a loop, with
// results that were set before.
func recovered(kind int) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var none *struct{ a [100]int }
	zero, list := 0, []int{1, 2, 3}
	for i := range 5 {
		text += fmt.Sprint(i)
		switch kind {
		case 0:
			text += fmt.Sprint(list[i])
		case 1:
			text += fmt.Sprint(none.a[i])
		case 2:
			text += fmt.Sprint(10 / (i - 3 + zero))
		case 3:
			var e any = text
			text += fmt.Sprint(e.(fmt.Stringer))
		case 4:
			panic(errors.New("own"))
		case 5:
			defer func() { text += "d" }()
		}
	}
	return text, nil
}

func produce(n int, to chan<- int, done chan<- bool) {
	for i := range n {
		if i%3 == 0 {
			runtime.Gosched()
		}
		to <- i * i
	}
	done <- true
}

func switched() (sum int) {
	c, done := make(chan int), make(chan bool)
	for k := range 4 {
		go produce(10+k, c, done)
	}
	for left := 4; left > 0; {
		select {
		case v := <-c:
			sum += v
		case <-done:
			left--
		}
	}
	return
}

func deep(n int, list []int) int {
	var room [40]int
	room[n%40] = n
	if n == 0 {
		runtime.GC()
		return len(list)
	}
	return deep(n-1, append(list, room[n%40])) + room[(n+1)%40]
}

// step switches goroutines now and then.
func step(n int) int {
	if n%7 == 0 {
		runtime.Gosched()
	}
	return n%1000 + 3
}

// many has more places than a byte can number.
func many(sum int) int {
	MANY
	return sum
}

func squares(n int) func(func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for i := range n {
			if !yield(i, i*i) {
				return
			}
		}
	}
}

func main() {
	fmt.Println(collatz(27), primes(2000), crossed(6), crossed(7))
	fmt.Println(machine("12+.?7.!9"))
	for kind := range 7 {
		fmt.Println(recovered(kind))
	}
	fmt.Println(switched(), deep(3000, nil), many(1))
	for i, s := range squares(10) {
		defer fmt.Println("deferred", i)
		if s > 30 {
			break
		}
	}
	words := strings.Fields("one loop in each function that sorts words by their length and letters")
	sort.Slice(words, func(i, k int) bool { return len(words[i]) < len(words[k]) || len(words[i]) == len(words[k]) && words[i] < words[k] })
	fmt.Println(words)
	counts := map[string]int{}
	for _, w := range words {
		for _, r := range w {
			counts[string(r)] += int(r)
		}
	}
	fmt.Println(counts)
}
`

// A program does the same with direct jumps as without, and as on this machine.
func TestDirectJumps(t *testing.T) {
	program := strings.Replace(control, "MANY", strings.Repeat("sum += step(sum)\n\t", 400), 1)
	want, err := run(writeProgram(t, program), []string{"GOFLAGS=-mod=mod"}, "go", "run", ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-gcflags=", "-gcflags=all=-l"} {
		sections, err := readSections(buildProgram(t, program, flags))
		if err != nil {
			t.Fatal(err)
		}
		if n, all := understood(t, sections); n < all*9/10 {
			t.Errorf("%s: %d of %d functions have the form that is expected; has another version of Go another?", flags, n, all)
		}
		if err := directJumps(sections); err != nil {
			t.Fatal(err)
		}
		got, err := runProgram(t, writeSections(sections))
		if err != nil || strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: the program (%v) writes\n%s\nwant\n%s", flags, err, got, want)
		}
	}
}

// understood counts the functions of a module that can be rewritten.
func understood(t *testing.T, sections []section) (n, all int) {
	t.Helper()
	places, err := placesAfterPanics(sections)
	if err != nil || len(places) == 0 {
		t.Fatalf("the places after panics are %v, %v; has another version of Go another table?", places, err)
	}
	r := &moduleReader{b: sections[find(sections, sectionCode)].body}
	for i := range r.unsigned() {
		if all++; parseFunction(int(i), r.take(int(r.unsigned()))) != nil {
			n++
		}
	}
	return n, all
}

// testSegment is where a segment jumps to under a condition, where it goes on
// otherwise, and whether its goroutine can be switched at its end.
type testSegment struct {
	if0, next int // -1: none
	resumes   bool
}

func testFunction(segments ...testSegment) *function {
	f := &function{variables: []variables{{1, typeI32}}}
	for i, s := range segments {
		c := codeSegment{next: s.next, resumes: s.resumes}
		if s.if0 >= 0 {
			c.code = []instruction{{op: opLocalGet, raw: []byte{opLocalGet, 1}, n: 1, target: -1}, {op: opIf, target: s.if0}}
			c.code = append(c.code, make([]instruction, jumpIfLength-1)...)
			for k := range c.code[2:] {
				c.code[k+2].target = -1
			}
		}
		f.segments = append(f.segments, c)
		f.table = append(f.table, i)
	}
	return f
}

// Loops that are entered at one place need no table, wherever the compiler has
// put that place; loops that are entered after a call do.
func TestArrange(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []testSegment
		loops    int // how many loops
		table    int // how many jumps through the table
	}{
		{"straight", []testSegment{{-1, 1, false}, {-1, -1, false}}, 0, 0},
		{"loop", []testSegment{{-1, 1, false}, {3, 2, false}, {-1, 1, false}, {-1, -1, false}}, 1, 0},
		{"condition at the end", []testSegment{{-1, 2, false}, {-1, 2, false}, {1, 3, false}, {-1, -1, false}}, 1, 0},
		{"loop in a loop", []testSegment{{-1, 4, false}, {-1, 3, false}, {-1, 3, false}, {2, 4, false}, {1, 5, false}, {-1, -1, false}}, 2, 0},
		{"itself", []testSegment{{-1, 1, false}, {1, 2, false}, {-1, -1, false}}, 1, 0},
		{"a return in front", []testSegment{{-1, 2, false}, {-1, -1, false}, {1, 3, false}, {1, 2, false}}, 1, 0},
		{"call", []testSegment{{-1, 1, false}, {3, 2, true}, {-1, 1, false}, {-1, -1, false}}, 0, 1},
		{"call in the outer loop", []testSegment{{-1, 1, true}, {4, 2, true}, {2, 3, false}, {-1, 1, false}, {-1, -1, false}}, 1, 1},
		{"two entries", []testSegment{{2, 1, false}, {-1, 2, false}, {1, 3, false}, {-1, -1, false}}, 0, 1},
		{"two entries in a loop", []testSegment{{-1, 1, false}, {3, 2, false}, {-1, 3, false}, {2, 4, false}, {1, 5, false}, {-1, -1, false}}, 0, 2},
	} {
		f := testFunction(c.segments...)
		fl := f.arrange()
		loops, table := 0, 0
		for i := range f.segments {
			if fl.loopEnd[i] > 0 {
				loops++
			}
			for _, j := range f.jumps(i) {
				if fl.viaTable(i, j) {
					table++
				}
			}
		}
		if loops != c.loops || table != c.table {
			t.Errorf("%s: %v has %d loops and %d jumps through the table, want %d and %d", c.name, c.segments, loops, table, c.loops, c.table)
		}
	}
}

// Whatever a function looks like, its jumps can be written: none leads into a
// loop but to its beginning, and the table is outside of all loops.
func TestArrangeRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		segments := make([]testSegment, 2+random.IntN(12))
		for i := range segments {
			segments[i] = testSegment{random.IntN(len(segments)+8) - 8, random.IntN(len(segments)+1) - 1, random.IntN(8) == 0}
			segments[i].if0 = max(segments[i].if0, -1)
		}
		f := testFunction(segments...)
		entered := f.entries()
		fl := f.arrange()
		for h, end := range fl.loopEnd {
			for j := h + 1; j < end; j++ {
				if fl.entered[j] || fl.loopEnd[j] > end {
					t.Fatalf("%+v: in the loop %d to %d, segment %d is entered through the table (%v) or begins a loop that ends at %d", segments, h, end-1, j, fl.entered[j], fl.loopEnd[j])
				}
				for i := range f.segments {
					if (i < h || i >= end) && slices.Contains(f.jumps(i), j) {
						t.Fatalf("%+v: segment %d jumps into the middle of the loop %d to %d", segments, i, h, end-1)
					}
				}
			}
		}
		for i := range f.segments {
			for _, j := range f.jumps(i) {
				if j < 0 || fl.viaTable(i, j) && !fl.entered[j] {
					t.Fatalf("%+v: the jump from segment %d to %d leads nowhere", segments, i, j)
				}
			}
		}
		for place, j := range f.table {
			if j < 0 && entered[place] || j >= 0 && entered[place] && !fl.entered[j] {
				t.Fatalf("%+v: place %d is no longer entered", segments, place)
			}
		}
		testFunction(segments...).write()
	}
}
