package passes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// control is a program whose control flow is hard to preserve: loops with and without calls, loops entered in
// their middle, goroutines that are switched in calls, and panics that are recovered in various places.
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
//
//go:noinline
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

// traceback is a program that grows its stack, collects garbage, prints a traceback, panics and recovers.
const traceback = `package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type node struct{ next *node; pad [100]byte }

func deep(n int, list *node) int {
	if n == 0 {
		runtime.GC()
		fmt.Print(string(debug.Stack()))
		panic("recovered")
	}
	return deep(n-1, &node{next: list}) + 1
}

func main() {
	done := make(chan int)
	go func() {
		defer func() { fmt.Println(recover()); close(done) }()
		deep(5000, nil)
	}()
	<-done
}
`

// built caches the compiled programs of these tests by flags and text.
var built = map[string][]byte{}

// build compiles a program of one file for the browser.
func build(t *testing.T, text string, flags ...string) []byte {
	t.Helper()
	key := strings.Join(append(flags, text), " ")
	if built[key] == nil {
		dir := writeProgram(t, text)
		file := filepath.Join(dir, "program.wasm")
		goTool(t, dir, []string{"GOOS=js", "GOARCH=wasm"},
			append(append([]string{"build", "-o", file}, flags...), ".")...)
		program, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		built[key] = program
	}
	return built[key]
}

// goTool runs the go command in a folder and returns what it writes.
func goTool(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS=-mod=mod"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// writeProgram writes a program of one file into a temporary folder and returns the folder.
func writeProgram(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": text, "go.mod": "module program\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runInNode runs a program in Node and returns its output.
func runInNode(t *testing.T, program []byte) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program.wasm")
	if err := os.WriteFile(file, program, 0o644); err != nil {
		t.Fatal(err)
	}
	goroot := goTool(t, "", nil, "env", "GOROOT")
	// A wrongly rewritten program may loop for ever and must not outlive the test.
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-10*time.Second))
		defer cancel()
	}
	out, err := exec.CommandContext(ctx, "node", "--stack-size=8192",
		filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"), file).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
