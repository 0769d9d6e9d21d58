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

// algorithms says how vectors are answered, by their algorithm.
var algorithms = map[string]func(v *enginetest.Vector) fields{
	"simulate": simulate, "rotor": rotor, "revolve": revolve, "sequential": sequential,
	"offload-set": offloadSet, "offload-all": offloadAll, "offload-gadget": offloadAll, "pofo": pofo, "vdnn": vdnn,
	"window": windows, "allocator": allocator, "graph": graph, "graph-joint": graphJoint, "pipeline": pipelined,
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
		f, err := fieldsOf(v)
		if err != nil {
			return fmt.Errorf("vector %s: %w", v.ID, err)
		}
		if err := enc.Encode(struct {
			ID     string `json:"id"`
			Answer fields `json:"answer"`
		}{v.ID, f}); err != nil {
			return err
		}
	}
	return w.Flush()
}

// failure is the panic that ends the answer to a vector.
type failure struct{ error }

// must returns a result; an error of it ends the answer to the vector.
func must[T any](result T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return result
}

// fieldsOf answers one vector, with the error that has ended it.
func fieldsOf(v *enginetest.Vector) (f fields, err error) {
	defer func() {
		if e := recover(); e != nil {
			ended, ok := e.(failure)
			if !ok {
				panic(e)
			}
			err = ended.error
		}
	}()
	if of := algorithms[v.Algorithm]; of != nil {
		return of(v), nil
	}
	return fields{}, nil
}

// solve plays what a strategy finds; nil if nothing fits.
func solve(p *engine.Problem, strategy string, args engine.Args) *sim.Trace {
	sol, err := engine.Lookup(strategy).Solve(p, args, nil)
	return play(p, sol, err)
}

// play plays a solution that came with an error; nil if that is that nothing fits.
func play(p *engine.Problem, sol *engine.Solution, err error) *sim.Trace {
	if _, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		return nil
	}
	return must(sim.Play(p, must(sol, err).Schedule))
}

// leastBudget returns the smallest budget that an error names, or 0 if there is no error.
func leastBudget(err error) engine.Bytes {
	if small, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		return small.Smallest
	}
	return must(engine.Bytes(0), err)
}
