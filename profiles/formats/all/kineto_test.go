package all

import (
	"fmt"
	"strings"
)

func init() {
	owns["kineto"] = &own{
		long: func(n int) string { // without modules every operator is a stage
			var b strings.Builder
			b.WriteString(`{"traceEvents": [`)
			for i := range n {
				fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":"aten::mm","tid":1,"ts":%d,"dur":1,"args":{"Sequence number":%d,"Input Dims":[[4,4]],"Input type":["float"]}},`+"\n", i, i)
			}
			for i := range n {
				fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":"MmBackward0","tid":2,"ts":%d,"dur":1,"args":{"Sequence number":%d,"Fwd thread id":1}},`+"\n", n+i, n-1-i)
			}
			return b.String() + "]}"
		},
		bombs: func() []bomb {
			return []bomb{
				{name: "an event of 50 MB", content: content(traceHead, `{"ph":"X","ts":1,"name":"`,
					strings.Repeat("x", 50<<20), `"}]}`), want: "one event is larger than 16 MiB"},
				{name: "500,000 small operators",
					content: content(traceHead, strings.Repeat(`{"ph":"X","ts":1,"cat":"cpu_op"},`, 500_000),
						`{"ph":"i","ts":1,"name":"x"}]}`), want: "reading takes more than"},
				{name: "a call stack of 10 million frames",
					content: content(traceHead,
						`{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Call stack":"`,
						strings.Repeat(";", 10<<20), `"}},`,
						`{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`),
					want: ""},
				{name: "a tensor of 5 million dimensions",
					content: content(traceHead,
						`{"ph":"X","ts":1,"dur":1,"cat":"cpu_op","name":"a","args":{"Sequence number":1,"Input Dims":[[`,
						strings.Repeat("1,", 5<<20), `1]],"Input type":["float"]}},`,
						`{"ph":"X","ts":5,"dur":1,"cat":"cpu_op","name":"b","args":{"Sequence number":1,"Fwd thread id":1}}]}`),
					want: ""},
				{name: "lists in lists", content: content(traceHead, `{"ph":"X","name":"a","ts":1,"args":`,
					strings.Repeat("[", 10<<20)), want: "ends early"},
			}
		},
		samples: []string{"modules.trace.json", "stacks.trace.json"},
		mutate:  mutateKineto,
	}
}

const traceHead = `{"traceEvents":[`

// mutateKineto mutates samples.
func mutateKineto(sample []byte, s *script) []byte {
	keys := []string{"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "External id", "Sequence number",
		"Fwd thread id", "Input Dims", "Input type", "Call stack", "correlation",
		"Bytes", "Device Type", "Device Id", "Total Allocated", "traceEvents", "deviceProperties"}
	texts := []string{"X", "i", "M", "cpu_op", "kernel", "cuda_runtime", "python_function", "user_annotation",
		"[memory]", "nn.Module: Sequential_0", "nn.Module: Conv2d_1", "aten::conv2d",
		"ProfilerStep#3", "Optimizer.step#SGD.step", "torch::autograd::AccumulateGrad",
		"a.py(3): forward;torch/nn/modules/module.py(1): _call_impl", "float", "c10::Half"}

	return mutateJSON(sample, s, keys, texts)
}
