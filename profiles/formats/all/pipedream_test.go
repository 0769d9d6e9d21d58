package all

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
)

func init() {
	owns["pipedream"] = &own{
		refused: []rejection{
			{name: "a negative time of an operator",
				input: with("forward_compute_time=-3, backward_compute_time=1, activation_size=4, parameter_size=4"),
				want:  "Line 2: forward_compute_time is -3. Times cannot be negative."},
			{name: "a missing size", input: with("forward_compute_time=3, backward_compute_time=1, parameter_size=4"),
				want: "Line 2: activation_size is missing. An operator has forward_compute_time, backward_compute_time, activation_size and parameter_size."},
			{name: "an operator twice",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
					"node2 -- ReLU -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4\n",
				want: "Line 4: node2 is described again, after line 2. Every operator has one line."},
			{name: "an operator without a description",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
					"node3 forward_compute_time=3\n",
				want: `Line 4: the line begins with "node3 ". An operator is written as: id -- description -- forward_compute_time=...`},
			{name: "a list that adds up to too much",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=[9e15; 9e15], parameter_size=4"),
				want:  "Line 2: activation_size adds up to more than 2^53. Sizes above 2^53 are not read."},
			{name: "weights that add up to too much",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15") +
					"node3 -- Linear(1, 1) -- forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=9e15\n\tnode2 -- node3\n",
				want: "What is there before the step comes to 18000000000000000 bytes. Sizes above 2^53 bytes are not read."},
			{name: "an edge to nowhere",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") +
					"\tnode2 -- node3\n",
				want: `Line 4: no line describes "node3". Both ends of an edge are operators of the file.`},
			{name: "a cycle", input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "\tnode2 -- node1\n",
				want: "No chain can be made: the operators form a cycle. A graph of operators from an input to an output is expected."},
			{name: "a strange line",
				input: with("forward_compute_time=3, backward_compute_time=1, activation_size=4, parameter_size=4") + "hello\n",
				want:  `Line 4: the line is "hello". An operator or an edge such as node1 -- node2 is expected.`},
			{name: "only an input", input: "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n",
				want: "No chain can be made: no output can end a stage. A graph of operators from an input to an output is expected."},
		},
		long: func(n int) string {
			var b strings.Builder
			b.WriteString("node0 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n")
			for i := 1; i <= n; i++ {
				fmt.Fprintf(&b, "node%d -- Linear(1, 1) -- forward_compute_time=1, backward_compute_time=1, activation_size=65536, parameter_size=0\n\tnode%d -- node%d\n", i, i-1, i)
			}
			return b.String()
		},
		bombs: func() []bomb {
			return []bomb{
				{name: "a line of 50 MB", content: content(pdHead, "node2 -- ", strings.Repeat("x", 50<<20), "\n"),
					want: "Line 2: the line is 52428809 bytes long"},
				{name: "a list of 10 million sizes",
					content: content(pdHead,
						"node2 -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=[",
						strings.Repeat("1;", 10<<20), "1], parameter_size=0\n"), want: "the line is 20971628 bytes long"},
				{name: "a name of 2 KB", content: content(pdHead, "node", strings.Repeat("2", 2000),
					" -- Linear(1) -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=0\n"), want: "a name is 2004 bytes long"},
				{name: "5 million edges", content: content(pdHead, strings.Repeat("\tnode1 -- node1\n", 3<<20)),
					want: "there are more than 20000 operators or 160000 edges"},
			}
		},
		samples: []string{"branchy.graph.txt", "blocks.dapple.txt"},
		mutate:  mutatePipedream,
	}
}

const pdHead = "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n"

// with returns a graph of an input and one operator with the given values.
func with(values string) string {
	return "node1 -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n" +
		"node2 -- Linear(1, 1) -- " + values + "\n\tnode1 -- node2\n"
}

// mutatePipedream mutates samples.
func mutatePipedream(sample []byte, s *script) []byte {
	kinds := []string{"Input", "Conv2d(3, 8)", "ReLU(inplace)", "Add(inplace)", "View(-1)", "MaxPool2d(2)",
		"Dropout(p=0.5)", "LSTM(3, 4)", "Size(0)", "Concat(1)", "Linear(3, 4)", "layer_1", "__getitem__(0)"}

	lines := strings.Split(strings.TrimSpace(string(sample)), "\n")
	for range 8 {
		if !s.more() {
			break
		}
		i := s.N(len(lines))
		parts := strings.Split(lines[i], " -- ")
		switch s.N(9) {
		case 0:
			if lines = append(lines[:i:i], lines[i+1:]...); len(lines) == 0 {
				return nil
			}
		case 1:
			lines = append(lines, lines[i])
		case 2:
			k := s.N(len(lines))
			lines[i], lines[k] = lines[k], lines[i]
		case 3: // an edge
			lines = append(lines, fmt.Sprintf("\tnode%d -- node%d", s.N(20), s.N(20)))
		case 4: // an operator
			lines = append(lines, fmt.Sprintf("node%d -- %s -- forward_compute_time=%s, backward_compute_time=%s, activation_size=%s, parameter_size=%s",
				s.N(20), s.pick(kinds), s.pick(extremes), s.pick(extremes),
				s.pick(extremes), s.pick(extremes)))
		case 5: // another kind of operator
			if len(parts) > 2 {
				parts[1] = s.pick(kinds)
				lines[i] = strings.Join(parts, " -- ")
			}
		case 6: // another number
			if at := strings.LastIndexByte(lines[i], '='); at > 0 {
				lines[i] = lines[i][:at+1] +
					s.pick(append([]string{"[1.0; 2.0]", "[", "[1;]"}, extremes...))
			}
		case 7:
			parts[s.N(len(parts))] = s.pick(oddTexts)
			lines[i] = strings.Join(parts, " -- ")
		case 8: // a row of operators, each connected to an earlier one
			for n := range s.N(12) {
				lines = append(lines, fmt.Sprintf("node%d -- ReLU() -- forward_compute_time=1, backward_compute_time=1, activation_size=64, parameter_size=0", 30+n), fmt.Sprintf("\tnode%d -- node%d", 29+n-s.N(3), 30+n))
			}
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// pipeDreamTable has the totals of the five public graphs (msr-fiddle/pipedream, profiler/*/profiles, V100),
// computed by an independent program in another language. F is rounded to 0.1 ms, sizes to MiB, weights to 0.1 MiB.
var pipeDreamTable = []struct {
	name               string
	stages             int
	raw, forward, back float64 // ms
	out, saved         engine.Bytes
	weights            float64 // MiB
	linear             bool
}{
	{"alexnet", 13, 44.8, 40.3, 40.5, 582, 758, 233.1, true},
	{"vgg16", 23, 233.9, 224.9, 438.6, 7371, 8866, 527.8, true},
	{"squeezenet1_0", 23, 113.2, 99.2, 172.1, 4870, 8607, 4.8, true},
	{"resnet18", 13, 107.4, 92.4, 152.3, 2500, 5269, 44.6, true},
	{"gnmt", 8, 33.5, 30.8, 55.9, 240, 329, 739.2, false},
}

// TestPipeDreamProfiles reads the public graphs. branchy.graph.txt in testdata and the tests of package chainify
// cover the rules without them.
func TestPipeDreamProfiles(t *testing.T) {
	for _, want := range pipeDreamTable {
		t.Run(want.name, func(t *testing.T) {
			data, err := os.ReadFile("../../../../shared/data/pipedream/" + want.name + ".graph.txt")
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the public PipeDream profiles are not at ../shared/data/pipedream")
			}
			if err != nil {
				t.Fatal(err)
			}
			p := checkSample(t, want.name+".graph.txt", data)
			got := p.Totals()
			ms := func(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond)) / 1e6 }
			saved := got.Saved
			for _, s := range p.Chain.Stages { // the other program also counts outputs that no stage saves
				if s.Unsaved {
					saved += s.Out
				}
			}
			mib := func(b engine.Bytes) engine.Bytes { return (b + engine.MiB/2) / engine.MiB }
			tenths := float64((10*got.Resident.Weights+engine.MiB/2)/engine.MiB) / 10
			if p.Name != want.name || got.Stages != want.stages || ms(got.Forward) != want.forward ||
				ms(got.Back) != want.back ||
				mib(got.Out) != want.out || mib(saved) != want.saved || tenths != want.weights {
				t.Errorf("%s: %d stages, F %.1f, B %.1f ms, a %d, abar %d, weights %.1f MiB; want %+v",
					p.Name, got.Stages, ms(got.Forward), ms(got.Back), mib(got.Out), mib(saved), tenths, want)
			}
			notes := strings.Join(p.Source.Notes, "\n")
			raw := time.Duration(want.raw * 1e6).String()
			if !strings.Contains(notes, "250µs of synchronization") ||
				!strings.Contains(notes, "the forward was "+raw) {
				t.Errorf("the notes do not tell the debias from %s:\n%s", raw, notes)
			}
			if linear := p.NotLinear() == ""; linear != want.linear {
				t.Errorf("NotLinear() = %q, want a useful chain: %v", p.NotLinear(), want.linear)
			}
			warned := strings.Contains(strings.Join(p.Warnings, "\n"), "no useful chain")
			if warned == want.linear {
				t.Errorf("warnings %q, want one about a useless chain: %v", p.Warnings, !want.linear)
			}
		})
	}
}
