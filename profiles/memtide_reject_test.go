package profiles

import (
	"strings"
	"testing"
)

var refused_memtide = []rejection{
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
	{"too long in sum, in a graph", `{"format":"memtide/1","kind":"graph","values":[],"ops":[` + strings.TrimSuffix(strings.Repeat(`{"time_s":9007199},`, 600), ",") + `]}`,
		"The profile cannot be used: the times add up to 171 years, the longest is operation 0 with 104 days; at most 104 days are understood. The sizes and times of one training step are expected."},
	{"too much in sum, in a graph", `{"format":"memtide/1","kind":"graph","values":[],"ops":[` + strings.TrimSuffix(strings.Repeat(`{"temp_bytes":9007199254740992},`, 600), ",") + `]}`,
		"The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the workspace of operation 0 with 8 PiB; at most 64 PiB are understood. The sizes and times of one training step are expected."},
	{"too much in sum", `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(
		`{"forward_s":1,"backward_s":1,"output_bytes":9007199254740992},`, 200), ",") + `]}`,
		"The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the output of stage 1 (stage 1) with 8 PiB; at most 64 PiB are understood. The sizes and times of one training step are expected."},
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
}

// TestRejections: see formattest.Rejections.
func TestRejections_memtide(t *testing.T) { runRejections(t, refused_memtide) }

func TestTooManyStages_memtide(t *testing.T) {
	runTooManyStages(t, func(n int) string {
		return `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(`{"forward_s":1,"backward_s":1,"output_bytes":65536},`, n), ",") + "]}"
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused_memtide(f *testing.F) { fuzzContent(f, nil, refused_memtide) }

const (
	nativeHead = `{"format":"memtide/1",`
	goodStage  = `{"name":"a","forward_s":1,"backward_s":1,"output_bytes":1}`
)

var long = rep("n", 999)

// nativeWith is a native file with one good stage and the given extra fields.
func nativeWith(fields string) string {
	return `{"format":"memtide/1","kind":"chain",` + fields +
		`"stages":[{"name":"one","forward_s":0.1,"backward_s":0.2,"output_bytes":4096}]}`
}

// stageWith is a native file whose second stage has the given fields.
func stageWith(fields string) string {
	return `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0",` + fields + `}]}`
}
