// Package passes rewrites linked Go programs for WebAssembly so that they do the same, are
// smaller after compression, and run faster.
//
// Run reads a module and the tables of its runtime (tables.go), verifies every byte of the
// tables (verify.go), and then runs the passes on the module's code and initial memory. A pass
// works on a copy, which is used only if the pass succeeds.
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
//     prefix in Options.Keep, are not changed.
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
// All passes but segments rely on facts that were verified for some versions of Go (see verified): the layout of the
// runtime's tables, their readers, and the points at which compiled functions can be entered. The version is read from
// the program, where linker and runtime must agree, or given by a test. For other versions these passes are left out.
// The pass segments relies on the WebAssembly specification alone: memory is zero until the data segments are laid out,
// before anything runs, so other segments that make the same memory are equivalent. It runs for any version and for
// programs of other compilers. It refuses imported memories, and segments that are laid out while the program runs.
//
// A verified version is checked too. Before any change, the tables are read from the head to the end, and every word
// that is read or written must agree with the layout: parts end where the next ones begin, offsets point to the starts
// of names and tables, the tables of a function cover the places of its code, functions resume after panics where they
// call runtime.deferreturn, data have the form of their kind, and nothing is left over. One word more or less in
// runtime.moduledata, in the head, or in the records is noticed (verify_test.go tries all), and the passes are left
// out.
//
// Three more steps were built and rejected, because the 9 % that they save are not worth their risks: packing the
// runtime's function records by columns and unpacking them at the start, clearing the descriptions of types that never
// reach an interface, and computing a table of powers of ten. Binaryen's wasm-opt makes the compressed program larger.
package passes
