package all

import (
	"fmt"
	"strings"
)

func init() {
	owns["memtide"] = &own{
		refused: []rejection{
			{name: "an unknown version", input: `{"format":"memtide/2","stages":[]}`,
				want: `format is "memtide/2". This version reads "memtide/1".`},
			{name: "an unknown kind", input: `{"format":"memtide/1","kind":"waves"}`,
				want: `kind is "waves". The kinds that are read are chain, graph and buffers.`},
			{name: "a negative time in a stage", input: stageWith(`"forward_s":-3,"backward_s":1,"output_bytes":1`),
				want: "Stage 2 (layer1.0): forward_s is -3. Times cannot be negative."},
			{name: "NaN", input: "{\"format\":\"memtide/1\",\n\"stages\":[{\n\"forward_s\": NaN}]}",
				want: "Line 3: forward_s is NaN or infinite. Numbers are finite."},
			{name: "infinity", input: "{\"format\":\"memtide/1\",\n\"input_bytes\": -Infinity}",
				want: "Line 2: input_bytes is NaN or infinite. Numbers are finite."},
			{name: "a number in quotes", input: stageWith(`"forward_s":"3","backward_s":1,"output_bytes":1`),
				want: `Stage 2 (layer1.0): forward_s is "\"3\"". A number of seconds is expected.`},
			{name: "half a fast algorithm",
				input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"backward_s":1}`),
				want:  "stages[1].fast.forward_s: forward_s is missing. A second algorithm has forward_s and backward_s."},
			{name: "a negative fast algorithm",
				input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":{"forward_s":1,"backward_s":-1}`),
				want:  "stages[1].fast.backward_s: backward_s is -1. Times cannot be negative."},
			{name: "a fast algorithm that is none",
				input: stageWith(`"forward_s":3,"backward_s":1,"output_bytes":1,"fast":true`),
				want:  "stages[1].fast: fast is true. An object { } is expected."},
			{name: "a missing number", input: stageWith(`"forward_s":3,"output_bytes":1`),
				want: "Stage 2 (layer1.0): backward_s is missing. Every stage needs forward_s, backward_s and output_bytes."},
			{name: "a negative size of the loss", input: nativeWith(`"loss":{"saved_bytes":-1},`),
				want: "Stage 2 (loss): saved_bytes is -1. Sizes cannot be negative."},
			{name: "a negative weight", input: nativeWith(`"resident":{"weights":-1},`),
				want: "resident.weights: weights is -1. Sizes cannot be negative."},
			{name: "a text for a batch", input: nativeWith(`"batch":"big",`),
				want: `batch is "\"big\"". A number of samples is expected.`},
			{name: "a list for a name", input: nativeWith(`"name":[1],`),
				want: "name is a list. A text in quotes is expected."},
			{name: "a word for a flag", input: nativeWith(`"device":{"duplex":"yes"},`),
				want: `device.duplex: duplex is "yes". true or false is expected.`},
			{name: "a text for an object", input: nativeWith(`"source":"me",`),
				want: `source is "me". An object { } is expected.`},
			{name: "a text for a list", input: nativeWith(`"source":{"notes":"x"},`),
				want: `source.notes: notes is "x". A list [ ] is expected.`},
			{name: "a number in a list of texts", input: nativeWith(`"warnings":["x",{}],`),
				want: "warnings[1] is an object. A text in quotes is expected."},
			{name: "no stages", input: `{"format":"memtide/1"}`,
				want: "stages is missing or not a list. A list of stages is expected."},
			{name: "an empty list", input: `{"format":"memtide/1","stages":[]}`,
				want: "There are no stages. At least one stage besides the loss is needed."},
			{name: "a stage that is none", input: `{"format":"memtide/1","stages":[17]}`,
				want: "stages[0] is 17. An object with forward_s, backward_s and output_bytes is expected."},
			{name: "half a file", input: `{"format":"memtide/1","stages":[{"forward_s":`,
				want: "Line 1: the file ends early. A complete JSON object is expected."},
			{name: "a comma too many", input: "{\"format\":\"memtide/1\",\n\"stages\":[],}",
				want: "Line 2: this is not valid JSON (invalid character '}' looking for beginning of object key string). One JSON object is expected."},
			{name: "too long in sum, in a graph",
				input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[` +
					strings.TrimSuffix(strings.Repeat(`{"time_s":9007199},`, 600), ",") + `]}`,
				want: "The profile cannot be used: the times add up to 171 years, the longest is operation 0 with 104 days; at most 104 days are supported. The sizes and times of one training step are expected."},
			{name: "too much in sum, in a graph",
				input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[` +
					strings.TrimSuffix(strings.Repeat(`{"temp_bytes":9007199254740992},`, 600), ",") + `]}`,
				want: "The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the workspace of operation 0 with 8 PiB; at most 64 PiB are supported. The sizes and times of one training step are expected."},
			{name: "too much in sum", input: `{"format":"memtide/1","stages":[` + strings.TrimSuffix(strings.Repeat(
				`{"forward_s":1,"backward_s":1,"output_bytes":9007199254740992},`, 200), ",") + `]}`,
				want: "The profile cannot be used: the sizes add up to 4.688 EiB, the largest is the output of stage 1 (stage 1) with 8 PiB; at most 64 PiB are supported. The sizes and times of one training step are expected."},
			{name: "an unknown value",
				input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1,2]}]}`,
				want:  "ops[0].in[1]: in[1] is 2. The id of one of the values is expected."},
			{name: "a value twice", input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1},{"id":1,"bytes":1}],"ops":[]}`,
				want: "values[1].id: id is 1. Every value has an id of its own, a number or a text."},
			{name: "a wrong order", input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[1]},{"out":[1]}]}`,
				want: "ops[0].in: operation 0 reads value 0, which operation 1 writes. Operations stand in an order in which they can run."},
			{name: "two writers", input: `{"format":"memtide/1","kind":"graph","values":[{"id":1,"name":"x","bytes":1}],"ops":[{"out":[1]},{"out":[1]}]}`,
				want: `ops[1].out: out is "x". Operation 0 writes this value already.`},
			{name: "an unknown pass",
				input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1}],"ops":[{"pass":"sideways","in":["x"]}]}`,
				want:  `ops[0].pass: pass is "sideways". The passes are forward and backward.`},
			{name: "an unknown role",
				input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"role":"hero"}],"ops":[{"in":["x"]}]}`,
				want:  `values[0].role: role is "hero". The roles are activation, input, gradient, weight and state.`},
			{name: "a value without a size",
				input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x"}],"ops":[{"in":["x"]}]}`,
				want:  `values[0].bytes: bytes is missing. Every value has a size in bytes.`},
			{name: "an operation that is none", input: `{"format":"memtide/1","kind":"graph","values":[],"ops":[1]}`,
				want: "ops[0] is 1. An object { } is expected."},
			{name: "a stage out of range",
				input: `{"format":"memtide/1","kind":"graph","values":[{"id":"x","bytes":1,"stage":3000000000}],"ops":[{}]}`,
				want:  "values[0].stage: stage is 3000000000. Stages are numbered from 1 to at most 20000; 0 is none."},
			{name: "no operations", input: `{"format":"memtide/1","kind":"graph","values":[]}`,
				want: "The graph cannot be used: the graph has no operations. Operations that read and write the listed values are expected."},
		},
		long: func(n int) string {
			return `{"format":"memtide/1","stages":[` +
				strings.TrimSuffix(strings.Repeat(`{"forward_s":1,"backward_s":1,"output_bytes":65536},`, n), ",") + "]}"
		},
		bombs: func() []bomb {
			return []bomb{
				{name: "a name of 50 MB", content: content(nativeHead, `"stages":[{"name":"`,
					strings.Repeat("x", 50<<20), `","forward_s":1}]}`),
					want: "Line 1: a text after name is 52428802 bytes long. At most 64000 bytes are read."},
				{name: "a name of 2 KB", content: content(nativeHead, `"stages":[{"name":"`,
					strings.Repeat("x", 2000), `","forward_s":1}]}`),
					want: "name is 2000 bytes long. At most 1000 bytes are read."},
				{name: "a key of 5 MB", content: content(nativeHead, `"`, strings.Repeat("x", 5<<20), `":1}`),
					want: "5242882 bytes long"},
				{name: "a number of 5 MB", content: content(nativeHead, `"batch":1`, strings.Repeat("0", 5<<20),
					`}`), want: "a number after batch is 5242881 bytes long. At most 1000 bytes are read."},
				{name: "lists in lists", content: content(nativeHead, `"x":`, strings.Repeat("[", 10<<20)),
					want: "nested deeper than 64"},
				{name: "objects in objects", content: content(nativeHead, `"x":`, strings.Repeat(`{"a":`, 4<<20)),
					want: "nested deeper than 64"},
				{name: "100,000 keys", content: content(nativeHead, strings.Repeat(`"a":1,"b":2,`, 100_000),
					manyKeys(100_000), `"z":1}`), want: "An object has more than 1000 keys"},
				{name: "a stage of 100,000 keys",
					content: content(nativeHead, `"stages":[{`, manyKeys(100_000), `"z":1}]}`),
					want:    "stages[0] is 1288897 bytes long. At most 1048576 bytes are read."},
				{name: "30,000 stages", content: content(nativeHead, `"stages":[`,
					strings.Repeat(goodStage+",", 30_000), goodStage, `]}`),
					want: "There are more than 19999 stages. At most 20000 are read"},
				{name: "texts of 60 MB", content: content(nativeHead, `"kind":"graph","values":[`,
					rows(60_000, func(i int) string {
						return fmt.Sprintf(`{"id":%d,"bytes":1,"name":"%s"}`, i,
							long)
					}), `],"ops":[{}]}`), want: "are more than 48 MiB"},
				{name: "a million notes", content: content(nativeHead, `"source":{"notes":[`,
					strings.Repeat(`"",`, 1<<20), `""]},"stages":[`, goodStage, `]}`), want: "source is 3145742 bytes long"},
				{name: "100,000 warnings", content: content(nativeHead, `"warnings":[`,
					strings.Repeat(`"",`, 100_000), `""],"stages":[`, goodStage, `]}`),
					want: "There are 100001 warnings. At most 1000 are read."},
				{name: "a million values", content: content(nativeHead, `"kind":"graph","values":[`,
					strings.Repeat("0,", 1<<20), `0],"ops":[]}`), want: "values[0]"},
				{name: "101,000 values", content: content(nativeHead, `"kind":"graph","values":[`,
					rows(101_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1}`, i) }),
					`],"ops":[]}`), want: "There are more than 100000 values"},
				{name: "an operation with a million inputs",
					content: content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[`,
						strings.Repeat("1,", 1<<20), `1]}]}`), want: "ops[0] is 2097162 bytes long"},
				{name: "operations with 100,000 inputs each",
					content: content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[`,
						strings.Repeat(`{"in":[`+strings.Repeat("1,", 100_000)+`1]},`, 14), `{}]}`),
					want: "reading takes more than"},
				{name: "a graph beside a chain",
					content: content(nativeHead, `"stages":[`, goodStage, `],"graph":{"values":[`,
						strings.Repeat("[],", 1<<20), `0]}}`), want: "graph.values[0]"},
				{name: "buffers of little", content: content(nativeHead, `"kind":"buffers","buffers":[`,
					strings.Repeat(`0,`, 1<<20), `0]}`), want: "buffers[0]"},
			}
		},
		samples: []string{"chain.json", "graph.json", "buffers.json", "fast.json", "seedborn.json",
			"minimal.json"},
		mutate: mutateNative,
	}
}

const (
	nativeHead = `{"format":"memtide/1",`
	goodStage  = `{"name":"a","forward_s":1,"backward_s":1,"output_bytes":1}`
)

var long = strings.Repeat("n", 999)

// nativeWith returns a native file with one valid stage and the given extra fields.
func nativeWith(fields string) string {
	return `{"format":"memtide/1","kind":"chain",` + fields +
		`"stages":[{"name":"one","forward_s":0.1,"backward_s":0.2,"output_bytes":4096}]}`
}

// stageWith returns a native file whose second stage has the given fields.
func stageWith(fields string) string {
	return `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0",` +
		fields + `}]}`
}

// mutateNative mutates samples.
func mutateNative(sample []byte, s *script) []byte {
	keys := []string{"format", "kind", "name", "batch", "source", "device", "input_bytes", "resident", "seed_born",
		"stages", "loss", "warnings", "forward_s", "backward_s", "output_bytes",
		"saved_bytes", "grad_bytes", "fast", "values", "ops", "done", "id", "bytes", "role", "at", "within", "stage",
		"pass", "time_s", "in", "out", "lean", "alt", "graph",
		"buffers", "lower", "upper", "size", "addr", "took", "reserved", "segments", "failed", "event", "capacity",
		"before", "pool"}
	texts := []string{"memtide/1", "chain", "graph", "buffers", "measured", "activation", "gradient", "weight",
		"input", "device", "host", "both", "backward", "forward"}

	return mutateJSON(sample, s, keys, texts)
}
