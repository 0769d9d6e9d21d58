package pipedream

import (
	"fmt"
	"strings"
	"testing"

	"memtide/profiles/formats/formattest"
)

var refused = []formattest.Rejection{
	{Name: "a negative time of an operator",
		Input: with("forward_compute_time=-3, backward_compute_time=1, activation_size=4, parameter_size=4"),
		Want:  "Line 2: forward_compute_time is -3. Times cannot be negative."},
	{Name: "a missing size", Input: with("forward_compute_time=3, backward_compute_time=1, parameter_size=4"),
		Want: "Line 2: activation_size is missing. An operator has forward_compute_time, backward_compute_time, activation_size and parameter_size."},
	{Name: "an operator twice",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
			"node2 -- ReLU -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4\n",
		Want: "Line 4: node2 is described again, after line 2. Every operator has one line."},
	{Name: "an operator without a description",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
			"node3 forward_compute_time=3\n",
		Want: `Line 4: the line begins with "node3 ". An operator is written as: id -- description -- forward_compute_time=...`},
	{Name: "a list that adds up to too much",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=[9e15; 9e15], parameter_size=4"),
		Want:  "Line 2: activation_size adds up to more than 2^53. Sizes above 2^53 are not read."},
	{Name: "weights that add up to too much",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15") +
			"node3 -- Linear(1, 1) -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15\n\tnode2 -- node3\n",
		Want: "What is there before the step comes to 18000000000000000 bytes. Sizes above 2^53 bytes are not read."},
	{Name: "an edge to nowhere",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
			"\tnode2 -- node3\n",
		Want: `Line 4: no line describes "node3". Both ends of an edge are operators of the file.`},
	{Name: "a cycle", Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "\tnode2 -- node1\n",
		Want: "No chain can be made: the operators form a cycle. A graph of operators from an input to an output is expected."},
	{Name: "a strange line",
		Input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "hello\n",
		Want:  `Line 4: the line is "hello". An operator or an edge such as node1 -- node2 is expected.`},
	{Name: "only an input", Input: "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n",
		Want: "No chain can be made: no output can end a stage. A graph of operators from an input to an output is expected."},
}

// TestRejections: see formattest.Rejections.
func TestRejections(t *testing.T) { formattest.Rejections(t, refused) }

func TestTooManyStages(t *testing.T) {
	formattest.TooManyStages(t, func(n int) string {
		var b strings.Builder
		b.WriteString("node0 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n")
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, "node%d -- Linear(1, 1) -- forward_compute_time=1, backward_compute_time=1, activation_size=65536, parameter_size=0\n\tnode%d -- node%d\n", i, i-1, i)
		}
		return b.String()
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused(f *testing.F) { formattest.FuzzContent(f, nil, refused) }

const pdHead = "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n"

// with is a graph of an input and one operator with the given values.
func with(values string) string {
	return "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n" +
		"node2 -- Linear(1, 1) -- " + values + "\n\tnode1 -- node2\n"
}
