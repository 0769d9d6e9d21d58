package family_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// onCard holds the measurements on a card. testdata/h200.json says how they were made.
type onCard struct {
	Layers []struct {
		Name   string
		Config json.RawMessage
		Rows   []keptRow
	}
	Compiled []struct {
		Name               string
		Config             json.RawMessage
		Seq, Batch, Blocks int64
	}
	Steps []cardStep
}

// keptRow holds the bytes that autograd keeps of the second block and outside of the blocks.
type keptRow struct {
	Attention, States string
	Layer, Outside    int64
}

// cardStep is a step of Transformers' Trainer.
type cardStep struct {
	Name                    string
	Config                  json.RawMessage
	Parameters, Seq, Batch  int64
	Accumulate, LoRA        int64
	Ckpt, Attention, States string
	Optimizer               string
	Expandable, DoRA        bool
	Autocast                bool
	GPUs                    int64
	Shard                   string
	Allocated, Reserved     engine.Bytes
	Seconds                 float64
}

func readCard(t *testing.T) (all onCard) {
	t.Helper()
	text, err := os.ReadFile("testdata/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// What autograd keeps on a card agrees with the measurement, also where autocast narrows values that weights of 4
// bytes read. The seeds of attention's kernel (16 bytes), tokens, labels and the loss itself are not counted.
func TestKeptOnCard(t *testing.T) {
	for _, r := range readCard(t).Layers {
		m, err := family.Read(r.Config)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		for _, row := range r.Rows {
			row.check(t, r.Name, m.Model)
		}
	}
}

// check compares the prediction with a row.
func (r *keptRow) check(t *testing.T, name string, m *llm.Model) {
	t.Helper()
	s := llm.Setup{Model: m, Work: llm.Work{Batch: 2, Seq: 512}}
	llm.FindProgram("hf").Apply(&s)
	s.Attention = llm.AttentionKind(r.Attention)
	if s.CastsAll = r.States == "bf16 under autocast"; r.States != "fp32" {
		s.Weight, s.Grad = 2, 2
	}
	got, err := s.Kept()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	second := got.Blocks[0][1]
	if got.Blocks[0][0] == 1 {
		second = got.Blocks[1][1]
	}
	if off := float64(second)/float64(r.Layer) - 1; math.Abs(off) > 0.0003 {
		t.Errorf("%s, %s, %s: the second block keeps %d bytes, measured %d (%+.2f %%)", name, r.Attention,
			r.States, second, r.Layer, 100*off)
	}
	if off := r.Outside - int64(got.Outside); off < 0 || off > 1<<15 {
		t.Errorf("%s, %s, %s: outside %d bytes, measured %d; want up to %d fewer", name, r.Attention, r.States,
			got.Outside, r.Outside, 1<<15)
	}
}

// The prediction of what compiled blocks keep on a card is within 0.2 %.
func TestCompiledOnCard(t *testing.T) {
	for _, r := range readCard(t).Compiled {
		m, err := family.Read(r.Config)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: r.Batch, Seq: r.Seq}}
		llm.FindProgram("hf").Apply(&s)
		s.Weight, s.Grad, s.Compiled = 2, 2, true
		got, err := s.Kept()
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		all := int64(0)
		for _, b := range got.Blocks {
			all += b[0] * b[1]
		}
		if off := float64(all)/float64(r.Blocks) - 1; math.Abs(off) > 0.002 {
			t.Errorf("%s: its compiled blocks keep %d bytes, measured %d (%+.2f %%)", r.Name, all, r.Blocks, 100*off)
		}
	}
}

// far gives the steps whose errors are larger than those of others: the limits of the errors of allocated and
// reserved memory, and the reason.
var far = map[string][2]float64{
	"qwen3-next small":      {0.08, 0.05},  // the delta rule of version 5.17 keeps less than that of the vectors
	"falcon-h1-0.5b":        {0.04, 0.11},  // for the same reason as the next one
	"mamba2-130m":           {0.005, 0.11}, // less is reserved than predicted; the cause is not known
	"olmoe small":           {0.013, 0.06}, // gradients of experts in fp32
	"granite-2b":            {0.013, 0.03}, // adapters of more than rank 16
	"bert-base":             {0.007, 0.08}, // more is reserved than predicted; the cause is not known
	"roberta-base":          {0.004, 0.09},
	"distilbert":            {0.004, 0.1},
	"llama 4 layers untied": {0.004, 0.05},
}

// Allocated memory of a step of Transformers' Trainer is within 0.5 % of the prediction, and reserved memory
// within 3 % of the predicted range, except for the steps in far.
func TestStepsOnCard(t *testing.T) {
	timed, inTime := 0, 0
	for _, r := range readCard(t).Steps {
		ask := r.ask(t)
		a, err := ask.Estimate()
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		allocated, reserved := 0.005, 0.03
		if known, ok := far[r.Name]; ok {
			allocated, reserved = known[0], known[1]
		}
		switch {
		case r.Seq == 8192: // the allocator finds room in its cache
			reserved = 0.1
		case r.GPUs > 8 && r.Shard == "zero3": // and in the memory that was used to make the model
			allocated, reserved = 0.004, 0.14
		case r.Name == "llama3.2-1b" && r.Shard == "fsdp1" && r.Ckpt == "full": // less is reserved; the cause is not known
			reserved = 0.09
		case r.GPUs > 1 && r.Ckpt == "full":
			allocated = 0.025
		}
		if off := float64(a.Allocated)/float64(r.Allocated) - 1; math.Abs(off) > allocated {
			t.Errorf("%s: %d bytes are allocated, measured %d (%+.2f %%)", r.words(), a.Allocated, r.Allocated, 100*off)
		}
		if low, high := float64(r.Reserved)/float64(a.Low), float64(r.Reserved)/float64(a.High); low < 1-reserved ||
			high > 1+reserved {
			t.Errorf("%s: %d to %d bytes are reserved, measured %d", r.words(), a.Low, a.High, r.Reserved)
		}
		if r.Seconds == 0 {
			continue
		}
		timed++
		low, high := ask.Card.TimeRange(ask.Setup, a.Time)
		if low.Seconds() <= r.Seconds && r.Seconds <= high.Seconds() {
			inTime++
		}
	}
	if want := timed * 9 / 10; inTime < want {
		t.Errorf("%d of %d steps took a time within the range that is told, want %d", inTime, timed, want)
	}
}

// The table of the documentation has the measurements and the current predictions.
func TestCardInDocs(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/language-models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readCard(t).Steps {
		if row := r.row(t); !strings.Contains(string(docs), row+"\n") {
			t.Errorf("docs/language-models.md lacks\n%s", row)
		}
	}
}

// words returns the first columns of a step in the table.
func (r *cardStep) words() string {
	words := r.States
	for _, more := range []struct {
		is   bool
		word string
	}{
		{r.Autocast, "autocast"}, {r.Ckpt == "full", "full checkpointing"}, {r.Attention == "eager", "eager attention"},
		{r.Accumulate > 1, strconv.FormatInt(r.Accumulate, 10) + " micro batches"},
		{r.LoRA > 0 && !r.DoRA, "LoRA"}, {r.DoRA, "DoRA"}, {r.LoRA > 16, "rank " + strconv.FormatInt(r.LoRA, 10)},
		{r.Optimizer == "sgd", "SGD"}, {r.Optimizer == "adafactor", "Adafactor"}, {r.Expandable, "expandable segments"},
		{r.GPUs > 1, "-shard " + r.Shard + ", " + strconv.FormatInt(r.GPUs, 10) + " cards"},
	} {
		if more.is {
			words += ", " + more.word
		}
	}
	return fmt.Sprintf("%s | %d x %d | %s", strings.TrimSuffix(r.Name, " lora"), r.Batch, r.Seq, words)
}

// row returns a step as a row of the table.
func (r *cardStep) row(t *testing.T) string {
	ask := r.ask(t)
	a, err := ask.Estimate()
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	gib := func(b engine.Bytes) string { return strconv.FormatFloat(float64(b)/float64(engine.GiB), 'f', 1, 64) }
	row := fmt.Sprintf("| %s | %s | %s | %s | %s to %s |", r.words(), gib(r.Allocated), gib(a.Allocated),
		gib(r.Reserved), gib(a.Low), gib(a.High))
	switch {
	case r.GPUs > 1: // these are in a table of their own
		return row
	case r.Seconds == 0:
		return row + " | |"
	}
	low, high := ask.Card.TimeRange(ask.Setup, a.Time)
	return row + fmt.Sprintf(" %.0f | %d to %d |", 1000*r.Seconds, low.Milliseconds(), high.Milliseconds())
}

// ask returns the question of a step.
func (r *cardStep) ask(t *testing.T) llm.Ask {
	t.Helper()
	m, err := family.Read(r.Config)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	args := engine.Args{"device": "h200", "ckpt": r.Ckpt, "attention": r.Attention, "states": r.States,
		"optimizer": r.Optimizer}
	for name, n := range map[string]int64{"seq": r.Seq, "batch": r.Batch, "accumulate": r.Accumulate, "lora": r.LoRA} {
		args[name] = strconv.FormatInt(n, 10)
	}
	if r.DoRA {
		args["dora"] = "yes"
	}
	if r.Autocast {
		args["autocast"] = "yes"
	}
	if r.GPUs > 1 {
		args["gpus"], args["shard"] = strconv.FormatInt(r.GPUs, 10), r.Shard
	}
	ask, err := llm.New(m.Model, args)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return ask
}
