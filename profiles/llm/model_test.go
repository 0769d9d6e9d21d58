package llm

import "testing"

// TestParams compares the totals with those of the model cards and of the safetensors files. For DeepSeek-V3 the
// correction biases of its routers are left out, since they are not trained.
func TestParams(t *testing.T) {
	for _, c := range []struct {
		name string
		want int64
	}{
		{"llama2-7b", 6738415616}, {"llama2-13b", 13015864320}, {"llama2-70b", 68976648192},
		{"llama3-8b", 8030261248}, {"llama3-70b", 70553706496}, {"llama3.1-405b", 405853388800},
		{"llama3.2-1b", 1235814400}, {"llama3.2-3b", 3212749824}, {"tinyllama", 1100048384},
		{"mistral-7b", 7241732096}, {"mixtral-8x7b", 46702792704}, {"mixtral-8x22b", 140630071296},
		{"qwen2.5-0.5b", 494032768}, {"qwen2.5-7b", 7615616512}, {"qwen2.5-72b", 72706203648},
		{"qwen3-0.6b", 596049920}, {"qwen3-4b", 4022468096}, {"qwen3-8b", 8190735360}, {"qwen3-14b", 14768307200},
		{"qwen3-32b", 32762123264}, {"qwen3-30b-a3b", 30532122624}, {"qwen3-235b-a22b", 235093634560},
		{"gemma-2b", 2506172416}, {"gemma-7b", 8537680896}, {"gpt2", 124439808}, {"gpt2-xl", 1557611200},
		{"phi-1.5", 1418270720}, {"phi-2", 2779683840}, {"falcon-7b", 6921720704}, {"falcon-40b", 41303293952},
		{"deepseek-v3-671b", 671026404352},
	} {
		m := Lookup(c.name)
		if m == nil {
			t.Errorf("%s: not known", c.name)
			continue
		}
		if got := m.Params(); got != c.want {
			t.Errorf("%s: got %d parameters, want %d (%d more)", c.name, got, c.want, got-c.want)
		}
	}
}
