// Package enginetest holds the test vectors and generators of random chains and graphs. The tests of several
// packages share them. They are not part of the program.
package enginetest

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"memtide/engine"
)

//go:embed testdata/vectors/*.json
var vectorFiles embed.FS

// Vector is one case of a vector file: an instance and the values that were proven for it. Which fields are set
// depends on Algorithm; see the README in testdata/vectors. Times and sizes are in the units of the file. Chain and
// Problem convert them to the engine's units.
type Vector struct {
	ID        string  `json:"id"`
	Algorithm string  `json:"algorithm"`
	A0        int64   `json:"a0"`     // size of the network's input
	Delta0    int64   `json:"delta0"` // size of its gradient
	Stages    []Stage `json:"stages"`
	Budget    *int64  `json:"budget"`    // nil: no limit
	Bandwidth int64   `json:"bandwidth"` // bytes per unit of time; 1 where the file has none

	Set      []int        `json:"set"`      // offload-set, vdnn: indices i of the offloaded x_i
	Segments int          `json:"segments"` // sequential
	Sequence []SequenceOp `json:"sequence"` // simulate
	Conv     []bool       `json:"conv"`     // vdnn: is layer i a convolution
	Scheme   string       `json:"scheme"`   // vdnn: all, conv or aconv

	// window: the functions of paper 004 over named variables.
	Functions [][]string       `json:"functions"`
	Sizes     map[string]int64 `json:"sizes"`
	Durations []int64          `json:"durations"`
	OnCPU     []string         `json:"on_cpu"`
	Window    int64            `json:"window"`
	LMS       *LMS             `json:"lms"`

	// Expect holds the expected values by name. Values that were not computed are absent.
	Expect map[string]json.RawMessage `json:"expect"`
}

// Stage is a stage of a vector, in the papers' letters.
type Stage struct {
	UF    int64 `json:"uF"`
	UB    int64 `json:"uB"`
	A     int64 `json:"a"`
	Abar  int64 `json:"abar"`
	Delta int64 `json:"delta"`
	OF    int64 `json:"oF"`
	OB    int64 `json:"oB"`
}

// LMS are the parameters of paper 004's baseline.
type LMS struct {
	SwapoutThreshold int `json:"swapout_threshold"`
	SwapinAhead      int `json:"swapin_ahead"`
}

// SequenceOp is an operation of Table 1 of paper 002; in the files it is a pair such as ["Fall", 3].
type SequenceOp engine.ChainOp

// UnmarshalJSON reads a pair of name and stage.
func (o *SequenceOp) UnmarshalJSON(data []byte) error {
	var name string
	pair := []any{&name, &o.Stage}
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("operation %s is not a name and a stage", data)
	}
	kind, ok := map[string]engine.ChainOpKind{"Fall": engine.FAll, "Fck": engine.FCk, "Fn": engine.FNone,
		"B": engine.BStep}[name]
	if !ok {
		return fmt.Errorf("operation %s is called %q; expected Fall, Fck, Fn or B", data, name)
	}
	o.Kind = kind
	return nil
}

// Load reads a vector file of this package, such as "rotor_small". It panics if there is no such file or it cannot
// be read.
func Load(name string) []Vector {
	list := LoadAs[Vector](name)
	for i := range list {
		list[i].Bandwidth = cmp.Or(list[i].Bandwidth, 1)
	}
	return list
}

// LoadAs is Load for vectors with fields that only the tests of one package read.
func LoadAs[T any](name string) []T {
	var file struct{ Vectors []T }
	data, err := vectorFiles.ReadFile(path.Join("testdata/vectors", name+".json"))
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		panic("enginetest: " + name + ": " + err.Error())
	}
	return file.Vectors
}

// Chain returns the vector's chain in the engine's units. A time u becomes u*Bandwidth nanoseconds, so that a
// transfer of s bytes lasts s nanoseconds on Device and the files' scaled values are nanoseconds.
func (v *Vector) Chain() *engine.Chain {
	c := &engine.Chain{Name: v.ID, Input: engine.Bytes(v.A0), InputGrad: engine.Bytes(v.Delta0)}
	switch v.Algorithm {
	case "offload-all", "offload-set", "offload-gadget", "vdnn": // papers 000 and 003 have no loss stage
		c.LossGradAllocated = true
	}
	for i, s := range v.Stages {
		st := engine.Stage{
			Name:    fmt.Sprintf("stage%d", i+1),
			Forward: time.Duration(s.UF * v.Bandwidth),
			Back:    time.Duration(s.UB * v.Bandwidth),
			Out:     engine.Bytes(s.A),
			Saved:   engine.Bytes(s.Abar),
			Grad:    engine.Bytes(s.Delta),
			FwdTemp: engine.Bytes(s.OF),
			BwdTemp: engine.Bytes(s.OB),
		}
		if i < len(v.Conv) && v.Conv[i] {
			st.Kind = "conv"
		}
		c.Stages = append(c.Stages, st)
	}
	return c
}

// BudgetBytes returns the vector's budget; engine.NoLimit if it has none.
func (v *Vector) BudgetBytes() engine.Bytes {
	if v.Budget == nil {
		return engine.NoLimit
	}
	return engine.Bytes(*v.Budget)
}

// Problem returns the vector's chain on Device with half duplex, as in the papers.
func (v *Vector) Problem(t engine.Transfers) *engine.Problem {
	return engine.NewChainProblem(v.Chain(), Device(engine.HalfDuplex), t, v.BudgetBytes())
}

// Ops returns the vector's sequence for engine.ChainGraph.CompileSequence.
func (v *Vector) Ops() []engine.ChainOp {
	ops := make([]engine.ChainOp, len(v.Sequence))
	for i, o := range v.Sequence {
		ops[i] = engine.ChainOp(o)
	}
	return ops
}

// ExpectInt returns an expected whole number. ok is false if the field is null or absent: the case is infeasible,
// or the value was not computed.
func (v *Vector) ExpectInt(field string) (n int64, ok bool) {
	ok = v.expect(field, &n)
	return n, ok
}

// ExpectBool returns an expected truth value. ok is false if the field is null or absent.
func (v *Vector) ExpectBool(field string) (b, ok bool) {
	ok = v.expect(field, &b)
	return b, ok
}

// expect stores an expected value in to. It returns false if the field is null or absent.
func (v *Vector) expect(field string, to any) bool {
	raw, has := v.Expect[field]
	if !has || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, to); err != nil {
		panic(fmt.Sprintf("enginetest: %s: expect.%s is %s: %v", v.ID, field, raw, err))
	}
	return true
}

// Units converts a duration to the vector's units of time, the inverse of Chain. It panics if the result is not a
// whole number.
func (v *Vector) Units(d time.Duration) int64 {
	if int64(d)%v.Bandwidth != 0 {
		panic(fmt.Sprintf("enginetest: %s: %d ns is no multiple of %d", v.ID, d, v.Bandwidth))
	}
	return int64(d) / v.Bandwidth
}

// Graph returns the graph of a vector of paper 004: functions in order, each with its variables. A variable that is
// not on the host when the step begins is made by the first function that names it. A unit of time is a nanosecond.
func (v *Vector) Graph() *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	ids := map[string]engine.ValueID{}
	for i, names := range v.Functions {
		op := engine.Op{Name: fmt.Sprintf("f%d", i), Time: time.Duration(v.Durations[i])}
		for _, name := range names {
			id, known := ids[name]
			onHost := slices.Contains(v.OnCPU, name)
			if !known {
				id = engine.ValueID(len(g.Values))
				ids[name] = id
				val := engine.Value{Name: name, Size: engine.Bytes(v.Sizes[name]), PartOf: engine.NoValue}
				if onHost {
					val.Initial = engine.OnHost
				}
				g.Values = append(g.Values, val)
			}
			if known || onHost {
				op.In = append(op.In, id)
			} else {
				op.Out = append(op.Out, id)
			}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}
