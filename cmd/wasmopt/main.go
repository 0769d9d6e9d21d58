// Command wasmopt makes a program that Go compiled for WebAssembly smaller after
// compression, and faster:
//
//	go run ./cmd/wasmopt [flags] in.wasm out.wasm
//
// It says for each pass how large the program was before and after, with gzip, or why
// the pass was left out. Every pass has a flag of its name, as -lines=false; -plain
// runs none and copies the file.
//
// # Passes
//
// In their order, each with what it takes from the page's program, with brotli, beside
// all others, of a program of 1.93. Together they make 1.60 MB of today's 2.22.
//
//   - jumps (200 KB): Go's compiler sends every jump in a function back to a table at its
//     beginning, so that goroutines can be switched in any call. Jumps become branches
//     and loops, and the table stays for where a function goes on after a call. Solvers
//     need 15 to 35 % less time in the browser. Functions of another form stay as they
//     are (package flow).
//   - inlined (37 KB): lists of inlined calls and of arguments, which only tracebacks
//     print, are cleared.
//   - names (30 KB): functions of libraries share one name for each package,
//     "strconv.?"; type parameters are written "[...]", as they are printed. Names of
//     main, and those that -keep begins, stay.
//   - search (14 KB): the search for the function of an instruction begins at each 64th.
//   - lines (182 KB): tables of files and lines, and those that only signals read, of
//     which WebAssembly has none, are cleared.
//   - segments (10 KB): the up to 100,000 data segments that the
//     linker writes are joined where less than 64 zeros are between them.
//
// What a program can notice: tracebacks, runtime.Caller and runtime.FuncForPC tell no
// lines, no arguments, no inlined calls, and of libraries only packages. The numbers of
// functions and of places in them, maps of pointers, and recovering from panics are as
// before.
//
// # Versions
//
// All passes but segments rely on what versions of Go were verified for (passes.Verified
// is the list, and says what verifying means): the layout of the runtime's tables, who
// reads them, and where compiled functions may be entered. The version is read from the
// program, where linker and runtime have to agree, or given by -go. For any other these
// passes are left out. The pass segments relies on the WebAssembly specification alone:
// the memory of a module is zero until its data segments are laid out, before anything
// runs, so other segments that make the same memory do the same; it runs for any
// version, and for programs of other compilers. Imported memories, and segments that
// are laid out while the program runs, are refused.
//
// A version in the list is not believed either. Before anything is changed, the tables
// are read from the head to the end, and every word that is read or written has to be
// what the layout says, by what it points to: parts end where the next ones begin, offsets lead to where names
// and tables begin, all tables of a function cover the places of its code, functions go
// on after panics where they call runtime.deferreturn, data have the form of their
// kind, and nothing is left over. A word more or less in runtime.moduledata, in the
// head, or in the records is noticed (passes/verify_test.go tries all), and the passes
// are left out.
//
// Not done: three more steps were built, and what they save (9 %) is not worth what they
// risk: packing the runtime's records of functions by columns and unpacking them at the
// start, clearing the descriptions of types that never reach an interface, and computing
// a table of powers of ten. Binaryen's wasm-opt makes the compressed program larger.
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
	summary(out, report)
	fmt.Fprintf(out, "%s: %d bytes, were %d\n", flags.Arg(1), len(program), len(file))
	return nil
}

// summary writes what each pass did.
func summary(out io.Writer, report *passes.Report) {
	fmt.Fprintf(out, "made by %s; bytes with gzip:\n", cmp.Or(report.Go, "an unknown version of Go"))
	for _, s := range report.Steps {
		if s.LeftOut != "" {
			fmt.Fprintf(out, "  %-9s left out: %s\n", s.Pass, s.LeftOut)
			continue
		}
		fmt.Fprintf(out, "  %-9s %9d -> %9d  %s\n", s.Pass, s.Before, s.After, s.Done)
	}
}

// zipped returns the size of a file with gzip.
func zipped(file []byte) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(file) // a buffer returns no errors
	w.Close()
	return b.Len()
}
