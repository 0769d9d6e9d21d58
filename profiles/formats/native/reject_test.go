package native

import (
	"strings"
	"testing"

	"memtide/profiles/formats/formattest"
)

var refused = []formattest.Rejection{
	{Name: "an unknown version", Input: `{"format":"memtide/2","stages":[]}`,
		Want: `format is "memtide/2". This version reads "memtide/1".`},
	{Name: "an unknown kind", Input: `{"format":"memtide/1","kind":"waves"}`,
		Want: `kind is "waves". The kinds that are read are chain, graph and buffers.`},
	{Name: "a negative time in a stage", Input: stageWith(`"forward_s":-3,"backward_s":1,"output_bytes":1`),
		Want: "Stage 2 (layer1.0): forward_s is -3. Times cannot be negative."},
	{Name: "NaN", Input: "{\"format\":\"memtide/1\",\n\"stages\":[{\n\"forward_s\": NaN}]}",
		Want: "Line 3: forward_s is NaN or infinite. Numbers are finite."},
	{Name: "infinity", Input: "{\"format\":\"memtide/1\",\n\"input_bytes\": -Infinity}",
		Want: "Line 2: input_bytes is NaN or infinite. Numbers are finite."},
	{Name: "a number in quotes", Input: stageWith(`"forward_s":"3","backward_s":1,"output_bytes":1`),
		Want: `Stage 2 (layer1.0): forward_s is "\"3\"". A number of seconds is expected.`},
	{Name: "half a fast algorithm",
		Input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"backward_s":1}`),
		Want:  "stages[1].fast.forward_s: forward_s is missing. A second algorithm has forward_s and backward_s."},
	{Name: "a negative fast algorithm",
		Input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"forward_s":1,"backward_s":-1}`),
		Want:  "stages[1].fast.backward_s: backward_s is -1. Times cannot be negative."},
	{Name: "a fast algorithm that is none",
		Input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":true`),
		Want:  "stages[1].fast: fast is true. An object { } is expected."},
	{Name: "a missing number", Input: stageWith(`"forward_s":3,"output_bytes":1`),
		Want: "Stage 2 (layer1.0): backward_s is missing. Every stage needs forward_s, backward_s and output_bytes."},
	{Name: "a negative size of the loss", Input: nativeWith(`"loss":{"saved_bytes":-1},`),
		Want: "Stage 2 (loss): saved_bytes is -1. Sizes cannot be negative."},
	{Name: "a negative weight", Input: nativeWith(`"resident":{"weights":-1},`),
		Want: "resident.weights: weights is -1. Sizes cannot be negative."},
	{Name: "a text for a batch", Input: nativeWith(`"batch":"big",`),
		Want: `batch is "\"big\"". A number of samples is expected.`},
	{Name: "a list for a name", Input: nativeWith(`"name":[1],`),
		Want: "name is a list. A text in quotes is expected."},
	{Name: "a word for a flag", Input: nativeWith(`"device":{"duplex":"yes"},`),
		Want: `device.duplex: duplex is "yes". true or false is expected.`},
	{Name: "a text for an object", Input: nativeWith(`"source":"me",`),
		Want: `source is "me". An object { } is expected.`},
	{Name: "a text for a list", Input: nativeWith(`"source":{"notes":"x"},`),
		Want: `source.notes: notes is "x". A list [ ] is expected.`},
	{Name: "a number in a list of texts", Input: nativeWith(`"warnings":["x",{}],`),
		Want: "warnings[1] is an object. A text in quotes is expected."},
	{Name: "no stages", Input: `{"format":"memtide/1"}`,
		Want: "stages is missing or not a list. A list of stages is expected."},
	{Name: "an empty list", Input: `{"format":"memtide/1","stages":[]}`,
		Want: "There are no stages. At least one stage besides the loss is needed."},
	{Name: "a stage that is none", Input: `{"format":"memtide/1","stages":[17]}`,
		Want: "stages[0] is 17. An object with forward_s, backward_s and output_bytes is expected."},
	{Name: "half a file", Input: `{"format":"memtide/1","stages":[{"forward_s":`,
		Want: "Line 1: the file ends early. A complete JSON object is expected."},
	{Name: "a comma too many", Input: "{\"format\":\"memtide/1\",\n\"stages\":[],}",
		Want: "Line 2: this is not valid JSON (invalid character '}' looking for beginning of object key string). One JSON object is expected."},
	{Name: "too long in sum, in a graph",
		Input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[` +
			strings.TrimSuffix(strings.Repeat(`{"time_s":9007199},`, 600), ",") + `]}`,
		Want: "The profile cannot be used: the times add up to 171 years, the longest is operation 0 with 104 days; at most 104 days are supported. The sizes and times of one training step are expected."},
	{Name: "too much in sum, in a graph",
		Input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[` +
			strings.TrimSuffix(strings.Repeat(`{"temp_bytes":9007199254740992},`, 600), ",") + `]}`,
		Want: "The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the workspace of operation 0 with 8 PiB; at most 64 PiB are supported. The sizes and times of one training step are expected."},
	{Name: "too much in sum", Input: `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(
		`{"forward_s":1,"backward_s":1,"output_bytes":9007199254740992},`, 200), ",") + `]}`,
		Want: "The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the output of stage 1 (stage 1) with 8 PiB; at most 64 PiB are supported. The sizes and times of one training step are expected."},
	{Name: "an unknown value",
		Input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1,2]}]}`,
		Want:  "ops[0].in[1]: in[1] is 2. The id of one of the values is expected."},
	{Name: "a value twice", Input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1},{"id":1,"bytes":1}],"ops":[]}`,
		Want: "values[1].id: id is 1. Every value has an id of its own, a number or a text."},
	{Name: "a wrong order", Input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1]},{"out":[1]}]}`,
		Want: "ops[0].in: operation 0 reads value 0, which operation 1 writes. Operations stand in an order in which they can run."},
	{Name: "two writers", Input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"name":"x","bytes":1}],"ops":[{"out":[1]},{"out":[1]}]}`,
		Want: `ops[1].out: out is "x". Operation 0 writes this value already.`},
	{Name: "an unknown pass",
		Input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1}],"ops":[{"pass":"sideways","in":["x"]}]}`,
		Want:  `ops[0].pass: pass is "sideways". The passes are forward and backward.`},
	{Name: "an unknown role",
		Input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"role":"hero"}],"ops":[{"in":["x"]}]}`,
		Want:  `values[0].role: role is "hero". The roles are activation, input, gradient, weight and state.`},
	{Name: "a value without a size",
		Input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x"}],"ops":[{"in":["x"]}]}`,
		Want:  `values[0].bytes: bytes is missing. Every value has a size in bytes.`},
	{Name: "an operation that is none", Input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[1]}`,
		Want: "ops[0] is 1. An object { } is expected."},
	{Name: "a stage out of range",
		Input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"stage":3000000000}],"ops":[{}]}`,
		Want:  "values[0].stage: stage is 3000000000. Stages are numbered from 1 to at most 20000; 0 is none."},
	{Name: "no operations", Input: `{"format":"memtide/1","kind":"graph","values":[]}`,
		Want: "The graph cannot be used: the graph has no operations. Operations that read and write the listed values are expected."},
}

// TestRejections: see formattest.Rejections.
func TestRejections(t *testing.T) { formattest.Rejections(t, refused) }

func TestTooManyStages(t *testing.T) {
	formattest.TooManyStages(t, func(n int) string {
		return `{"format":"memtide/1","stages":[` +
			strings.TrimSuffix(strings.Repeat(`{"forward_s":1,"backward_s":1,"output_bytes":65536},`, n), ",") + "]}"
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused(f *testing.F) { formattest.FuzzContent(f, nil, refused) }

const (
	nativeHead = `{"format":"memtide/1",`
	goodStage  = `{"name":"a","forward_s":1,"backward_s":1,"output_bytes":1}`
)

var long = formattest.Rep("n", 999)

// nativeWith is a native file with one good stage and the given extra fields.
func nativeWith(fields string) string {
	return `{"format":"memtide/1","kind":"chain",` + fields +
		`"stages":[{"name":"one","forward_s":0.1,"backward_s":0.2,"output_bytes":4096}]}`
}

// stageWith is a native file whose second stage has the given fields.
func stageWith(fields string) string {
	return `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0",` +
		fields + `}]}`
}
