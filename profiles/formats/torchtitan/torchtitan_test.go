package torchtitan_test

import (
	"os"
	"strconv"
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

// What is kept is what the list adds up to, layer by layer: 42.13 MiB in each of six, as its line
// says, and 383.02 MiB outside.
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

// Logs of one rank have its name before each line; layers of two patterns may take turns.
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

func TestRejected(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(sample(t), old, new, 1) }
	formattest.Rejections(t, []formattest.Rejection{
		{Name: "another size", Input: with("4.00 MiB  bfloat16   SAVE*", "5.00 MiB  bfloat16   SAVE*"),
			Want: "Line 6: [1, 2048, 1024] of bfloat16 are said to take 5.00 MiB. Shape and type give the size."},
		{Name: "symbolic", Input: with("  4.00 MiB  bfloat16   SAVE*", "  symbolic  bfloat16   SAVE*"),
			Want: "Line 6: the size is symbolic. Sizes of one training step are expected: trace with fixed shapes."},
		{Name: "a line is missing", Input: with("  1     8.00 KiB", "  2     8.00 KiB"),
			Want: `Line 7: this is "  2     8.00 KiB  float32    SAVE         [1, 2048, 1]     …". Activation 1 of its layer is expected: number, size, type, policy, shape, module, operator.`},
		{Name: "cut", Input: sample(t)[:strings.Index(sample(t), "Total:")],
			Want: "Line 23: 59 activations are listed, and the total is 0. A line with the total ends the list."},
		{Name: "fewer than said", Input: with("(5 activations", "(6 activations"),
			Want: "Line 5: 6 activations are said, and 5 listed. Every activation of a layer has a line."},
		{Name: "no stride", Input: with("[layers 0-5] (x6", "[layers 0-6] (x6"),
			Want: "Line 12: 6 layers of one pattern are 0 to 6, which does not say which. Layers follow each other, or are every second or third, below 1000."},
	})
}

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	text := sample(t)
	begin := strings.Index(text, "  0 ")
	row := text[begin : strings.Index(text[begin:], "\n")+begin+1]
	formattest.Bombs(t, "torchtitan", 2, []formattest.Bomb{
		{Name: "400,000 activations", Content: formattest.Content(text[:begin],
			formattest.Rows(400_000, func(i int) string { return "  " + strconv.Itoa(i) + row[3:] })),
			Want: "activations are said"},
		{Name: "a million layers", Content: formattest.Content(strings.Replace(text, "[layers 0-5] (x6",
			"[layers 0-999999] (x1000000", 1)), Want: "below 1000"},
	})
}
