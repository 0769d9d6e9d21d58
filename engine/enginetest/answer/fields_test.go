// Package answer compares the results of the program for the test vectors, field by field, with the expected values.
// Those of graphs, functions, pipelines, allocators, vDNN and streamed transfers are compared in the tests of their
// packages.
//
// The field algorithm of a vector selects the results. The fields of an answer have the names that they have in the
// files. A field is null if nothing fits, and absent if the program has no result.
package answer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// fields are the values of an answer by name.
type fields map[string]any

// algorithms are the functions that answer vectors, by Vector.Algorithm.
var algorithms = map[string]func(v *enginetest.Vector) fields{
	"simulate": simulate, "rotor": rotor, "revolve": revolve, "sequential": sequential,
	"offload-set": offloadSet, "offload-all": offloadAll, "offload-gadget": offloadAll, "pofo": pofo,
}

// answer writes a line for each vector of a file.
func answer(file string, out io.Writer) error {
	vectors := enginetest.Load(file)
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

// failure is the panic of must, from which fieldsOf recovers.
type failure struct{ error }

// must returns result. If err is not nil, it panics with a failure.
func must[T any](result T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return result
}

// fieldsOf returns the answer to a vector. The error is that of a must.
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

// solve plays the schedule of a strategy. It returns nil if nothing fits.
func solve(p *engine.Problem, strategy string, args engine.Args) *sim.Trace {
	sol, err := engine.Lookup(strategy).Solve(p, args, nil)
	return play(p, sol, err)
}

// play plays a solution, given with the error of its strategy. It returns nil if the error is that nothing fits.
func play(p *engine.Problem, sol *engine.Solution, err error) *sim.Trace {
	if _, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		return nil
	}
	return must(sim.Play(p, must(sol, err).Schedule))
}
