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

// pass is one rewriting of a program. The documentation of the package describes each.
type pass struct {
	name string
	// tables reports that the pass relies on the runtime's tables, and on other properties that
	// were verified for a version of Go. Other passes rely only on the WebAssembly
	// specification, and run for any version of Go and any compiler.
	tables bool
	run    func(p *program) error
}

// passes are all passes in their order.
var passes = []pass{
	{"jumps", true, (*program).jumps},
	{"inlined", true, (*program).dropInlined},
	{"names", true, (*program).shareNames},
	{"search", true, (*program).coarsenSearch},
	{"lines", true, (*program).dropLines},
	{"segments", false, (*program).joinSegments},
}

// Options configure Run. Only tests set the version of Go that made the program, and passes to skip.
type Options struct {
	Keep    []string // prefixes of functions' names to keep, besides main.
	version string   // "" to find it in the program
	skip    []string // names of passes
}

// LeftOut is a pass that did nothing, and why.
type LeftOut struct{ Pass, Why string }

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

// Run rewrites a program. It returns an error if file is not a WebAssembly module. Anything else that a pass does not
// support leaves the pass out. If all passes are left out, Run returns file itself.
func Run(file []byte, o Options) (out []byte, left []LeftOut, err error) {
	p := &program{options: o, packed: true}
	if p.sections, err = module.Read(file); err != nil {
		return nil, nil, err
	}
	refused := p.prepare()
	ran := false
	for _, pass := range passes {
		if slices.Contains(o.skip, pass.name) {
			continue
		}
		err := refused
		if !pass.tables || refused == nil {
			err = pass.run(p)
		}
		if ran = ran || err == nil; err != nil {
			left = append(left, LeftOut{pass.name, err.Error()})
		}
	}
	if !ran {
		return file, left, nil
	}
	if !p.packed { // split the memory as the linker does
		p.setSection(module.Data, module.WriteMemory(p.memory, writtenGap))
	}
	return module.Write(p.sections), left, nil
}

// prepare reads what the passes rely on. An error is why those that rely on tables cannot run.
func (p *program) prepare() (err error) {
	if p.memory, err = module.InitialMemory(p.sections); err != nil {
		return err
	}
	version := p.options.version
	if version == "" {
		if version, err = madeBy(p.sections, p.memory); err != nil {
			return err
		}
	}
	if !slices.Contains(verified, version) {
		return fmt.Errorf("the layout of %s has not been verified, only that of %q", version, verified)
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

func (p *program) setSection(id byte, body []byte) {
	p.sections[module.Find(p.sections, id)].Body = body
}

// edit makes a pass change a copy of the memory, which replaces the memory unless an offset was invalid.
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
func (p *program) jumps() error {
	afterPanic := make([]int, len(p.bodies))
	for i := range afterPanic {
		afterPanic[i] = p.tables.word(p.tables.function(i) + funcDeferReturn)
	}
	p.bodies = slices.Clone(p.bodies)
	flow.Direct(p.bodies, p.parsed, p.imported, afterPanic)
	p.setSection(module.Code, module.WriteFunctions(p.bodies))
	return nil
}

// coarsenSearch makes the search for the function of an instruction (runtime.findfunc) start a
// little earlier, at every 64th function: from there it goes through the list, and the table of
// starts becomes almost all zeros. The last, incomplete bucket stays.
func (p *program) coarsenSearch() error {
	const searchEach = 64
	return p.edit(func(t *tables) {
		for i := range (t.mod(modMaxPC) - t.mod(modMinPC)) / bucketPlaces {
			at := t.buckets.at + i*bucketSize
			t.setWord(at, t.word(at)/searchEach*searchEach)
		}
	})
}

// joinSegments writes the initial memory in few segments. Go's linker writes up to 100,000, one for every range between
// some zeros. Each has an address and a length, which hardly compress, while the zeros between would cost nothing:
// joined, the file is larger and its compressed forms are smaller.
//
// It relies only on the specification: a module's own memory is zero until its data segments, in their order, are laid
// out before anything runs, so any segments that make the same memory do the same. module.InitialMemory refuses what
// would make a difference: imported memories, segments that are laid out later or elsewhere, and those that do not fit.
func (p *program) joinSegments() error {
	const joinWithin = 64 // the largest gap of zeros, in bytes, that is written out
	if p.memory == nil {
		return errors.New("the initial memory is empty, or not known")
	}
	p.setSection(module.Data, module.WriteMemory(p.memory, joinWithin))
	p.packed = true
	return nil
}

// verified are the versions of Go for whose programs all passes may run. The layout of the runtime's tables is checked
// in every program, word by word (verify.go). A program does not show what its runtime and its compiler do with the
// tables. To verify a version, check with that version in place (GOTOOLCHAIN=go1.27.0):
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
var verified = []string{"go1.26.8", "go1.26.0"}

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
