// Command answer reads a file of test vectors, which need not have expected
// values, and writes what the program says about each of them: one JSON object
// per vector and line, {"id": ..., "answer": {...}}.
//
//	go run ./engine/enginetest/answer < FILE
//
// The field algorithm of a vector selects what is answered. The fields of an
// answer are named as in the files; null means that nothing fits. What the
// program cannot answer is left out.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

func main() {
	if err := answer(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "answer:", err)
		os.Exit(1)
	}
}

// fields are the values of an answer by name.
type fields map[string]any

// algorithms says how vectors are answered, by their algorithm. Each file of
// this package adds its own in an init function.
var algorithms = map[string]func(v *enginetest.Vector) (fields, error){}

// solve plays what a strategy finds; nil without an error if nothing fits.
func solve(p *engine.Problem, strategy string, args engine.Args) (*sim.Trace, error) {
	sol, err := engine.Lookup(strategy).Solve(p, args, nil)
	return play(p, sol, err)
}

// play plays a solution that came with an error; nil without one if that is that nothing
// fits.
func play(p *engine.Problem, sol *engine.Solution, err error) (*sim.Trace, error) {
	if _, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return sim.Play(p, sol.Schedule)
}

// leastBudget is the smallest budget that an error names; 0 if there is no error.
func leastBudget(err error) (engine.Bytes, error) {
	if small, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		return small.Smallest, nil
	}
	return 0, err
}

func answer(in io.Reader, out io.Writer) error {
	vectors, err := enginetest.Read(in)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for i := range vectors {
		v := &vectors[i]
		line := struct {
			ID     string `json:"id"`
			Answer fields `json:"answer"`
		}{v.ID, fields{}}
		if f := algorithms[v.Algorithm]; f != nil {
			line.Answer, err = f(v)
			if err != nil {
				return fmt.Errorf("vector %s: %w", v.ID, err)
			}
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
