package family_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// row is a network whose own code was run on PyTorch's meta device, with its parameters and what autograd keeps.
type row struct {
	Name   string
	Config json.RawMessage
	Total  int64
	Blocks [][2]int64
	Runs   [][6]json.RawMessage // attention, batch, tokens, checkpoint, blocks, outside
}

// measured returns the rows of testdata.
func measured(t *testing.T) (rows []row) {
	t.Helper()
	file, err := os.Open("testdata/families.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(packed).Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// run is a measured step.
type run struct {
	attention, checkpoint string
	batch, tokens         int64
	blocks                [][2]int64
	outside               int64
}

func (r *row) run(t *testing.T, i int) (out run) {
	for at, to := range []any{&out.attention, &out.batch, &out.tokens, &out.checkpoint, &out.blocks, &out.outside} {
		if err := json.Unmarshal(r.Runs[i][at], to); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Parameters and what autograd keeps, block by block, agree with the networks' own code. Families that are not
// known are refused, and no row is read wrongly.
func TestMeasured(t *testing.T) {
	exact, read := 0, 0
	for _, r := range measured(t) {
		m, err := family.Read(r.Config)
		if err != nil {
			continue
		}
		read++
		same := true
		var blocks [][2]int64
		for _, tower := range m.Beside {
			if tower.Blocks > 0 {
				blocks = append(blocks, [2]int64{tower.Blocks, tower.Params})
			}
		}
		blocks = append(blocks, m.BlockParams()...)
		if got := m.Params(); got != r.Total || !slices.Equal(blocks, r.Blocks) {
			same = false
			t.Errorf("%s: %d parameters, blocks of %v; want %d, %v", r.Name, got, blocks, r.Total, r.Blocks)
		}
		for i := range r.Runs {
			same = compare(t, m.Model, r.Name, r.run(t, i)) && same
		}
		if same {
			exact++
		}
	}
	t.Logf("%d rows are read, %d of them exact", read, exact)
	if read < leastRead {
		t.Errorf("%d rows are read, want %d at least", read, leastRead)
	}
}

// TestClassicKeep compares older families with their code in Transformers 5.6, run on PyTorch 1.13's meta device in the
// same way. Falcon's two indexes of 8 bytes a block are left out.
func TestClassicKeep(t *testing.T) {
	text, err := os.ReadFile("testdata/classic.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		m, err := family.Read(r.Config)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if got := m.BlockParams(); m.Params() != r.Total || !slices.Equal(got, r.Blocks) {
			t.Errorf("%s: %d parameters, blocks of %v; want %d, %v", r.Name, m.Params(), got, r.Total, r.Blocks)
		}
		for i := range r.Runs {
			compare(t, m.Model, r.Name, r.run(t, i))
		}
	}
}

// leastRead is the number of rows of known families.
const leastRead = 165

// compare compares a measured step with the step as Transformers runs it. It reports whether they are equal.
func compare(t *testing.T, m *llm.Model, name string, want run) bool {
	s := llm.Setup{Model: m, Work: llm.Work{Batch: want.batch, Seq: want.tokens}}
	llm.FindProgram("hf").Apply(&s)
	s.Weight, s.Grad, s.Attention, s.Checkpoint = 2, 2, llm.AttentionKind(want.attention),
		llm.CheckpointKind(want.checkpoint)
	s.Kernels = strings.HasSuffix(name, "+kernels")
	got, err := s.Kept()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	same := slices.Equal(got.Blocks, want.blocks) && int64(got.Outside) == want.outside
	if !same {
		t.Errorf("%s, %s, %d x %d tokens, checkpoint %s: kept %v, %d outside (%+d); want %v, %d", name,
			want.attention, want.batch, want.tokens, want.checkpoint,
			got.Blocks, got.Outside, int64(got.Outside)-want.outside, want.blocks, want.outside)
	}
	return same
}
