package kineto

import (
	"bytes"
	"math"

	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// event is an event while it is read.
type event struct {
	phase, category, name, process, thread, args []byte
	start, took                                  int64
	timed                                        bool
}

// readEvent reads an event and keeps what is needed of it. It reports whether the event is a JSON object.
func (t *trace) readEvent(v []byte) bool {
	var e event
	ok := t.stream.EachField(v, func(key, value []byte) {
		switch string(key) {
		case "ph":
			e.phase = jsonfile.PlainText(value)
		case "cat":
			e.category = jsonfile.PlainText(value)
		case "name":
			e.name = jsonfile.PlainText(value)
		case "pid":
			e.process = jsonfile.PlainText(value)
		case "tid":
			e.thread = jsonfile.PlainText(value)
		case "args":
			e.args = value
		case "ts":
			e.start, e.timed = jsonfile.Microseconds(value)
		case "dur":
			e.took, _ = jsonfile.Microseconds(value)
		}
	})
	if !ok {
		return false
	}
	if !e.timed || e.took < 0 || e.start < 0 || len(e.phase) != 1 {
		return true
	}
	switch e.phase[0] {
	case 'i', 'I':
		if string(e.name) == "[memory]" {
			t.readMemory(&e)
		}
	case 'X':
		t.readComplete(&e)
	}
	return true
}

// readComplete reads an event with a duration. Categories have two names, from before and after PyTorch 1.10.
func (t *trace) readComplete(e *event) {
	switch string(e.category) {
	case "Operator", "cpu_op", "user_annotation":
		t.readOp(e)
	case "Kernel", "kernel", "Memcpy", "gpu_memcpy", "Memset", "gpu_memset":
		k := kernel{start: e.start, took: e.took, external: -1, correlation: -1}
		k.communicates = communicates(string(e.name))
		t.readJoin(e.args, &k.external, &k.correlation)
		t.kernels = append(t.kernels, k)
	case "Runtime", "cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver", "xpu_runtime", "xpu_driver":
		l := launch{start: e.start, thread: t.text(e.thread), correlation: -1, external: -1}
		t.readJoin(e.args, &l.external, &l.correlation)
		if l.correlation >= 0 {
			t.launches = append(t.launches, l)
		}
	case "":
		if bytes.HasPrefix(e.name, []byte("aten::")) {
			t.plain++
		} else if bytes.Contains(e.args, []byte(`"hlo_`)) {
			t.maker = "JAX or XLA"
		}
	case "python_function":
		if bytes.HasPrefix(e.name, []byte(module)) {
			t.spans = append(t.spans, ktSpan{e.start, e.start + e.took, t.text(e.name[len(module):]), t.text(e.thread)})
		}
	default:
		if begins(string(e.category), "devtools", "disabled-by-default-devtools", "blink", "v8") {
			t.maker = "Chrome's developer tools"
		}
	}
}

// accumulate is the operator that adds the gradient of one parameter.
const accumulate = "torch::autograd::AccumulateGrad"

// module is the prefix of the names of module calls.
const module = "nn.Module: "

// readJoin reads the numbers that join a kernel to an operator; missing ones keep their value.
func (t *trace) readJoin(args []byte, external, correlation *int64) {
	t.integers(args, integer{"External id", external}, integer{"external id", external},
		integer{"correlation", correlation})
}

// integer is a field of an object that is a whole number.
type integer struct {
	key string
	to  *int64
}

// integers reads fields of an object. One that is missing, or no whole number, keeps its value.
func (t *trace) integers(object []byte, fields ...integer) {
	t.stream.EachField(object, func(key, value []byte) {
		for _, f := range fields {
			if string(key) == f.key {
				if v, ok := jsonfile.Integer(value); ok {
					*f.to = v
				}
			}
		}
	})
}

func (t *trace) readOp(e *event) {
	op := ktOp{start: e.start, end: e.start + e.took, external: -1, sequence: -1, name: t.text(e.name),
		thread: t.text(e.thread)}
	var dims, types []byte
	t.stream.EachField(e.args, func(key, value []byte) {
		switch string(key) {
		case "External id", "external id":
			if v, ok := jsonfile.Integer(value); ok {
				op.external = v
			}
		case "Sequence number":
			if v, ok := jsonfile.Integer(value); ok && v >= 0 {
				op.sequence = v
			}
		case "Fwd thread id":
			v, ok := jsonfile.Integer(value)
			op.back = ok && v > 0
		case "Input Dims", "Input dims":
			dims = value
		case "Input type":
			types = value
		case "Call stack":
			if len(value) > 2 {
				op.stack = t.text(jsonfile.PlainText(value))
			}
		}
	})
	// Before PyTorch 1.10 named ranges were operators, too, but without inputs.
	op.named = string(e.category) == "user_annotation" || op.sequence < 0 && dims == nil &&
		!bytes.Contains(e.name, []byte("::"))
	least := 2 // one dimension is a bias or a count
	switch string(e.name) {
	case accumulate:
		least = 1
	case "aten::embedding": // the weights come first
		dims, types = t.withoutFirst(dims), t.withoutFirst(types)
	}
	if op.sequence >= 0 {
		process := t.text(e.process)
		t.mixed = t.mixed || t.process > 0 && process != t.process
		t.process = process
	}
	op.input, op.batch, op.kind = t.firstTensor(dims, types, least)
	t.ops = append(t.ops, op)
}

// firstTensor returns the size in bytes, the first dimension and the type of the first input
// that is a tensor of a known type with at least least dimensions. dims is a list of dimensions
// such as [[32, 3, 224, 224], []], types the list of types.
func (t *trace) firstTensor(dims, types []byte, least int) (size int64, batch int32, kind dType) {
	if len(dims) < 2 || len(types) < 2 {
		return 0, 0, 0
	}
	dims, types = dims[1:], types[1:]
	for {
		var list, typ []byte
		list, dims = t.stream.NextItem(dims)
		typ, types = t.stream.NextItem(types)
		if list == nil || typ == nil {
			return 0, 0, 0
		}
		kind = typeOf(jsonfile.PlainText(typ))
		if size, batch = tensorBytes(list, kind); size > 0 && bytes.Count(list, []byte{','})+1 >= least {
			return size, batch, kind
		}
	}
}

// withoutFirst returns a list without its first item, for NextItem: its first byte stands for the bracket.
func (t *trace) withoutFirst(list []byte) []byte {
	if len(list) < 2 {
		return nil
	}
	_, rest := t.stream.NextItem(list[1:])
	if len(rest) == 0 || rest[0] != ',' {
		return nil
	}
	return rest
}

// tensorBytes returns the size in bytes and the first dimension of a tensor of dimensions such
// as [32, 3, 224]. It returns 0 if the size of kind is unknown, or a dimension is invalid.
func tensorBytes(dims []byte, kind dType) (size int64, batch int32) {
	if size = ktTypes[kind].bytes; size == 0 {
		return 0, 0
	}
	n := 0
	rest := bytes.Trim(dims, "[]")
	for more := true; more; {
		var part []byte
		part, rest, more = bytes.Cut(rest, []byte{','})
		v, ok := jsonfile.Integer(bytes.TrimSpace(part))
		if !ok || v < 0 || v > math.MaxInt32 || size > parse.MaxNumber/max(v, 1) {
			return 0, 0
		}
		if n == 0 {
			batch = int32(v)
		}
		n++
		size *= v
	}
	return size, batch
}

func (t *trace) readMemory(e *event) {
	m := memory{at: e.start, total: -1}
	kind, number := int64(0), int64(0)
	t.integers(e.args, integer{"Bytes", &m.bytes}, integer{"Device Type", &kind}, integer{"Device Id", &number},
		integer{"Total Allocated", &m.total})
	if m.bytes < -parse.MaxNumber || m.bytes > parse.MaxNumber || kind < 0 || kind > 255 || number < -1 ||
		number > 255 {
		return
	}
	m.device = int32(kind<<16 | (number + 1))
	t.memory = append(t.memory, m)
}
