package torchtitan_test

import (
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/formats/formattest"
)

func sample(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/llama.log")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSums checks that the saved bytes are the sum of the list, layer by layer: 42.13 MiB in each of six layers,
// as its line says, and 383.02 MiB outside.
func TestSums(t *testing.T) {
	p := formattest.MustDecode(t, "x", []byte(sample(t)))
	const layer = 1*2048*1*4 + 2048*1024*2 + 2*(2048*16*64*2) + 16*2048*4 + 2*(2048*1024*2) + 2*(2048*2816*2)
	if c := p.Chain; c.Stages[1].Name != "layers.0" || c.Stages[6].Name != "layers.5" || c.Stages[3].Saved != layer ||
		c.Stages[3].Out != 2048*1024*2 {
		t.Errorf("stages %+v; want six layers that save %d bytes", c.Stages, layer)
	}
	const outside = 2048*1024*2 + 2048*4 + 2048*1024*2 + 2048*32000*2 + 2048*32000*4
	if got, want := p.Totals().Saved, engine.Bytes(6*layer+outside); got != want {
		t.Errorf("%d bytes are saved; want %d", got, want)
	}
}

// TestLogs checks logs with the name of the rank before each line, and logs in which layers of two patterns
// alternate.
func TestLogs(t *testing.T) {
	want := formattest.MustDecode(t, "x", []byte(sample(t))).Totals()
	named := "[rank0]:" + strings.ReplaceAll(strings.TrimSuffix(sample(t), "\n"), "\n", "\n[rank0]:") + "\n"
	if got := formattest.MustDecode(t, "x", []byte(named)).Totals(); got != want {
		t.Errorf("with the rank before each line: %+v; want %+v", got, want)
	}
	text := sample(t)
	begin, end := strings.Index(text, "[layers 0-5]"), strings.LastIndex(text, "\n\n---")
	half := strings.Replace(text[begin:end], "[layers 0-5] (x6", "[layers 1-5] (x3", 1)
	turns := text[:begin] + strings.Replace(half, "layers 1-5", "layers 0-4", 1) + "\n\n" + half + text[end:]
	if got := formattest.MustDecode(t, "x", []byte(turns)).Totals(); got != want {
		t.Errorf("in two patterns: %+v; want %+v", got, want)
	}
}
