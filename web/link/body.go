package link

import (
	"slices"

	"memtide/engine"
	"memtide/profiles"
	"memtide/web/choice"
)

// The body of a blob holds a chain profile exactly: times to the nanosecond, sizes to the byte. Numbers
// are stored in columns, as differences from a predictor: the row before, or once or twice an earlier
// column, because a backward takes about two forwards and a gradient has the size of its output. Names
// are stored as runs: h.0, h.1, h.2 is one name and two tokens.

// encodeBody returns the body of a chain profile and the version of its layout.
func encodeBody(p *profiles.Profile) (body []byte, version byte) {
	c := p.Chain
	w := &writer{pack: newPacker()}
	w.about(p)
	for _, n := range header(p, c) {
		w.uint(uint64(*n))
	}
	flags := uint64(0)
	if c.LossGradAllocated {
		flags = flagBorn
	}
	if c.Name == p.Name {
		w.uint(flags)
	} else {
		w.uint(flags | flagNamed)
		w.text(c.Name)
	}
	w.uint(uint64(len(c.Stages)))
	names, kinds := make([]string, len(c.Stages)), make([]string, len(c.Stages))
	for i := range c.Stages {
		names[i], kinds[i] = c.Stages[i].Name, c.Stages[i].Kind
	}
	w.names(names, false)
	w.names(kinds, false)
	var table [7][]int64
	for i := range c.Stages {
		s := c.Stages[i]
		for col, v := range columns(&s) {
			table[col] = append(table[col], *v)
		}
	}
	for col := range table {
		w.column(table[:col], table[col])
	}
	version = plainVersion
	for i := range extras {
		if w.extra(&extras[i], c.Stages) {
			version = blobVersion
		}
	}
	return w.b, version
}

// header returns pointers to the numbers that a profile has once.
func header(p *profiles.Profile, c *engine.Chain) []*int64 {
	r, batch := &c.Resident, int64(p.Batch)
	return []*int64{&batch, (*int64)(&c.Input), (*int64)(&c.InputGrad), (*int64)(&r.Weights), (*int64)(&r.Grads),
		(*int64)(&r.Optimizer), (*int64)(&r.Pinned)}
}

func decodeBody(b []byte, version byte, budget *profiles.Budget) (*profiles.Profile, error) {
	r := &bodyReader{b: b, budget: budget}
	c := &engine.Chain{}
	p := r.about()
	p.Chain = c
	h := header(p, c)
	for _, n := range h {
		*n = int64(r.uint())
	}
	p.Batch = int(*h[0])
	c.Batch = p.Batch
	flags := r.uint()
	c.LossGradAllocated, c.Name = flags&flagBorn != 0, p.Name
	if flags&flagNamed != 0 {
		c.Name = r.name("the name of the chain")
	}
	n := r.count(2)
	if n > engine.MaxStages {
		return nil, choice.Sentence("This link's profile has %d stages; at most %d are read.", n, engine.MaxStages)
	}
	c.Stages = make([]engine.Stage, n)
	names, kinds := r.names("the name of stage", n, false), r.names("the kind of stage", n, false)
	var table [7][]int64
	for col := range table {
		table[col] = r.column(table[:col], n)
	}
	for version > plainVersion && len(r.b) > 0 {
		r.extra(c.Stages)
	}
	return r.ended(p, func() error {
		for i := range c.Stages {
			c.Stages[i].Name, c.Stages[i].Kind = names[i], kinds[i]
			for col, v := range columns(&c.Stages[i]) {
				*v = table[col][i]
			}
		}
		return c.Validate()
	})
}

// about writes the metadata of a profile.
func (w *writer) about(p *profiles.Profile) {
	for _, s := range []string{p.Name, p.DType, p.Format, p.Source.Tool, string(p.Source.Times),
		string(p.Source.Sizes), p.Source.Device, p.Source.URL} {
		w.text(s)
	}
	w.texts(p.Source.Notes)
	w.texts(p.Warnings)
	w.device(p.Device)
}

// about reads the metadata of a profile.
func (r *bodyReader) about() *profiles.Profile {
	p := &profiles.Profile{}
	var times, sizes string
	for _, s := range []*string{&p.Name, &p.DType, &p.Format, &p.Source.Tool, &times, &sizes, &p.Source.Device} {
		*s = r.name("a name")
	}
	p.Source.URL = r.text("the URL")
	p.Source.Times, p.Source.Sizes = profiles.Origin(times), profiles.Origin(sizes)
	p.Source.Notes, p.Warnings = r.texts("notes"), r.texts("warnings")
	p.Device = r.device()
	return p
}

// A body holds columns of all stages, and extras of some. A test fails if a field of
// engine.Stage is neither here nor a name or kind.

// columns returns pointers to the numbers that every stage has, for encoding and decoding.
func columns(s *engine.Stage) [7]*int64 {
	return [7]*int64{(*int64)(&s.Forward), (*int64)(&s.Back), (*int64)(&s.Out), (*int64)(&s.Saved),
		(*int64)(&s.Grad), (*int64)(&s.FwdTemp), (*int64)(&s.BwdTemp)}
}

// extra is a property that only some stages have. After the columns, the body holds each extra that any stage has: its
// number, a column of 0 and 1 that says which stages have it, and columns of its values for these stages. A profile
// with extras has the layout blobVersion. All others have plainVersion, as links had before extras existed.
type extra struct {
	number  uint64 // identifies the extra in links; never changes
	has     func(s *engine.Stage) bool
	give    func(s *engine.Stage)
	numbers func(s *engine.Stage) []*int64 // pointers to the values of a stage that has the extra
}

// extras lists the extras in the order of their numbers.
var extras = [...]extra{
	{number: 1,
		has:  func(s *engine.Stage) bool { return s.Fast != nil },
		give: func(s *engine.Stage) { s.Fast = new(engine.Algorithm) },
		numbers: func(s *engine.Stage) []*int64 {
			f := s.Fast
			return []*int64{(*int64)(&f.Forward), (*int64)(&f.Back), (*int64)(&f.FwdTemp), (*int64)(&f.BwdTemp)}
		}},
	{number: 2,
		has:  func(s *engine.Stage) bool { return s.Unsaved },
		give: func(s *engine.Stage) { s.Unsaved = true }, numbers: func(*engine.Stage) []*int64 { return nil }},
}

// extra writes an extra of stages. It writes nothing and returns false if no stage has it.
func (w *writer) extra(x *extra, stages []engine.Stage) bool {
	which := make([]int64, len(stages))
	var table [][]int64
	some := false
	for i := range stages {
		if !x.has(&stages[i]) {
			continue
		}
		which[i], some = 1, true
		for col, v := range x.numbers(&stages[i]) {
			if col == len(table) {
				table = append(table, nil)
			}
			table[col] = append(table[col], *v)
		}
	}
	if !some {
		return false
	}
	w.uint(x.number)
	w.column(nil, which)
	for col := range table {
		w.column(table[:col], table[col])
	}
	return true
}

func (r *bodyReader) extra(stages []engine.Stage) {
	number := r.uint()
	if i := slices.IndexFunc(extras[:], func(x extra) bool { return x.number == number }); i >= 0 {
		r.give(&extras[i], stages)
	} else if !r.bad {
		r.fail()
		r.err = choice.Sentence("This link needs a newer version of this page: its stages have something that this one does not know. Reload the page.")
	}
}

// give reads which stages have x, and its values.
func (r *bodyReader) give(x *extra, stages []engine.Stage) {
	var numbers [][]*int64 // of the stages that have the extra
	for i, yes := range r.column(nil, len(stages)) {
		if r.bad || yes == 0 {
			continue
		}
		s := &stages[i]
		if yes != 1 || x.has(s) { // encodeBody writes no other values, and no extra twice
			r.fail()
			return
		}
		x.give(s)
		numbers = append(numbers, x.numbers(s))
	}
	if len(numbers) == 0 {
		return
	}
	var table [][]int64
	for col := range numbers[0] {
		table = append(table, r.column(table, len(numbers)))
		for i, v := range table[col] {
			*numbers[i][col] = v
		}
	}
}
