package kineto

import (
	"fmt"
	"strings"
)

// toyTrace writes the trace of a small network as different versions of PyTorch would have recorded it: a Conv2d,
// a Sequential of two Blocks, a Linear, and a functional loss. A block is a convolution, a ReLU in place and the
// sum with its input.
type toyTrace struct {
	old     bool // names of categories before PyTorch 1.10, and call stacks of Windows with bare backslashes
	modules bool // calls of modules
	ranges  bool // named ranges around the parts
	memory  bool
	shapes  bool
	marks   string // what marks the steps: "ProfilerStep#", "Optimizer.step#SGD", or nothing
	steps   int
	noBack  bool
	noGPU   bool
	noJoin  bool  // kernels have no External id, only a correlation
	phases  bool  // named ranges around forward and backward
	gathers bool  // weight gradients are summed up over devices
	again   bool  // the backward of an addition runs the convolution before it again
	parts   int   // pairs of a forward and a backward in a step; 0 means one
	others  int64 // bytes that no part of the network takes, during the backward of the loss
	fused   bool  // the forward is one compiled graph
	amd     bool  // HIP launches the kernels

	b             strings.Builder
	now           int64 // microseconds
	id, seq, held int64
	queue         []toyBack
}

// toyBack describes the backward of an operator.
type toyBack struct {
	name         string
	seq, took    int64
	frees, makes int64
	weights      string // dimensions of the gradient of its weights
}

// toyPart is a part of the network.
type toyPart struct {
	module string // such as Sequential_0/Block_1
	line   int    // of the call in net.py, or of the operator in block.py
	ops    []toyOp
}

type toyOp struct {
	name        string
	line        int
	took        int64 // of its kernel
	keeps, temp int64
	weights     string
}

const toyBytes = 8 * 4 * 16 * 16 * 4 // of each activation: [8, 4, 16, 16] of 4 bytes

func toyParts() []toyPart {
	block := []toyOp{{"aten::conv2d", 11, 40, toyBytes, 512, "[4, 4, 3, 3]"}, {"aten::relu_", 12, 10, 0, 0, ""},
		{"aten::add", 13, 20, toyBytes, 0, ""}}
	return []toyPart{
		{"Conv2d_0", 21, []toyOp{{"aten::conv2d", 440, 100, toyBytes, 1024, "[4, 4, 3, 3]"}}},
		{"Sequential_0/Block_0", 22, block},
		{"Sequential_0/Block_1", 22, block},
		{"Linear_0", 23, []toyOp{{"aten::linear", 103, 30, toyBytes, 0, "[4, 4]"}}},
		{"", 31, []toyOp{{"aten::cross_entropy_loss", 0, 5, 512, 0, ""}}},
	}
}

// category returns the name that the version of PyTorch has for a category.
func (y *toyTrace) category(name string) string {
	if y.amd && name == "cuda_runtime" {
		return "hip_runtime"
	}
	if !y.old || name == "python_function" {
		return name
	}
	return map[string]string{"cpu_op": "Operator", "user_annotation": "Operator", "kernel": "Kernel",
		"cuda_runtime": "Runtime"}[name]
}

func (y *toyTrace) event(format string, args ...any) {
	if y.id++; y.id > 1 {
		y.b.WriteString(",\n")
	}
	fmt.Fprintf(&y.b, "  "+format, args...)
}

// span writes a named range around what inside writes.
func (y *toyTrace) span(category, name string, inside func()) {
	from := y.now
	y.now++
	inside()
	y.now++
	args := ""
	if category != "python_function" {
		args = fmt.Sprintf(`, "args": {"External id": %d}`, y.id+1)
	}
	y.event(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": 7, "ts": %d, "dur": %d%s}`, y.category(category),
		name, from, y.now-from, args)
}

func (y *toyTrace) alloc(bytes int64) {
	if !y.memory || bytes == 0 {
		return
	}
	y.held += bytes
	total := fmt.Sprintf(`, "Total Allocated": %d`, 10_000_000+y.held)
	if y.old {
		total = ""
	}
	y.event(`{"ph": "i", "name": "[memory]", "s": "t", "pid": 1, "tid": 7, "ts": %d, "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": %d%s}}`, y.now, bytes, total)
}

// op writes an operator with its kernel.
func (y *toyTrace) op(thread int, name, args string, took, keeps, temp int64) {
	from := y.now
	y.now += 2
	external := y.id + 1
	y.alloc(temp)
	y.now++
	y.alloc(keeps)
	y.now++
	y.alloc(-temp)
	y.now++
	y.event(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": %d, "ts": %d, "dur": %d, "args": {"External id": %d%s}}`,
		y.category("cpu_op"), name, thread, from, y.now-from, external, args)
	if took == 0 || y.noGPU {
		return
	}
	y.event(`{"ph": "X", "cat": %q, "name": "cudaLaunchKernel", "pid": 1, "tid": %d, "ts": %d, "dur": 1, "args": {"correlation": %d}}`,
		y.category("cuda_runtime"), thread, from+1, external)
	kernel := "gemm"
	if strings.HasPrefix(name, "c10d::") {
		kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
	}
	join := fmt.Sprintf(`"External id": %d, `, external)
	if y.noJoin {
		join = ""
	}
	y.event(`{"ph": "X", "cat": %q, "name": %q, "pid": 0, "tid": "stream 7", "ts": %d, "dur": %d, "args": {%s"device": 0, "correlation": %d}}`,
		y.category("kernel"), kernel, y.now+100, took, join, external)
}

// forward writes an operator of the forward and queues its backward.
func (y *toyTrace) forward(p toyPart, o toyOp) {
	args := fmt.Sprintf(`, "Sequence number": %d, "Fwd thread id": 0`, y.seq)
	if y.shapes {
		args += `, "Input Dims": [[8, 4, 16, 16], [4, 4, 3, 3], [], [[1, 1], [2]]], "Input type": ["float", "float", "Int", "TensorList"]`
	}
	if y.old {
		args += fmt.Sprintf(`, "Call stack": "%s"`, y.stack(p, o))
	}
	y.op(7, o.name, args, o.took, o.keeps, o.temp)
	y.queue = append(y.queue, toyBack{o.name, y.seq, 2 * o.took, o.keeps, toyBytes, o.weights})
	y.seq++
}

// stack returns a call stack with bare backslashes.
func (y *toyTrace) stack(p toyPart, o toyOp) string {
	const call = `C:\Users\me\torch/nn/modules/module.py(1051): _call_impl`
	frames := []string{`C:\Users\me\train.py(5): <module>`, call,
		fmt.Sprintf(`C:\Users\me\net.py(%d): forward`, p.line)}
	switch {
	case p.module == "":
		frames = []string{fmt.Sprintf(`C:\Users\me\train.py(%d): <module>`, p.line)}
	case strings.HasPrefix(p.module, "Sequential"):
		frames = append(frames, call, `C:\Users\me\torch/nn/modules/container.py(139): forward`, call,
			fmt.Sprintf(`C:\Users\me\block.py(%d): forward`, o.line))
	case strings.HasPrefix(p.module, "Conv"):
		frames = append(frames, call, fmt.Sprintf(`C:\Users\me\torch/nn/modules/conv.py(%d): forward`, o.line))
	default:
		frames = append(frames, call, fmt.Sprintf(`C:\Users\me\torch/nn/modules/linear.py(%d): forward`, o.line))
	}
	for i, j := 0, len(frames)-1; i < j; i, j = i+1, j-1 {
		frames[i], frames[j] = frames[j], frames[i]
	}
	return strings.Join(frames, ";")
}

// within writes what inside writes within nested calls of modules.
func (y *toyTrace) within(modules []string, inside func()) {
	switch {
	case len(modules) == 0 || modules[0] == "":
		inside()
	case y.ranges:
		y.span("user_annotation", strings.Join(modules, "/"), inside)
	case y.modules:
		y.span("python_function", "nn.Module: "+modules[0], func() { y.within(modules[1:], inside) })
	default:
		inside()
	}
}

func (y *toyTrace) runForward() {
	if y.fused {
		y.forward(toyPart{}, toyOp{name: "CompiledFunction", took: 275, keeps: toyBytes})
		return
	}
	parts := toyParts()
	run := func(p toyPart, modules string) {
		y.within(strings.Split(modules, "/"), func() {
			for _, o := range p.ops {
				y.forward(p, o)
			}
		})
	}
	net := func() {
		run(parts[0], parts[0].module)
		if y.modules {
			y.span("python_function", "nn.Module: Sequential_0",
				func() { run(parts[1], "Block_0"); run(parts[2], "Block_1") })
		} else {
			run(parts[1], parts[1].module)
			run(parts[2], parts[2].module)
		}
		run(parts[3], parts[3].module)
	}
	if y.modules {
		y.span("python_function", "nn.Module: Net_0", net)
	} else {
		net()
	}
	run(parts[4], "")
}

func (y *toyTrace) runBackward() {
	y.now++
	y.alloc(y.others)
	y.now += 9
	read := y.others
	for len(y.queue) > 0 {
		q := y.queue[len(y.queue)-1]
		y.queue = y.queue[:len(y.queue)-1]
		name := strings.TrimPrefix(q.name, "aten::") + "Backward0"
		made := q.makes
		if len(y.queue) == 0 {
			made = 0 // the gradient of the input is not needed
		}
		begin := y.now
		if y.again && q.name == "aten::add" {
			y.now++
			y.op(8, "aten::conv2d", `, "Sequence number": 7, "Fwd thread id": 0`, 40, 0, 0)
			y.op(8, "aten::empty", "", 3, 0, 0)
			y.op(8, "aten::relu_", `, "Sequence number": 8, "Fwd thread id": 0`, 10, 0, 0)
		}
		y.op(8, name, fmt.Sprintf(`, "Sequence number": %d, "Fwd thread id": 1`, q.seq), q.took, made, 256)
		if y.again && q.name == "aten::add" {
			y.event(`{"ph": "X", "cat": %q, "name": "autograd::engine::evaluate_function: %s", "pid": 1, "tid": 8, "ts": %d, "dur": %d, "args": {"External id": %d, "Sequence number": %d, "Fwd thread id": 1}}`,
				y.category("cpu_op"), name, begin, y.now-begin, y.id+1, q.seq)
		}
		if y.gathers && q.weights != "" {
			y.op(8, "c10d::allreduce_", "", 500, 0, 0)
		}
		if q.weights != "" {
			shape := ""
			if y.shapes {
				shape = fmt.Sprintf(`, "Input Dims": [%s], "Input type": ["float"]`, q.weights)
			}
			y.op(8, accumulate, shape, 1, 0, 0)
		}
		y.alloc(-q.frees - read) // it has read this gradient
		read = made
		y.now++
	}
}

// String returns the trace.
func (y *toyTrace) String() string {
	y.now, y.seq = 1_700_000_000_000_000, 100
	phase := func(name string, inside func()) {
		if y.phases {
			y.span("user_annotation", name, inside)
		} else {
			inside()
		}
	}
	for step := range y.steps {
		run := func() {
			for range max(1, y.parts) {
				phase("## forward ##", y.runForward)
				if !y.noBack {
					phase("## backward ##", y.runBackward)
				}
				y.queue = nil
			}
			inside := func() { y.op(7, "aten::_foreach_add_", "", 50*int64(step+1), 0, 0) }
			if y.marks != "" {
				y.span("user_annotation", "Optimizer.step#SGD.step", inside)
			} else {
				inside()
			}
		}
		if strings.HasPrefix(y.marks, "ProfilerStep") {
			y.span("user_annotation", fmt.Sprintf("%s%d", y.marks, step), run)
		} else {
			run()
		}
	}
	return "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"Toy GPU\", \"totalGlobalMem\": 1073741824}],\n" +
		"\"traceEvents\": [\n" + y.b.String() + "\n],\n\"traceName\": \"toy\"}\n"
}
