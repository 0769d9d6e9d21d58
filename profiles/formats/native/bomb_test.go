package native

import (
	"fmt"
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "memtide", 1, []formattest.Bomb{
		{Name: "a name of 50 MB", Content: formattest.Content(nativeHead, `"stages":[{"name":"`,
			formattest.Rep("x", 50<<20), `","forward_s":1}]}`),
			Want: "Line 1: a text after name is 52428802 bytes long. At most 64000 bytes are read."},
		{Name: "a name of 2 KB", Content: formattest.Content(nativeHead, `"stages":[{"name":"`,
			formattest.Rep("x", 2000), `","forward_s":1}]}`),
			Want: "name is 2000 bytes long. At most 1000 bytes are read."},
		{Name: "a key of 5 MB", Content: formattest.Content(nativeHead, `"`, formattest.Rep("x", 5<<20), `":1}`),
			Want: "5242882 bytes long"},
		{Name: "a number of 5 MB", Content: formattest.Content(nativeHead, `"batch":1`, formattest.Rep("0", 5<<20),
			`}`), Want: "a number after batch is 5242881 bytes long. At most 1000 bytes are read."},
		{Name: "lists in lists", Content: formattest.Content(nativeHead, `"x":`, formattest.Rep("[", 10<<20)),
			Want: "nested deeper than 64"},
		{Name: "objects in objects", Content: formattest.Content(nativeHead, `"x":`, formattest.Rep(`{"a":`, 4<<20)),
			Want: "nested deeper than 64"},
		{Name: "100,000 keys", Content: formattest.Content(nativeHead, formattest.Rep(`"a":1,"b":2,`, 100_000),
			formattest.ManyKeys(100_000), `"z":1}`), Want: "An object has more than 1000 keys"},
		{Name: "a stage of 100,000 keys",
			Content: formattest.Content(nativeHead, `"stages":[{`, formattest.ManyKeys(100_000), `"z":1}]}`),
			Want:    "stages[0] is 1288897 bytes long. At most 1048576 bytes are read."},
		{Name: "30,000 stages", Content: formattest.Content(nativeHead, `"stages":[`,
			formattest.Rep(goodStage+",", 30_000), goodStage, `]}`),
			Want: "There are more than 19999 stages. At most 20000 are read"},
		{Name: "texts of 60 MB", Content: formattest.Content(nativeHead, `"kind":"graph","values":[`,
			formattest.Rows(60_000, func(i int) string {
				return fmt.Sprintf(`{"id":%d,"bytes":1,"name":"%s"}`, i,
					long)
			}), `],"ops":[{}]}`), Want: "are more than 48 MiB"},
		{Name: "a million notes", Content: formattest.Content(nativeHead, `"source":{"notes":[`,
			formattest.Rep(`"",`, 1<<20), `""]},"stages":[`, goodStage, `]}`), Want: "source is 3145742 bytes long"},
		{Name: "100,000 warnings", Content: formattest.Content(nativeHead, `"warnings":[`,
			formattest.Rep(`"",`, 100_000), `""],"stages":[`, goodStage, `]}`),
			Want: "There are 100001 warnings. At most 1000 are read."},
		{Name: "a million values", Content: formattest.Content(nativeHead, `"kind":"graph","values":[`,
			formattest.Rep("0,", 1<<20), `0],"ops":[]}`), Want: "values[0]"},
		{Name: "101,000 values", Content: formattest.Content(nativeHead, `"kind":"graph","values":[`,
			formattest.Rows(101_000, func(i int) string { return fmt.Sprintf(`{"id":%d,"bytes":1}`, i) }),
			`],"ops":[]}`), Want: "There are more than 100000 values"},
		{Name: "an operation with a million inputs",
			Content: formattest.Content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[{"in":[`,
				formattest.Rep("1,", 1<<20), `1]}]}`), Want: "ops[0] is 2097162 bytes long"},
		{Name: "operations with 100,000 inputs each",
			Content: formattest.Content(nativeHead, `"kind":"graph","values":[{"id":1,"bytes":1}],"ops":[`,
				formattest.Rep(`{"in":[`+formattest.Rep("1,", 100_000)+`1]},`, 14), `{}]}`),
			Want: "reading takes more than"},
		{Name: "a graph beside a chain",
			Content: formattest.Content(nativeHead, `"stages":[`, goodStage, `],"graph":{"values":[`,
				formattest.Rep("[],", 1<<20), `0]}}`), Want: "graph.values[0]"},
		{Name: "buffers of little", Content: formattest.Content(nativeHead, `"kind":"buffers","buffers":[`,
			formattest.Rep(`0,`, 1<<20), `0]}`), Want: "buffers[0]"},
	})
}
