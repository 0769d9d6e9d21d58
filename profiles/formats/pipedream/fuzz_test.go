package pipedream

import (
	"fmt"
	"strings"
	"testing"

	"memtide/profiles/formats/formattest"
)

// FuzzPipeDream mutates operator graphs: operators, their fields, their edges.
func FuzzPipeDream(f *testing.F) {
	kinds := []string{"Input", "Conv2d(3, 8)", "ReLU(inplace)", "Add(inplace)", "View(-1)", "MaxPool2d(2)",
		"Dropout(p=0.5)", "LSTM(3, 4)", "Size(0)", "Concat(1)", "Linear(3, 4)", "layer_1", "__getitem__(0)"}
	formattest.FuzzSamples(f, []string{"branchy.graph.txt", "blocks.dapple.txt"},
		func(sample []byte, s *formattest.Script) []byte {
			lines := strings.Split(strings.TrimSpace(string(sample)), "\n")
			for range 8 {
				if !s.More() {
					break
				}
				i := s.N(len(lines))
				parts := strings.Split(lines[i], sep)
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
						s.N(20), s.Pick(kinds), s.Pick(formattest.Extremes), s.Pick(formattest.Extremes),
						s.Pick(formattest.Extremes), s.Pick(formattest.Extremes)))
				case 5: // of another kind
					if len(parts) > 2 {
						parts[1] = s.Pick(kinds)
						lines[i] = strings.Join(parts, sep)
					}
				case 6: // another number
					if at := strings.LastIndexByte(lines[i], '='); at > 0 {
						lines[i] = lines[i][:at+1] +
							s.Pick(append([]string{"[1.0; 2.0]", "[", "[1;]"}, formattest.Extremes...))
					}
				case 7:
					parts[s.N(len(parts))] = s.Pick(formattest.OddTexts)
					lines[i] = strings.Join(parts, sep)
				case 8: // a row of operators, each connected to those before
					for n := range s.N(12) {
						lines = append(lines, fmt.Sprintf("node%d -- ReLU() -- forward_compute_time=1, backward_compute_time=1, activation_size=64, parameter_size=0", 30+n), fmt.Sprintf("\tnode%d -- node%d", 29+n-s.N(3), 30+n))
					}
				}
			}
			return []byte(strings.Join(lines, "\n") + "\n")
		})
}
