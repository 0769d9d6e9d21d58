package profiles

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
)

// rejection is content that is refused, with the whole text of the error.
type rejection struct{ name, input, want string }

const csvHead = "name,forward_s,backward_s,output_bytes\n"

// nativeWith is a native file with one good stage and the given extra fields.
func nativeWith(fields string) string {
	return `{"format":"memtide/1","kind":"chain",` + fields +
		`"stages":[{"name":"one","forward_s":0.1,"backward_s":0.2,"output_bytes":4096}]}`
}

// stageWith is a native file whose second stage has the given fields.
func stageWith(fields string) string {
	return `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0",` + fields + `}]}`
}

// pdWith is a graph of an input and one operator with the given values.
func pdWith(values string) string {
	return "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n" +
		"node2 -- Linear(1, 1) -- " + values + "\n\tnode1 -- node2\n"
}

var rejections = []rejection{
	// CSV.
	{"negative time on line 14", csvHead + strings.Repeat("a,1,2,3\n", 12) + "b,-3,2,3\n",
		"Line 14: forward_s is -3. Times cannot be negative."},
	{"NaN in a table", csvHead + "a,1,nan,3\n", "Line 2: backward_s is nan. Times are finite numbers of seconds."},
	{"infinity in a table", csvHead + "a,-inf,1,3\n", "Line 2: forward_s is -inf. Times are finite numbers of seconds."},
	{"too large", csvHead + "a,1,1,9007199254740993\n", "Line 2: output_bytes is 9007199254740993. Sizes above 2^53 bytes are not read."},
	{"too long a time", csvHead + "a,9007200,1,1\n", "Line 2: forward_s is 9007200. Times above 2^53 nanoseconds are not read."},
	{"fraction of a byte", csvHead + "a,1,1,0.5\n", "Line 2: output_bytes is 0.5. Sizes are whole numbers of bytes."},
	{"a word", csvHead + "a,1,fast,3\n", `Line 2: backward_s is "fast". A number of seconds is expected.`},
	{"a unit", csvHead + "a,1,2,3 MiB\n", `Line 2: output_bytes is "3 MiB". A number of bytes is expected.`},
	{"an empty cell", csvHead + "a,,2,3\n", "Line 2: forward_s is empty. A number of seconds is expected."},
	{"decimal commas", strings.ReplaceAll(csvHead, ",", ";") + "a;0,5;1;3\n", `Line 2: forward_s is "0,5". A number of seconds is expected.`},
	{"a missing column", "name,forward_s,output_bytes\na,1,2\n",
		"Line 1: The column backward_s is missing; found are name, forward_s, output_bytes. The columns forward_s, backward_s and output_bytes are required."},
	{"a column twice", "forward_s,backward_s,output_bytes,forward_s\n1,2,3,4\n",
		"Line 1: The column forward_s stands there twice. Every column has its own name."},
	{"a short row", "# note\n" + csvHead + "\na,1,2\n", "Line 4: there are 3 cells, the header has 4. Every line has as many cells as the header."},
	{"a header that Match sees the beginning of", "#" + strings.Repeat("-", HeadSize-300) + "\n" + csvHead[:len(csvHead)-1] + strings.Repeat(",column", 20_000) + "\na,1,2,3\n",
		"The header line is longer than 64 KiB. At most 1000 columns are read."},
	{"an open quote", csvHead + "a,1,2,3\n\"b,1,2,3\n", "Line 3: a cell cannot be read (extraneous or missing \" in quoted-field). Cells with quotes need a closing quote."},
	{"only a header", csvHead, "There are no stages. At least one stage besides the loss is needed."},
	{"only a loss", csvHead + "Loss,1,2,3\n", "There are no stages. At least one stage besides the loss is needed."},
	{"a bad note", "# batch: many\n" + csvHead + "a,1,2,3\n", `Line 1: batch is "many". A number of samples is expected.`},
	{"the first five of seven", csvHead + strings.Repeat("a,-1,2,3\n", 7),
		"Line 2: forward_s is -1. Times cannot be negative.\nLine 3: forward_s is -1. Times cannot be negative.\n" +
			"Line 4: forward_s is -1. Times cannot be negative.\nLine 5: forward_s is -1. Times cannot be negative.\n" +
			"Line 6: forward_s is -1. Times cannot be negative.\nAnd 2 more errors."},

	// Native.
	{"an unknown version", `{"format":"memtide/2","stages":[]}`, `format is "memtide/2". This version reads "memtide/1".`},
	{"an unknown kind", `{"format":"memtide/1","kind":"waves"}`, `kind is "waves". The kinds that are read are chain, graph and buffers.`},
	{"a negative time in a stage", stageWith(`"forward_s":-3,"backward_s":1,"output_bytes":1`),
		"Stage 2 (layer1.0): forward_s is -3. Times cannot be negative."},
	{"NaN", "{\"format\":\"memtide/1\",\n\"stages\":[{\n\"forward_s\": NaN}]}", "Line 3: forward_s is NaN or infinite. Numbers are finite."},
	{"infinity", "{\"format\":\"memtide/1\",\n\"input_bytes\": -Infinity}", "Line 2: input_bytes is NaN or infinite. Numbers are finite."},
	{"a number in quotes", stageWith(`"forward_s":"3","backward_s":1,"output_bytes":1`),
		`Stage 2 (layer1.0): forward_s is "\"3\"". A number of seconds is expected.`},
	{"half a fast algorithm", stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"backward_s":1}`),
		"stages[1].fast.forward_s: forward_s is missing. A second algorithm has forward_s and backward_s."},
	{"a negative fast algorithm", stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"forward_s":1,"backward_s":-1}`),
		"stages[1].fast.backward_s: backward_s is -1. Times cannot be negative."},
	{"a fast algorithm that is none", stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":true`),
		"stages[1].fast: fast is true. An object { } is expected."},
	{"a missing number", stageWith(`"forward_s":3,"output_bytes":1`),
		"Stage 2 (layer1.0): backward_s is missing. Every stage needs forward_s, backward_s and output_bytes."},
	{"a negative size of the loss", nativeWith(`"loss":{"saved_bytes":-1},`), "Stage 2 (loss): saved_bytes is -1. Sizes cannot be negative."},
	{"a negative weight", nativeWith(`"resident":{"weights":-1},`), "resident.weights: weights is -1. Sizes cannot be negative."},
	{"a text for a batch", nativeWith(`"batch":"big",`), `batch is "\"big\"". A number of samples is expected.`},
	{"a list for a name", nativeWith(`"name":[1],`), "name is a list. A text in quotes is expected."},
	{"a word for a flag", nativeWith(`"device":{"duplex":"yes"},`), `device.duplex: duplex is "yes". true or false is expected.`},
	{"a text for an object", nativeWith(`"source":"me",`), `source is "me". An object { } is expected.`},
	{"a text for a list", nativeWith(`"source":{"notes":"x"},`), `source.notes: notes is "x". A list [ ] is expected.`},
	{"a number in a list of texts", nativeWith(`"warnings":["x",{}],`), "warnings[1] is an object. A text in quotes is expected."},
	{"no stages", `{"format":"memtide/1"}`, "stages is missing or no list. A list of stages is expected."},
	{"an empty list", `{"format":"memtide/1","stages":[]}`, "There are no stages. At least one stage besides the loss is needed."},
	{"a stage that is none", `{"format":"memtide/1","stages":[17]}`,
		"stages[0] is 17. An object with forward_s, backward_s and output_bytes is expected."},
	{"half a file", `{"format":"memtide/1","stages":[{"forward_s":`, "Line 1: the file ends early. A complete JSON object is expected."},
	{"a comma too many", "{\"format\":\"memtide/1\",\n\"stages\":[],}",
		"Line 2: this is not valid JSON (invalid character '}' looking for beginning of object key string). One JSON object is expected."},
	{"too long in sum", csvHead + strings.Repeat("a,9007199,0,1\n", 600), "The profile cannot be used: the times add up to 171 years, the longest is the forward of stage 1 (a) with 104 days; at most 104 days are understood. The sizes and times of one training step are expected."},
	{"too long in sum, in a graph", `{"format":"memtide/1","kind":"graph","values":[],"ops":[` + strings.TrimSuffix(strings.Repeat(`{"time_s":9007199},`, 600), ",") + `]}`,
		"The profile cannot be used: the times add up to 171 years, the longest is operation 0 with 104 days; at most 104 days are understood. The sizes and times of one training step are expected."},
	{"too much in sum, in a graph", `{"format":"memtide/1","kind":"graph","values":[],"ops":[` + strings.TrimSuffix(strings.Repeat(`{"temp_bytes":9007199254740992},`, 600), ",") + `]}`,
		"The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the workspace of operation 0 with 8 PiB; at most 64 PiB are understood. The sizes and times of one training step are expected."},
	{"too much in sum", `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(
		`{"forward_s":1,"backward_s":1,"output_bytes":9007199254740992},`, 200), ",") + `]}`,
		"The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the output of stage 1 (stage 1) with 8 PiB; at most 64 PiB are understood. The sizes and times of one training step are expected."},

	// Graphs.
	{"an unknown value", `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1,2]}]}`,
		"ops[0].in[1]: in[1] is 2. The id of one of the values is expected."},
	{"a value twice", `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1},{"id":1,"bytes":1}],"ops":[]}`,
		"values[1].id: id is 1. Every value has an id of its own, a number or a text."},
	{"a wrong order", `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1]},{"out":[1]}]}`,
		"ops[0].in: operation 0 reads value 0, which operation 1 writes. Operations stand in an order in which they can run."},
	{"two writers", `{"format":"memtide/1","kind":"graph","values":[{"id":1,"name":"x","bytes":1}],"ops":[{"out":[1]},{"out":[1]}]}`,
		`ops[1].out: out is "x". Operation 0 writes this value already.`},
	{"an unknown pass", `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1}],"ops":[{"pass":"sideways","in":["x"]}]}`,
		`ops[0].pass: pass is "sideways". The passes are forward and backward.`},
	{"an unknown role", `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"role":"hero"}],"ops":[{"in":["x"]}]}`,
		`values[0].role: role is "hero". The roles are activation, input, gradient and weight.`},
	{"a value without a size", `{"format":"memtide/1","kind":"graph","values":[{"id":"x"}],"ops":[{"in":["x"]}]}`,
		`values[0].bytes: bytes is missing. Every value has a size in bytes.`},
	{"an operation that is none", `{"format":"memtide/1","kind":"graph","values":[],"ops":[1]}`,
		"ops[0] is 1. An object { } is expected."},
	{"a stage out of range", `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"stage":3000000000}],"ops":[{}]}`,
		"values[0].stage: stage is 3000000000. Stages are numbered from 1 to at most 20000; 0 is none."},
	{"no operations", `{"format":"memtide/1","kind":"graph","values":[]}`,
		"The graph cannot be used: the graph has no operations. Operations that read and write the listed values are expected."},

	// rotor.
	{"no loss entry", "[(1, 2, 3, 3, 0, 0), (1, 2, 3, 3, 0, 0)]",
		"Line 1: uF of entry 1 is 1. The last entry is the loss, whose uF and tmpF are None.\n" +
			"Line 1: tmpF of entry 1 is 0. The last entry is the loss, whose uF and tmpF are None."},
	{"a negative in a list", "[(1, 2, 3, 3, 0, 0),\n(1, -2, 3, 3, 0, 0),\n(None, 0, 3, 3, None, 0)]",
		"Line 2: uB of entry 1 is -2. Times cannot be negative."},
	{"a short tuple", "[(1, 2, 3), (None, 0, 3, 3, None, 0)]", "Line 1: entry 0 has 3 numbers. An entry is (uF, uB, x, xbar, tmpF, tmpB)."},
	{"half a list", "[(1, 2, 3, 3, 0, 0), (1, 2", "Line 1: the list ends early. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected."},
	{"a name in a list", "[(1, 2, \"x\", 3, 0, 0)]", `Line 1: there is "\"" where none can be. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected.`},

	// PipeDream.
	{"a negative time of an operator", pdWith("forward_compute_time=-3, backward_compute_time=1, activation_size=4, parameter_size=4"),
		"Line 2: forward_compute_time is -3. Times cannot be negative."},
	{"a missing size", pdWith("forward_compute_time=3, backward_compute_time=1, parameter_size=4"),
		"Line 2: activation_size is missing. An operator has forward_compute_time, backward_compute_time, activation_size and parameter_size."},
	{"an operator twice", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
		"node2 -- ReLU -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4\n",
		"Line 4: node2 is described again, after line 2. Every operator has one line."},
	{"an operator without a description", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
		"node3 forward_compute_time=3\n",
		`Line 4: the line begins with "node3 ". An operator is written as: id -- description -- forward_compute_time=...`},
	{"a list that adds up to too much", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=[9e15; 9e15], parameter_size=4"),
		"Line 2: activation_size adds up to more than 2^53. Sizes above 2^53 are not read."},
	{"weights that add up to too much", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15") +
		"node3 -- Linear(1, 1) -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15\n\tnode2 -- node3\n",
		"What is there before the step comes to 18000000000000000 bytes. Sizes above 2^53 bytes are not read."},
	{"buffers that reach too far", "size,id,upper,lower,offset\n9007199254740991,x,2,0,4\n",
		"The end of the addresses comes to 9007199254740995 bytes. Sizes above 2^53 bytes are not read."},
	{"an edge to nowhere", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "\tnode2 -- node3\n",
		`Line 4: no line describes "node3". Both ends of an edge are operators of the file.`},
	{"a cycle", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "\tnode2 -- node1\n",
		"No chain can be made: the operators form a cycle. A graph of operators from an input to an output is expected."},
	{"a strange line", pdWith("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "hello\n",
		`Line 4: the line is "hello". An operator or an edge such as node1 -- node2 is expected.`},
	{"only an input", "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n",
		"No chain can be made: no output can end a stage. A graph of operators from an input to an output is expected."},
}

func TestRejections(t *testing.T) {
	for _, r := range rejections {
		t.Run(r.name, func(t *testing.T) {
			p, err := Decode("some file.csv", []byte(r.input), nil)
			if err == nil {
				t.Fatalf("Decode(%.200q) reads %s, want the error %q", r.input, dump(p), r.want)
			}
			if err.Error() != r.want {
				t.Errorf("Decode(%.200q)\ngot  %s\nwant %s", r.input, err, r.want)
			}
			checkProblems(t, err)
		})
	}
}

// TestProblemParts pins the parts that a page shows apart from the text.
func TestProblemParts(t *testing.T) {
	_, err := Decode("x", []byte(stageWith(`"forward_s":1,"backward_s":-2,"output_bytes":1`)), nil)
	got := *Problems(err)[0]
	want := FormatError{Format: "memtide", Path: "stages[1].backward_s", Stage: 2, Name: "layer1.0", Found: "backward_s is -2",
		Expected: "Times cannot be negative.", Remedy: "Correct the number, or measure again; 0 is allowed."}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	_, err = Decode("x", []byte(csvHead+"a,1,-2,3\na,1,-2,3\n"), nil)
	if first, ok := errors.AsType[*FormatError](err); !ok || first.Line != 2 || len(Problems(err)) != 2 {
		t.Errorf("errors.AsType finds %+v in %v, want the first of two problems", first, err)
	}
}

// TestUnknownContent: what nobody claims is named where that can be told.
func TestUnknownContent(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"", "The content is empty"},
		{" \n\t", "The content is empty"},
		{"\x89PNG\r\n\x1a\n....", "This looks like a PNG image"},
		{"\xff\xd8\xff\xe0", "This looks like a JPEG image"},
		{"%PDF-1.7\n", "This looks like a PDF document"},
		{"PK\x03\x04....", "This looks like a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)"},
		{"\x08\x03\x12\x0bonnx-caffe2", "This looks like an ONNX model without its graph"},
		{"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"data_offsets\":[0,4]}}", "This looks like a safetensors file"},
		{"\xff\xfea\x00,\x00", "This looks like UTF-16 text"},
		{`{"architectures":["GPT2"],"n_embd":768}`, "This looks like a Hugging Face config.json"},
		{`{"stages":[{"forward_s":1}]}`, `This looks like a profile without "format": "memtide/1"`},
		{`{"a":{"format":"memtide/1"}}`, `This is JSON without "format": "memtide/1"`},
		{`{"format":7}`, `This is JSON without "format": "memtide/1"`},
		{"a,b,c\n1,2,3\n", `This looks like a table whose first line is "a,b,c"`},
		{"<!DOCTYPE html><html>", "This looks like a web page"},
		{"import torch\n", "This looks like a Python program"},
		{strings.Repeat("\n", 100) + "{}", `This is JSON without "format": "memtide/1"`},
		{"Dear all,\n", `This is text that begins with "Dear all,"`},
		{"\x00\x01\x02\x03", "This is binary data of an unknown kind"},
	} {
		_, err := Decode("profile.json", []byte(c.input), nil)
		list := Problems(err)
		if len(list) != 1 || list[0].Found != c.want {
			t.Errorf("Decode(%q) = %v, want %q", c.input, err, c.want)
			continue
		}
		for _, f := range Formats() {
			if !strings.Contains(list[0].Expected, f.Title) {
				t.Errorf("Decode(%q) does not say that %q is read: %s", c.input, f.Title, list[0].Expected)
			}
		}
		checkProblems(t, err)
	}
}

// moreStages are cases of formats that are not in every build.
var moreStages = map[string]func(n int) string{}

// TestTooManyStages: one stage too many, in each format that has stages. The
// longest chain that is read is the next shorter one.
func TestTooManyStages(t *testing.T) {
	build := map[string]func(n int) string{
		"csv": func(n int) string { return csvHead + strings.Repeat("a,1,2,65536\n", n) },
		"memtide": func(n int) string {
			return `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(`{"forward_s":1,"backward_s":1,"output_bytes":65536},`, n), ",") + "]}"
		},
		"rotor": func(n int) string {
			return "[" + strings.Repeat("(1, 2, 65536, 65536, 0, 0), ", n) + "(None, 0, 65536, 65536, None, 0)]"
		},
		"pipedream": func(n int) string {
			var b strings.Builder
			b.WriteString("node0 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n")
			for i := 1; i <= n; i++ {
				fmt.Fprintf(&b, "node%d -- Linear(1, 1) -- forward_compute_time=1, backward_compute_time=1, activation_size=65536, parameter_size=0\n\tnode%d -- node%d\n", i, i-1, i)
			}
			return b.String()
		},
	}
	for _, f := range Formats() {
		if f.Name == "hfconfig" {
			continue // it counts layers, see TestConfigRefusals
		}
		if f.Name == "snapshot" || f.Name == "minimalloc" || f.Name == "dtr" {
			continue // they hold no stages
		}
		input := build[f.Name]
		if input == nil {
			input = moreStages[f.Name]
		}
		if input == nil {
			t.Errorf("format %s has no case here", f.Name)
			continue
		}
		if p, err := Decode("x", []byte(input(engine.MaxStages-1)), nil); err != nil || p.Totals().Stages != engine.MaxStages-1 {
			t.Errorf("%s with %d stages: %v, want to be read", f.Name, engine.MaxStages-1, err)
		}
		_, err := Decode("x", []byte(input(engine.MaxStages)), nil)
		if err == nil || !strings.Contains(err.Error(), "more than ") {
			t.Errorf("%s with %d stages: %v, want to be refused", f.Name, engine.MaxStages, err)
		}
	}
}

// TestByteOrderMark: the mark that some editors write before UTF-8 is no content.
func TestByteOrderMark(t *testing.T) {
	for _, file := range sampleFiles(t) {
		data := readSample(t, file)
		p, err := Decode("x", append([]byte("\xef\xbb\xbf"), data...), nil)
		if err != nil {
			t.Errorf("%s with a byte order mark: %v", file, err)
		} else if q, err := Decode("x", data, nil); err != nil || dump(p) != dump(q) {
			t.Errorf("%s with a byte order mark reads\n%swithout\n%s%v", file, dump(p), dump(q), err)
		}
	}
}

// TestGzip: packed content is read, damaged content refused, and a small file
// that unpacks to a huge one does not fill the memory.
func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	if _, err := zw.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	most := func(n int) func([]byte) int { return func([]byte) int { return n } }
	if out, err := gunzip(packed.Bytes(), most(1<<20), nil); err != nil || len(out) != 1<<20 {
		t.Errorf("gunzip at the limit: %d bytes, %v; want 1 MiB", len(out), err)
	}
	_, err := gunzip(packed.Bytes(), most(1<<20-1), nil)
	if want := "The content is larger than 0 MiB, unpacked. At most 0 MiB are read."; err == nil || err.Error() != want {
		t.Errorf("gunzip above the limit: %v, want %v", err, want)
	}
	_, err = Decode("x.gz", packed.Bytes()[:packed.Len()/2], nil)
	if want := "The gzip data ends early. A complete gzip file is expected."; err == nil || err.Error() != want {
		t.Errorf("half a file: %v, want %s", err, want)
	}
	damaged := bytes.Clone(packed.Bytes())
	damaged[packed.Len()-5] ^= 1 // in the checksum
	_, err = Decode("x.gz", damaged, nil)
	if want := "The gzip data is damaged. A complete gzip file is expected."; err == nil || err.Error() != want {
		t.Errorf("a wrong checksum: %v, want %s", err, want)
	}
}

// TestDecodeStops: every format notices a poll that stops.
func TestDecodeStops(t *testing.T) {
	ctx := engine.LimitCalls(t.Context(), 0)
	for _, f := range Formats() {
		for _, file := range sampleFiles(t) {
			data := readSample(t, file)
			if !f.Match(data[:min(len(data), HeadSize)]) {
				continue
			}
			if p, err := f.Decode("x", data, engine.NewPoll(ctx, nil)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %s with a poll that stops: %v, %v; want the poll's error", f.Name, file, p, err)
			}
		}
	}
}
