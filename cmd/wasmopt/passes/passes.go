package passes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"memtide/cmd/wasmopt/flow"
	"memtide/cmd/wasmopt/module"
)

// Pass is one rewriting of a program. The documentation of the package describes each.
type Pass struct {
	Name string
	// tables reports that the pass relies on the runtime's tables, and on other properties that
	// were verified for a version of Go. Other passes rely only on the WebAssembly
	// specification, and run for any version of Go and any compiler.
	tables bool
	run    func(p *program) (done string, err error)
}

// Passes returns all passes in their order.
func Passes() []Pass {
	return []Pass{
		{"jumps", true, (*program).jumps},
		{"inlined", true, (*program).dropInlined},
		{"names", true, (*program).shareNames},
		{"search", true, (*program).coarsenSearch},
		{"lines", true, (*program).dropLines},
		{"segments", false, (*program).joinSegments},
	}
}

// Options configure Run.
type Options struct {
	Skip []string         // names of the passes to leave out
	Go   string           // the version of Go that made the program; "" to find it in the program
	Keep []string         // prefixes of functions' names to keep, besides main.
	Size func([]byte) int // measure of a program for Outcome; nil for its bytes
}

// Outcome is what a pass did.
type Outcome struct {
	Pass          string
	Before, After int    // size of the program
	Done          string // more about it in words, or ""
	LeftOut       string // why the pass did nothing; "" if it ran
}

// Report is what Run did to a program.
type Report struct {
	Go    string    // the version of Go that made it; "" if unknown
	Steps []Outcome // one for each pass
}

// LeftOut returns the steps of passes that did nothing although the options did not skip them.
func (r *Report) LeftOut() []Outcome {
	return slices.DeleteFunc(slices.Clone(r.Steps),
		func(s Outcome) bool { return s.LeftOut == "" || s.LeftOut == notAsked })
}

const notAsked = "not asked for"

// program is a module while it is rewritten. A pass that returns an error has not changed it.
type program struct {
	options  Options
	sections []module.Section
	memory   []byte // the initial memory; nil if it is empty or not known
	packed   bool   // the data section equals memory
	tables   *tables
	bodies   [][]byte // of functions
	imported int
	parsed   []*flow.Function
}

// Run rewrites a program. It returns an error if file is not a WebAssembly module. Anything else
// that a pass does not support leaves the pass out, with the reason in the report. If all passes
// are left out, Run returns file itself.
func Run(file []byte, o Options) ([]byte, *Report, error) {
	sections, err := module.Read(file)
	if err != nil {
		return nil, nil, err
	}
	p := &program{options: o, sections: sections, packed: true}
	if o.Size == nil {
		o.Size = func(b []byte) int { return len(b) }
	}
	report := &Report{Go: o.Go}
	refused := p.prepare(report)
	out, size := file, o.Size(file)
	for _, pass := range Passes() {
		step := Outcome{Pass: pass.Name, Before: size, After: size}
		switch {
		case slices.Contains(o.Skip, pass.Name):
			step.LeftOut = notAsked
		case pass.tables && refused != nil:
			step.LeftOut = refused.Error()
		default:
			if step.Done, err = pass.run(p); err != nil {
				step.LeftOut = err.Error()
				break
			}
			out = p.write()
			size = o.Size(out)
			step.After = size
		}
		report.Steps = append(report.Steps, step)
	}
	return out, report, nil
}

// prepare reads what the passes rely on. An error is why those that rely on tables cannot run.
func (p *program) prepare(report *Report) (err error) {
	if p.memory, err = module.InitialMemory(p.sections); err != nil {
		return err
	}
	if report.Go == "" {
		if report.Go, err = madeBy(p.sections, p.memory); err != nil {
			return err
		}
	}
	if !IsVerified(report.Go) {
		return fmt.Errorf("the layout of %s has not been verified, only that of %q", report.Go, Verified())
	}
	if p.bodies, p.imported, err = module.Functions(p.sections); err != nil {
		return err
	}
	p.parsed = make([]*flow.Function, len(p.bodies))
	for i, b := range p.bodies {
		p.parsed[i] = flow.Parse(i, b)
	}
	p.tables, err = readTables(p.memory, p.parsed, p.imported)
	return err
}

// writtenGap is the largest gap of zeros that Go's linker writes out.
const writtenGap = 7

// write returns the current program. If a pass has changed the memory, write splits it as the
// linker does; joinSegments replaces that later.
func (p *program) write() []byte {
	if !p.packed {
		p.setSection(module.Data, module.WriteMemory(p.memory, writtenGap))
		p.packed = true
	}
	return module.Write(p.sections)
}

func (p *program) setSection(id byte, body []byte) {
	p.sections[module.Find(p.sections, id)].Body = body
}

// edit makes a pass change a copy of the memory, which replaces the memory unless an offset was
// invalid.
func (p *program) edit(change func(t *tables)) error {
	t := *p.tables
	t.b = bytes.Clone(p.memory)
	if change(&t); t.bad {
		return fmt.Errorf("an offset in the tables of functions leads out of them")
	}
	p.memory, p.packed, p.tables.b = t.b, false, t.b
	return nil
}

// jumps gives functions direct jumps (package flow). In the tables it needs the place where a
// function continues after a panic: at its call of runtime.deferreturn.
func (p *program) jumps() (string, error) {
	afterPanic := make([]int, len(p.bodies))
	known := 0
	for i := range afterPanic {
		afterPanic[i] = p.tables.word(p.tables.function(i) + funcDeferReturn)
		if p.parsed[i] != nil {
			known++
		}
	}
	bodies := slices.Clone(p.bodies)
	flow.Direct(bodies, p.parsed, p.imported, afterPanic)
	p.bodies = bodies
	p.setSection(module.Code, module.WriteFunctions(bodies))
	return fmt.Sprintf("%d of %d functions", known, len(bodies)), nil
}

const searchEach = 64

// coarsenSearch makes the search for the function of an instruction (runtime.findfunc) start a
// little earlier, at every 64th function: from there it goes through the list, and the table of
// starts becomes almost all zeros. The last, incomplete bucket stays.
func (p *program) coarsenSearch() (string, error) {
	return "", p.edit(func(t *tables) {
		for i := range (t.mod(modMaxPC) - t.mod(modMinPC)) / bucketPlaces {
			at := t.buckets.at + i*bucketSize
			t.setWord(at, t.word(at)/searchEach*searchEach)
		}
	})
}

// joinWithin is the largest gap of zeros, in bytes, that joinSegments writes out.
const joinWithin = 64

// joinSegments writes the initial memory in few segments. Go's linker writes up to 100,000, one
// for every range between some zeros. Each has an address and a length, which hardly compress,
// while the zeros between would cost nothing: joined, the file is larger and its compressed
// forms are smaller.
//
// It relies only on the specification: a module's own memory is zero until its data segments, in
// their order, are laid out before anything runs, so any segments that make the same memory do
// the same. module.InitialMemory refuses what would make a difference: imported memories,
// segments that are laid out later or elsewhere, and those that do not fit.
func (p *program) joinSegments() (string, error) {
	if p.memory == nil {
		return "", errors.New("the initial memory is empty, or not known")
	}
	p.setSection(module.Data, module.WriteMemory(p.memory, joinWithin))
	p.packed = true
	return "", nil
}

// Verified returns the versions of Go for whose programs all passes may run. The layout of the
// runtime's tables is checked in every program, word by word (verify.go). A program does not
// show what its runtime and its compiler do with the tables. To verify a version, check with
// that version in place (GOTOOLCHAIN=go1.27.0):
//
//   - go test ./cmd/wasmopt/... passes except for the test that asks for this list. It
//     rewrites programs with difficult control flow (gotos into loops, recovered panics,
//     switched goroutines, grown stacks, collections) and compares their output;
//   - who reads what the passes clear (runtime: funcname, funcline, pcdatavalue,
//     funcdata, findfunc; names compared in runtime/traceback.go and stkframe.go) is as
//     before: only tracebacks read it;
//   - where a function may be entered is as before (cmd/internal/obj/wasm/wasmobj.go
//     and cmd/compile/internal/wasm/ssa.go): at its start, after calls that can
//     switch, and at its call of runtime.deferreturn.
//
// Then add its name. Minor releases (go1.26.9) are versions of their own.
func Verified() []string { return []string{"go1.26.8", "go1.26.0"} }

// madeBy returns the version of Go that made a program. The linker writes it into the section
// producers, and the runtime has it in a text that the variable runtime.buildVersion points to,
// which also names experiments. Both have to agree.
func madeBy(sections []module.Section, memory []byte) (string, error) {
	version := producer(module.Named(sections, "producers"))
	if version == "" {
		return "", errors.New("the program does not say which version of Go made it (its section producers); -go says it")
	}
	for at := 0; ; at++ {
		i := bytes.Index(memory[at:], []byte(version))
		if i < 0 {
			return "", fmt.Errorf("the program says that %s linked it, and has no runtime that says so", version)
		}
		at += i
		header := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at)),
			uint64(len(version)))
		if bytes.Contains(memory, header) {
			return version, nil
		}
	}
}

// producer returns the version of Go's compiler in a section producers
// (github.com/WebAssembly/tool-conventions, ProducersSection.md), or "" for other compilers.
func producer(section []byte) (version string) {
	r := &module.Reader{B: section}
	text := func() string { return string(r.Take(int(r.Unsigned()))) }
	for range r.Unsigned() {
		field := text()
		for range r.Unsigned() {
			name, v := text(), text()
			if field == "processed-by" && name == "Go cmd/compile" {
				version = v
			}
			if r.Err != nil {
				return ""
			}
		}
		if r.Err != nil {
			return ""
		}
	}
	return version
}

// IsVerified reports whether all passes may run for programs of a version of Go.
func IsVerified(version string) bool { return slices.Contains(Verified(), version) }
