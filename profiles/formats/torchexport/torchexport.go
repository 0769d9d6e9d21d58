// Package torchexport reads programs of torch.export: the forward pass as ATen operators with
// the shapes of all tensors. Package onnx derives memory and times, as for an ONNX model.
package torchexport

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/onnx"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// Limits of a program, far above the sizes of networks.
const (
	mostNodes = 50_000
	mostDims  = 16
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "torchexport",
		Title:      "torch.export program",
		Doc:        "A network as the ATen operators that torch.export traced: exact sizes, times from a model.",
		Extensions: []string{".pt2", ".json", ".pt2.gz"},
		MaxSize:    profiles.MaxSize,
		Match:      match,
		Decode:     decode,
	})
}

// Marks of the parts of a zip archive: a file, an entry of the directory at the end, and the end of the directory.
const (
	entry   = "PK\x03\x04"
	listing = "PK\x01\x02"
	ending  = "PK\x05\x06"
)

// oldProgram is the name of the program in archives of PyTorch 2.1 to 2.7.
const oldProgram = "serialized_exported_program.json"

// match claims an archive of torch.export by its first file, and the JSON of a program.
func match(head []byte) bool {
	if !bytes.HasPrefix(head, []byte(entry)) || len(head) < 30 {
		for key := range jsonfile.Outer(head) {
			return key == "graph_module"
		}
		return false
	}
	n := min(30+int(binary.LittleEndian.Uint16(head[26:])), len(head))
	_, name, inside := strings.Cut(string(head[30:n]), "/")
	for _, begin := range []string{"models/", "data/weights/", "data/constants/", "data/sample_inputs/",
		"data/aotinductor/", "archive_"} {
		if inside && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return string(head[30:n]) == oldProgram
}

func decode(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	errs := parse.NewErrors(len(data))
	if bytes.HasPrefix(data, []byte(entry)) {
		data = unzip(data, errs)
	}
	top := jsonfile.Open(data, errs)
	r := &reader{poll: poll, errs: errs,
		t: &onnx.Traced{Tool: "torch.export program", Budget: errs.Budget}}
	if v := top.Object("schema_version").Count("major", parse.Samples); v < 5 || v > 8 {
		errs.Fail(&profiles.FormatError{Path: "schema_version.major",
			Found:    fmt.Sprintf("The program has version %d of its schema", v),
			Expected: "Versions 5 to 8 are read, as PyTorch writes them from 2.4 on.",
			Remedy:   "Export the program with such a version of PyTorch."})
	}
	if version := top.Text("torch_version"); version != "" {
		r.t.Producer = "PyTorch " + version
	}
	module := top.Raw("graph_module")
	if module == nil || module.Raw("graph") == nil || module.Raw("signature") == nil {
		errs.Fail(&profiles.FormatError{Path: "graph_module", Found: "The program has no graph or no signature",
			Expected: "A program of torch.export is expected.",
			Remedy:   "Save the program again."})
	}
	r.graph(module.Raw("graph"), module.Raw("signature"))
	p := r.t.Profile(name, len(data), poll)
	if r.evaluation {
		p.Warn("The program was exported in evaluation mode: training keeps more. Export model.train().")
	}
	return p
}

// unzip returns the program in an archive.
func unzip(data []byte, errs *parse.Errors) []byte {
	damaged := &profiles.FormatError{Found: "The archive has no list of its files, or a wrong one",
		Expected: "A complete .pt2 archive is expected.",
		Remedy:   "Copy or download the file again."}
	end := bytes.LastIndex(data, []byte(ending))
	if end < 0 || len(data)-end < 22 {
		errs.Fail(damaged)
	}
	number := func(at, bytes int) int {
		if at < 0 || at+bytes > len(data) {
			errs.Fail(damaged)
		}
		if bytes == 2 {
			return int(binary.LittleEndian.Uint16(data[at:]))
		}
		return int(binary.LittleEndian.Uint32(data[at:]))
	}
	at := number(end+16, 4)
	for at+46 <= end && string(data[at:at+4]) == listing {
		length := number(at+28, 2)
		next := at + 46 + length + number(at+30, 2) + number(at+32, 2)
		if next > end {
			errs.Fail(damaged)
		}
		name := string(data[at+46 : at+46+length])
		if _, inside, ok := strings.Cut(name, "/"); name == oldProgram || ok &&
			strings.HasPrefix(inside, "models/") && strings.HasSuffix(inside, ".json") {
			if number(at+10, 2) != 0 {
				errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("The file %s of the archive is compressed",
					profiles.Clip(name)),
					Expected: "PyTorch stores it as it is.", Remedy: "Unpack the archive, and open this file."})
			}
			from := number(at+42, 4)
			from += 30 + number(from+26, 2) + number(from+28, 2)
			size := number(at+20, 4)
			if from+size > len(data) {
				errs.Fail(damaged)
			}
			return data[from : from+size]
		}
		at = next
	}
	errs.Fail(&profiles.FormatError{Found: "The archive has no exported program",
		Expected: "models/model.json is expected in it.",
		Remedy:   "Save what torch.export.export returns with torch.export.save."})
	return nil
}

// The parts of a program that are read, under their names in torch/_export/serde/schema.py.
type (
	named struct{ Name string }
	// argument is an argument of an operator or of a graph. One field is set.
	argument struct {
		Tensor    *named  `json:"as_tensor"`
		Tensors   []named `json:"as_tensors"`
		Optionals []struct {
			Tensor *named `json:"as_tensor"`
		} `json:"as_optional_tensors"`
		None  bool    `json:"as_none"`
		Bool  *bool   `json:"as_bool"`
		Int   *int64  `json:"as_int"`
		Ints  []int64 `json:"as_ints"`
		Float any     `json:"as_float"`
		Graph *struct {
			Graph graph
		} `json:"as_graph"`
		SymInt  json.RawMessage `json:"as_sym_int"`
		SymInts json.RawMessage `json:"as_sym_ints"`
	}
	node struct {
		Target string
		Inputs []struct {
			Name string
			Arg  argument
		}
		Outputs  []argument
		Metadata map[string]string
	}
	// meta is the type and the shape of a tensor.
	meta struct {
		DType int
		Sizes []struct {
			Int  *int64 `json:"as_int"`
			Expr *struct {
				Text string `json:"expr_str"`
			} `json:"as_expr"`
		}
		RequiresGrad bool `json:"requires_grad"`
	}
	// graph is a graph within an operator.
	graph struct {
		Inputs, Outputs []argument
		Nodes           []node
		Tensors         map[string]meta `json:"tensor_values"`
	}
	inputSpec struct {
		Parameter, Buffer *struct{ Arg named }
		Constant          *struct{ Arg named }    `json:"tensor_constant"`
		User              *struct{ Arg argument } `json:"user_input"`
	}
)

// types maps PyTorch's types of elements to those of ONNX.
var types = map[int]int64{1: 2, 2: 3, 3: 5, 4: 6, 5: 7, 6: 10, 7: 1, 8: 11, 9: 12, 10: 14, 11: 15, 12: 9, 13: 16,
	28: 4, 29: 17, 30: 19, 31: 18, 32: 20}

// tensors returns the names of the tensors of an argument, with "" for an omitted one.
func (a *argument) tensors() (names []string) {
	if a.Tensor != nil {
		names = append(names, a.Tensor.Name)
	}
	for _, t := range a.Tensors {
		names = append(names, t.Name)
	}
	for _, t := range a.Optionals {
		if t.Tensor == nil {
			names = append(names, "")
			continue
		}
		names = append(names, t.Tensor.Name)
	}
	if a.None {
		names = append(names, "")
	}
	return names
}
