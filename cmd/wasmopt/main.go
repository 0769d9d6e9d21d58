// Command wasmopt makes a program that Go compiled for WebAssembly smaller after compression,
// and faster:
//
//	go run ./cmd/wasmopt [flags] in.wasm out.wasm
//
// For each pass it prints the size of the program before and after, with gzip, or why the pass
// was left out. Every pass has a flag with its name, such as -lines=false; -plain runs no pass and
// copies the file.
//
// # Passes
//
// The passes in their order. The sizes are what each pass saves in a page's program of 1.93 MB
// with brotli, beside all others. Together they reduce today's program from 2.22 to 1.60 MB.
//
//   - jumps (200 KB): Go's compiler sends every jump in a function back to a table at its start,
//     so that goroutines can be switched in any call. Jumps become branches and loops; the table
//     remains for resuming a function after a call. Solvers need 15 to 35 % less time in the
//     browser. Functions of another form are not changed (package flow).
//   - inlined (37 KB): lists of inlined calls and of arguments, which only tracebacks print, are
//     cleared.
//   - names (30 KB): functions of libraries share one name for each package, "strconv.?"; type
//     parameters are written "[...]", as tracebacks print them. Names of main, and names with a
//     prefix in -keep, are not changed.
//   - search (14 KB): the search for the function of an instruction starts at every 64th function.
//   - lines (182 KB): tables of files and lines are cleared, and tables that only signals read,
//     which WebAssembly does not have.
//   - segments (10 KB): the up to 100,000 data segments that the linker writes are joined where
//     fewer than 64 zeros are between them.
//
// A program can notice this: tracebacks, runtime.Caller and runtime.FuncForPC return no lines, no
// arguments, no inlined calls, and only the package of a library function. The numbers of
// functions and of places in them, pointer maps, and recovering from panics are unchanged.
//
// # Versions
//
// All passes but segments rely on facts that were verified for some versions of Go (see
// passes.Verified): the layout of the runtime's tables, their readers, and the points at which
// compiled functions can be entered. The version is read from the program, where linker and
// runtime must agree, or given by -go. For other versions these passes are left out. The pass
// segments relies on the WebAssembly specification alone: memory is zero until the data segments
// are laid out, before anything runs, so other segments that make the same memory are equivalent.
// It runs for any version and for programs of other compilers. It refuses imported memories, and
// segments that are laid out while the program runs.
//
// A verified version is checked too. Before any change, the tables are read from the head to the
// end, and every word that is read or written must agree with the layout: parts end where the
// next ones begin, offsets point to the starts of names and tables, the tables of a function cover
// the places of its code, functions resume after panics where they call runtime.deferreturn, data
// have the form of their kind, and nothing is left over. One word more or less in
// runtime.moduledata, in the head, or in the records is noticed (passes/verify_test.go tries
// all), and the passes are left out.
//
// Three more steps were built and rejected, because the 9 % that they save are not worth their
// risks: packing the runtime's function records by columns and unpacking them at the start,
// clearing the descriptions of types that never reach an interface, and computing a table of
// powers of ten. Binaryen's wasm-opt makes the compressed program larger.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"memtide/cmd/wasmopt/passes"
)

func main() {
	if err := rewrite(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wasmopt:", err)
		os.Exit(1)
	}
}

// rewrite runs the program with its arguments, and writes the report to out.
func rewrite(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("wasmopt", flag.ContinueOnError)
	plain := flags.Bool("plain", false, "run no pass")
	version := flags.String("go", "", "the version of Go that made the program, if not the one that it names")
	keep := flags.String("keep", "", "prefixes of names of functions that keep them, separated by commas, beside main.")
	run := map[string]*bool{}
	for _, p := range passes.Passes() {
		run[p.Name] = flags.Bool(p.Name, true, p.Doc)
	}
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: wasmopt [flags] in.wasm out.wasm\n")
		flags.PrintDefaults()
	}
	flags.SetOutput(out)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() != 2 {
		flags.Usage()
		return fmt.Errorf("%d files are named, want one to read and one to write", flags.NArg())
	}
	file, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	o := passes.Options{Go: *version, Size: zipped}
	for _, p := range passes.Passes() {
		if *plain || !*run[p.Name] {
			o.Skip = append(o.Skip, p.Name)
		}
	}
	if *keep != "" {
		o.Keep = strings.Split(*keep, ",")
	}
	program, report, err := passes.Run(file, o)
	if err != nil {
		return fmt.Errorf("%s: %w", flags.Arg(0), err)
	}
	if err := os.WriteFile(flags.Arg(1), program, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "made by %s; bytes with gzip:\n", cmp.Or(report.Go, "an unknown version of Go"))
	for _, s := range report.Steps {
		if s.LeftOut != "" {
			fmt.Fprintf(out, "  %-9s left out: %s\n", s.Pass, s.LeftOut)
			continue
		}
		fmt.Fprintf(out, "  %-9s %9d -> %9d  %s\n", s.Pass, s.Before, s.After, s.Done)
	}
	fmt.Fprintf(out, "%s: %d bytes, were %d\n", flags.Arg(1), len(program), len(file))
	return nil
}

// zipped returns the size of a file with gzip.
func zipped(file []byte) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(file) // a buffer returns no errors
	w.Close()
	return b.Len()
}
