//go:build !lean

package profiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// bomb is content that is small, or says little, and would take much to read.
type bomb struct {
	name, format string
	content      func() []byte
	want         string // in the error
}

func rep(s string, n int) string { return strings.Repeat(s, n) }

func content(parts ...string) func() []byte {
	return func() []byte { return []byte(strings.Join(parts, "")) }
}

const (
	nativeHead = `{"format":"memtide/1",`
	goodStage  = `{"name":"a","forward_s":1,"backward_s":1,"output_bytes":1}`
	traceHead  = `{"traceEvents":[`
	pdHead     = "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n"
	dtrHead    = `{"INSTRUCTION":"CONSTANT", "NAME":"x"}` + "\n" + `{"INSTRUCTION":"MEMORY", "NAME":"x", "MEMORY":"4"}` + "\n"
	hfHead     = `{"model_type":"gpt2","n_embd":768,"n_head":12,"vocab_size":50257,`
)

// onnxBomb is a model whose graph is one field again and again.
func onnxBomb(field message, n int) func() []byte {
	return func() []byte {
		graph := message(bytes.Repeat(field, n))
		return message{}.number(1, 8).part(7, graph)
	}
}

var long = rep("n", 999)

var bombs = []bomb{
	{"a name of 50 MB", "memtide", content(nativeHead, `"stages":[{"name":"`, rep("x", 50<<20), `","forward_s":1}]}`), "Line 1: a text behind name is 52428802 bytes long. At most 64000 bytes are read."},
	{"a name of 2 KB", "memtide", content(nativeHead, `"stages":[{"name":"`, rep("x", 2000), `","forward_s":1}]}`), "name is 2000 bytes long. At most 1000 bytes are read."},
	{"a key of 5 MB", "memtide", content(nativeHead, `"`, rep("x", 5<<20), `":1}`), "5242882 bytes long"},
	{"a number of 5 MB", "memtide", content(nativeHead, `"batch":1`, rep("0", 5<<20), `}`), "a number behind batch is 5242881 bytes long. At most 1000 bytes are read."},
	{"lists in lists", "memtide", content(nativeHead, `"x":`, rep("[", 10<<20)), "nested deeper than 64"},
	{"objects in objects", "memtide", content(nativeHead, `"x":`, rep(`{"a":`, 4<<20)), "nested deeper than 64"},
	{"100,000 keys", "memtide", content(nativeHead, rep(`"a":1,"b":2,`, 100_000), manyKeys(100_000), `"z":1}`), "An object has more than 1000 keys"},
	{"a stage of 100,000 keys", "memtide", content(nativeHead, `"stages":[{`, manyKeys(100_000), `"z":1}]}`), "stages[0] is 1288897 bytes long. At most 1048576 bytes are read."},
	{"30,000 stages", "memtide", content(nativeHead, `"stages":[`, rep(goodStage+",", 30_000), goodStage, `]}`), "There are more than 19999 stages. At most 20000 are read"},
	{"texts of 60 MB", "memtide", content(nativeHead, `"kind":"graph","values":[`, rows(60_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1,"name":"%s"}`, i, long) }), `],"ops":[{}]}`), "are more than 48 MiB"},
	{"a million notes", "memtide", content(nativeHead, `"source":{"notes":[`, rep(`"",`, 1<<20), `""]},"stages":[`, goodStage, `]}`), "source is 3145742 bytes long"},
	{"100,000 warnings", "memtide", content(nativeHead, `"warnings":[`, rep(`"",`, 100_000), `""],"stages":[`, goodStage, `]}`), "There are 100001 warnings. At most 1000 are read."},
	{"a million values", "memtide", content(nativeHead, `"kind":"graph","values":[`, rep("0,", 1<<20), `0],"ops":[]}`), "values[0]"},
	{"101,000 values", "memtide", content(nativeHead, `"kind":"graph","values":[`, rows(101_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1}`, i) }), `],"ops":[]}`), "There are more than 100000 values"},
	{"an operation with a million inputs", "memtide", content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[`, rep("1,", 1<<20), `1]}]}`), "ops[0] is 2097162 bytes long"},
	{"operations with 100,000 inputs each", "memtide", content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[`, rep(`{"in":[`+rep("1,", 100_000)+`1]},`, 14), `{}]}`), "reading takes more than"},
	{"a graph beside a chain", "memtide", content(nativeHead, `"stages":[`, goodStage, `],"graph":{"values":[`, rep("[],", 1<<20), `0]}}`), "graph.values[0]"},
	{"buffers of little", "memtide", content(nativeHead, `"kind":"buffers","buffers":[`, rep(`0,`, 1<<20), `0]}`), "buffers[0]"},

	{"10 million columns", "csv", content(csvHead, rep(",", 20<<20), "\n"), "Line 2: a row has more than 1000 cells"},
	{"10 million columns in the header", "csv", content("#"+rep("-", HeadSize-300)+"\n", csvHead[:len(csvHead)-1], rep(",x", 10<<20), "\n"), "The header line is longer than 64 KiB"},
	{"a cell of 50 MB", "csv", content(csvHead, rep("x", 50<<20), ",1,2,3\n"), "Line 2: a row is longer than 64 KiB"},
	{"a quote that is not closed", "csv", content(csvHead, `"`, rep("a,1,2,3\n", 8<<20)), "Line 2: a row is longer than 64 KiB; its last quote is not closed"},
	{"a name of 2 KB", "csv", content(csvHead, rep("x", 2000), ",1,2,3\n"), "Line 2: a name is 2000 bytes long. At most 1000 bytes are read."},
	{"a million stages", "csv", content(csvHead, rep("a,1,2,3\n", 1<<20)), "There are more than 19999 stages"},
	{"a million comments", "csv", content(rep("#a:b\n", 1000), csvHead, rep("#a:b\n", 1<<20)), "There are no stages"},
	{"a number of 60 KB", "csv", content(csvHead, "a,", rep("1", 60_000), ",2,3\n"), "A number is at most 1000 characters long; this one has 60000."},

	{"500,000 rows", "minimalloc", content("lower,upper,size\n", rep("0,1,0\n", 500_000)), "reading takes more than"},
	{"10 million cells", "minimalloc", content("lower,upper,size\n", rep(",", 10<<20), "\n"), "a row has more than 1000 cells"},
	{"an id of 2 KB", "minimalloc", content("id,lower,upper,size\n", rep("x", 2000), ",0,1,1\n"), "a name is 2000 bytes long"},

	{"a number of 50 MB", "rotor", content("[(1", rep("0", 50<<20), ", 2, 3, 3, 0, 0)]"), "a word of 52428801 characters"},
	{"10 million entries", "rotor", content("[", rep("(1,1,1,1,1,1),", 3<<20), "]"), "There are more than 19999 stages"},
	{"brackets", "rotor", content("[(1,", rep("(", 50<<20)), `"(" where none can be`},

	{"a line of 50 MB", "pipedream", content(pdHead, "node2 -- ", rep("x", 50<<20), "\n"), "Line 2: the line is 52428809 bytes long"},
	{"a list of 10 million sizes", "pipedream", content(pdHead, "node2 -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=[", rep("1;", 10<<20), "1], parameter_size=0\n"), "the line is 20971628 bytes long"},
	{"a name of 2 KB", "pipedream", content(pdHead, "node", rep("2", 2000), " -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=0\n"), "a name is 2004 bytes long"},
	{"5 million edges", "pipedream", content(pdHead, rep("\tnode1 -- node1\n", 3<<20)), "there are more than 20000 operators or 160000 edges"},

	{"a line of 20 MB", "dtr", content(dtrHead, `{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`, rep(`"x",`, 5<<20), `"x"], "RESULT":[], "TIME":"1"}`+"\n"), "Line 3: the line is "},
	{"100 functions of 20,000 arguments", "dtr", content(dtrHead, rep(`{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`+rep(`"x",`, 20_000)+`"x"], "RESULT":["y"], "TIME":"1"}`+"\n"+`{"INSTRUCTION":"MEMORY", "NAME":"y", "MEMORY":"4"}`+"\n"+`{"INSTRUCTION":"ALIAS", "NAME":"y", "ALIAS":"-1"}`+"\n", 100)), "none of 100 functions"},
	{"a million names", "dtr", content(dtrHead, rows(101_000, func(i int) string { return fmt.Sprintf(`{"INSTRUCTION":"COPY", "DST":"c%d", "SRC":"x"}`+"\n", i) })), "there are more than 100000 names"},
	{"a name of 2 KB", "dtr", content(dtrHead, `{"INSTRUCTION":"CONSTANT", "NAME":"`, rep("x", 2000), `"}`+"\n"), "the name of a value is 2000 bytes long"},

	{"an event of 50 MB", "kineto", content(traceHead, `{"ph":"X","ts":1,"name":"`, rep("x", 50<<20), `"}]}`), "one event is larger than 16 MiB"},
	{"500,000 small operators", "kineto", content(traceHead, rep(`{"ph":"X","ts":1,"cat":"cpu_op"},`, 500_000), `{"ph":"i","ts":1,"name":"x"}]}`), "reading takes more than"},
	{"a call stack of 10 million frames", "kineto", content(traceHead, `{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Call stack":"`, rep(";", 10<<20), `"}},`, `{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`), ""},
	{"a tensor of 5 million dimensions", "kineto", content(traceHead, `{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Input Dims":[[`, rep("1,", 5<<20), `1]],"Input type":["float"]}},`, `{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`), ""},
	{"lists in lists", "kineto", content(traceHead, `{"ph":"X","name":"a","ts":1,"args":`, rep("[", 10<<20)), "ends early"},

	{"a name of 50 MB", "onnx", onnxBomb(message{}.part(1, message{}.text(3, rep("x", 50<<20))), 1), "a name is 52428800 bytes long. At most 1000 bytes are read."},
	{"a node of 10 million inputs", "onnx", onnxBomb(message{}.part(1, bytes.Repeat(message{}.text(1, ""), 10<<20)), 1), "reading takes more than"},
	{"a node of 10 million attributes", "onnx", onnxBomb(message{}.part(1, bytes.Repeat(message{}.part(5, nil), 10<<20)), 1), "reading takes more than"},
	{"5 million empty nodes", "onnx", onnxBomb(message{}.part(1, nil), 5<<20), "There are more than 80000 nodes or tensors"},
	{"a length beyond the file", "onnx", func() []byte {
		return binary.AppendUvarint(message{}.number(1, 8).key(7, wireBytes), 1<<60)
	}, "it ends early"},
	{"8,000 constants of 4096 numbers", "onnx", func() []byte {
		numbers := message{}.text(1, "value_ints")
		numbers = binary.AppendUvarint(numbers.key(8, wireBytes), 4096)
		return onnxBomb(message{}.part(1, message{}.part(5, append(numbers, make([]byte, 4096)...))), 8000)()
	}, "reading takes more than"},
	{"20,000 nodes that make 4096 numbers each", "onnx", expanding, "takes more than"},

	{"10^9 layers", "hfconfig", content(hfHead, `"n_layer":1000000000}`), "There are 1000000000 layers. At most 1000 are read."},
	{"a width of 10^15", "hfconfig", content(`{"model_type":"gpt2","n_embd":1000000000000000,"n_head":1,"vocab_size":50257,"n_layer":3}`), "A size is 1000000000000000"},
	{"3 MB of labels", "hfconfig", content(hfHead, `"n_layer":1e99,"id2label":{`, manyKeys(200_000), `"z":1}}`), "n_layer is 1e99"},
	{"a path of 3 MB", "hfconfig", content(hfHead, `"n_layer":2,"_name_or_path":"`, rep("x", 3<<20), `"}`), "bytes long"},

	{"16 million dictionaries", "snapshot", content("\x80\x04", rep("}", 16<<20)), "more than 1048576 values wait"},
	{"a list of 16 million dictionaries", "snapshot", content("\x80\x04](", rep(rep("}", 1000)+"e(", 16_000)), "would take more than 109 MiB of memory to read"},
	{"a memo of 30 million", "snapshot", content("\x80\x04]", rep("\x94", 30<<20), "."), "would take more than"},
	{"nested lists", "snapshot", content("\x80\x04", rep("](", 1<<20)), "nested deeper than 100"},
	{"a long integer beyond the file", "snapshot", content("\x80\x04\x8a\xff\x01."), "ends early"},
	{"a text beyond the file", "snapshot", content("\x80\x04X\xff\xff\xff\xff."), "ends early"},
	{"LONG4", "snapshot", content("\x80\x04\x8b\xff\xff\xff\x7f."), "LONG4, which memory snapshots do not use"},
}

func manyKeys(n int) string {
	return rows(n, func(i int) string { return fmt.Sprintf(`"k%d":"v",`, i) })
}

func rows(n int, row func(i int) string) string {
	var b strings.Builder
	for i := range n {
		s := row(i)
		b.WriteString(s)
		if i+1 < n && strings.HasPrefix(s, "{\"id\"") {
			b.WriteByte(',')
		}
	}
	return b.String()
}

// expanding is a model of small nodes whose outputs are known integers.
func expanding() []byte {
	var f onnxFile
	f.input("x", onnxFloat, 1, 4)
	var graph message
	graph = append(graph, message{}.part(5, tensorOf("one", onnxInt64, 1).key(7, wireBytes).raw(1, 1))...)
	graph = append(graph, message{}.part(5, tensorOf("shape", onnxInt64, 1).key(7, wireBytes).raw(2, 0x80, 0x20))...)
	for i := range 20_000 {
		graph = append(graph, message{}.part(1, message{}.text(1, "one").text(1, "shape").text(2, fmt.Sprintf("e%d", i)).text(4, "Expand"))...)
	}
	return message{}.number(1, 8).part(7, slices3(f.nodes, graph, f.inputs)).part(8, message{}.text(1, "").number(2, 13))
}

func slices3(parts ...message) (out message) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// raw appends a length and so many bytes.
func (m message) raw(length byte, data ...byte) message { return append(append(m, length), data...) }

// spent is how much f allocates in all beside what is there.
func spent(f func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mostSpent is what reading a bomb may allocate in all, garbage included: what it
// takes at any time is less.
const mostSpent = 280 << 20

// No content takes much of memory to be refused, and what is refused is told: what
// was found, where, and what is the most.
func TestBombs(t *testing.T) {
	for _, b := range bombs {
		t.Run(b.format+"/"+b.name, func(t *testing.T) {
			data := b.content()
			if claims := claimants(data); len(claims) != 1 || claims[0].Name != b.format {
				t.Fatalf("not claimed by %s, but by %d formats", b.format, len(claims))
			}
			var err error
			bytes := spent(func() { _, err = Decode("bomb", data, nil) })
			checkProblems(t, err)
			if b.want != "" && (err == nil || !strings.Contains(err.Error(), b.want)) {
				t.Errorf("%d bytes: %.300v\nwant %s", len(data), err, b.want)
			}
			most := uint64(mostSpent)
			if b.format == "minimalloc" || b.format == "dtr" { // read row by row, which makes garbage
				most *= 2
			}
			if bytes > most {
				t.Errorf("%d bytes: %d MiB allocated in all, want at most %d", len(data), bytes>>20, most>>20)
			}
			t.Logf("%d KiB: %d MiB in all: %.200v", len(data)>>10, bytes>>20, err)
		})
	}
}

// zipBomb is content that goes on with spaces, packed.
func zipBomb(t *testing.T, head string, mib int) []byte {
	t.Helper()
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	blank := bytes.Repeat([]byte(" "), 1<<20)
	_, err = zw.Write([]byte(head))
	for range mib {
		if err == nil {
			_, err = zw.Write(blank)
		}
	}
	if err == nil {
		err = zw.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A packed file is refused by what it says about its size, and by what it unpacks
// to if that is not true.
func TestZipBombs(t *testing.T) {
	const mib = 150
	for format, head := range map[string]string{"memtide": nativeHead, "csv": csvHead, "kineto": traceHead, "rotor": "[(1,", "pipedream": pdHead, "dtr": dtrHead,
		"hfconfig": hfHead, "minimalloc": "lower,upper,size\n", "snapshot": "\x80\x04}", "onnx": "\x08\x08\x3a\xff\xff\xff\xff\x07", "unknown": "hello"} {
		honest := zipBomb(t, head, mib)
		lying := bytes.Clone(honest)
		binary.LittleEndian.PutUint32(lying[len(lying)-4:], 1<<20)
		for name, data := range map[string][]byte{"honest": honest, "lying": lying} {
			for way, read := range map[string]func() error{
				"in memory": func() error { _, err := Decode("x.gz", data, nil); return err },
				"in a file": func() error { _, err := DecodeFrom("x.gz", contentOf(data), nil); return err },
			} {
				var err error
				bytes := spent(func() { err = read() })
				checkProblems(t, err)
				if err == nil || bytes > mostSpent {
					t.Errorf("%s, %s, %s: %d MiB allocated in all, %v; want less than %d and an error", format, name, way, bytes>>20, err, mostSpent>>20)
				}
				t.Logf("%s, %s, %s: %d KiB: %d MiB in all: %.150v", format, name, way, len(data)>>10, bytes>>20, err)
			}
		}
	}
}

// A file that was put together from packed ones, which says the size of its last
// part only, is read.
func TestZipParts(t *testing.T) {
	text := csvHead + rep("a,0.001,0.002,4096\n", 19_000)
	data := append(pack(t, []byte(text[:200_000])), pack(t, []byte(text[200_000:]))...)
	p, err := Decode("x", data, nil)
	if err != nil || p.Chain.Len() != 19_001 {
		t.Errorf("%v, %v; want 19001 stages", p, err)
	}
}
