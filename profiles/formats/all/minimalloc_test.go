package all

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine"
)

func init() {
	owns["minimalloc"] = &own{
		factor: 2,
		bombs: func() []bomb {
			return []bomb{
				{name: "500,000 rows", content: content("lower,upper,size\n", strings.Repeat("0,1,0\n", 500_000)),
					want: "reading takes more than"},
				{name: "10 million cells", content: content("lower,upper,size\n", strings.Repeat(",", 10<<20),
					"\n"), want: "a row has more than 1000 cells"},
				{name: "a quote that is not closed in a row that is no comment", content: content("id,lower,upper,size\n#,\"",
					strings.Repeat("0,1,0\n", 500_000)), want: "a row is longer than"},
				{name: "an id of 2 KB", content: content("id,lower,upper,size\n", strings.Repeat("x", 2000),
					",0,1,1\n"), want: "a name is 2000 bytes long"},
			}
		},
		samples: []string{"minimalloc.8192.csv", "placed.4.csv"},
		mutate:  mutateMinimalloc,
	}
}

// mutateMinimalloc mutates samples.
func mutateMinimalloc(sample []byte, s *script) []byte {
	names := []string{"id", "lower", "upper", "size", "offset", "b1", "#", "0", "7"}

	return mutateCells(sample, s, ",", names)
}

// TestMiniMallocInstances reads the instances of google/minimalloc. Their capacity is in the file name.
func TestMiniMallocInstances(t *testing.T) {
	files, _ := filepath.Glob("../../../../shared/data/minimalloc/*.csv")
	if len(files) == 0 {
		t.Skip("../shared/data/minimalloc is not there")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := checkSample(t, filepath.Base(file), data)
		name, rest, _ := strings.Cut(filepath.Base(file), ".")
		capacity := map[string]engine.Bytes{"1048576.csv": 1 << 20, "12.csv": 12}[rest]
		if m := p.Memory; p.Name != name || m.Capacity != capacity ||
			len(m.Requests.Buffers) != bytes.Count(data, []byte("\n"))-1 || m.Requests.AggregatePeak() > capacity {
			t.Errorf("%s reads as %s with %d buffers, peak %d, capacity %d", file, p.Name, len(m.Requests.Buffers),
				m.Requests.AggregatePeak(), m.Capacity)
		}
	}
}
