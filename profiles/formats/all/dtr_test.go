package all

import (
	"fmt"
	"strings"
)

func init() {
	owns["dtr"] = &own{
		factor: 2,
		bombs: func() []bomb {
			return []bomb{
				{name: "a line of 20 MB", content: content(dtrHead, `{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`,
					strings.Repeat(`"x",`, 5<<20), `"x"], "RESULT":[], "TIME":"1"}`+"\n"), want: "Line 3: the line is "},
				{name: "100 functions of 20,000 arguments",
					content: content(dtrHead,
						strings.Repeat(`{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`+strings.Repeat(`"x",`,
							20_000)+`"x"], "RESULT":["y"], "TIME":"1"}`+"\n"+`{"INSTRUCTION":"MEMORY", "NAME":"y", "MEMORY":"4"}`+"\n"+`{"INSTRUCTION":"ALIAS", "NAME":"y", "ALIAS":"-1"}`+"\n", 100)), want: "none of 100 functions"},
				{name: "a million names", content: content(dtrHead,
					rows(101_000,
						func(i int) string { return fmt.Sprintf(`{"INSTRUCTION":"COPY", "DST":"c%d", "SRC":"x"}`+"\n", i) })),
					want: "there are more than 100000 names"},
				{name: "a name of 2 KB", content: content(dtrHead, `{"INSTRUCTION":"CONSTANT", "NAME":"`,
					strings.Repeat("x", 2000), `"}`+"\n"), want: "the name of a value is 2000 bytes long"},
			}
		},
		samples: []string{"residual.dtr.log"},
		mutate:  mutateDtr,
	}
}

const dtrHead = `{"INSTRUCTION":"CONSTANT", "NAME":"x"}` + "\n" +
	`{"INSTRUCTION":"MEMORY", "NAME":"x", "MEMORY":"4"}` + "\n"

// mutateDtr mutates samples.
func mutateDtr(sample []byte, s *script) []byte {
	keys := []string{"INSTRUCTION", "NAME", "ARGS", "RESULT", "TIME", "MEMORY", "ALIAS", "MUTATE", "DST", "SRC",
		"ANNOTATION"}
	texts := []string{"CONSTANT", "MEMORY", "CALL", "ALIAS", "MUTATE", "COPY", "COPY_FROM", "RELEASE", "ANNOTATE",
		"START", "BACKWARD", "x", "w1", "before", "-1", "0", "1", "relu_backward"}

	lines := strings.Split(strings.TrimSpace(string(sample)), "\n")
	for range 8 {
		if !s.more() {
			break
		}
		i := s.N(len(lines))
		switch s.N(6) {
		case 0:
			if lines = append(lines[:i:i], lines[i+1:]...); len(lines) == 0 {
				return nil
			}
		case 1:
			lines = append(lines[:i:i], append([]string{lines[i]}, lines[i:]...)...)
		case 2:
			k := s.N(len(lines))
			lines[i], lines[k] = lines[k], lines[i]
		default:
			lines[i] = string(mutateJSON([]byte(lines[i]),
				&script{B: s.B[:min(len(s.B), 8)]}, keys, texts))
			s.B = s.B[min(len(s.B), 8):]
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
