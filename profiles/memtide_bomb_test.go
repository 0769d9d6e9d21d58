package profiles

import (
	"fmt"
	"testing"
)

// TestBombs: see formattest.Bombs.
func TestBombs_memtide(t *testing.T) {
	runBombs(t, "memtide", 1, []bomb{
		{"a name of 50 MB", content(nativeHead, `"stages":[{"name":"`, rep("x", 50<<20), `","forward_s":1}]}`), "Line 1: a text behind name is 52428802 bytes long. At most 64000 bytes are read."},
		{"a name of 2 KB", content(nativeHead, `"stages":[{"name":"`, rep("x", 2000), `","forward_s":1}]}`), "name is 2000 bytes long. At most 1000 bytes are read."},
		{"a key of 5 MB", content(nativeHead, `"`, rep("x", 5<<20), `":1}`), "5242882 bytes long"},
		{"a number of 5 MB", content(nativeHead, `"batch":1`, rep("0", 5<<20), `}`), "a number behind batch is 5242881 bytes long. At most 1000 bytes are read."},
		{"lists in lists", content(nativeHead, `"x":`, rep("[", 10<<20)), "nested deeper than 64"},
		{"objects in objects", content(nativeHead, `"x":`, rep(`{"a":`, 4<<20)), "nested deeper than 64"},
		{"100,000 keys", content(nativeHead, rep(`"a":1,"b":2,`, 100_000), manyKeys(100_000), `"z":1}`), "An object has more than 1000 keys"},
		{"a stage of 100,000 keys", content(nativeHead, `"stages":[{`, manyKeys(100_000), `"z":1}]}`), "stages[0] is 1288897 bytes long. At most 1048576 bytes are read."},
		{"30,000 stages", content(nativeHead, `"stages":[`, rep(goodStage+",", 30_000), goodStage, `]}`), "There are more than 19999 stages. At most 20000 are read"},
		{"texts of 60 MB", content(nativeHead, `"kind":"graph","values":[`, rows(60_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1,"name":"%s"}`, i, long) }), `],"ops":[{}]}`), "are more than 48 MiB"},
		{"a million notes", content(nativeHead, `"source":{"notes":[`, rep(`"",`, 1<<20), `""]},"stages":[`, goodStage, `]}`), "source is 3145742 bytes long"},
		{"100,000 warnings", content(nativeHead, `"warnings":[`, rep(`"",`, 100_000), `""],"stages":[`, goodStage, `]}`), "There are 100001 warnings. At most 1000 are read."},
		{"a million values", content(nativeHead, `"kind":"graph","values":[`, rep("0,", 1<<20), `0],"ops":[]}`), "values[0]"},
		{"101,000 values", content(nativeHead, `"kind":"graph","values":[`, rows(101_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1}`, i) }), `],"ops":[]}`), "There are more than 100000 values"},
		{"an operation with a million inputs", content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[`, rep("1,", 1<<20), `1]}]}`), "ops[0] is 2097162 bytes long"},
		{"operations with 100,000 inputs each", content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[`, rep(`{"in":[`+rep("1,", 100_000)+`1]},`, 14), `{}]}`), "reading takes more than"},
		{"a graph beside a chain", content(nativeHead, `"stages":[`, goodStage, `],"graph":{"values":[`, rep("[],", 1<<20), `0]}}`), "graph.values[0]"},
		{"buffers of little", content(nativeHead, `"kind":"buffers","buffers":[`, rep(`0,`, 1<<20), `0]}`), "buffers[0]"},
	})
}
