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
	"fmt"
	"io"
	"os"

	"memtide/engine/enginetest"
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
			if line.Answer, err = f(v); err != nil {
				return fmt.Errorf("vector %s: %w", v.ID, err)
			}
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
