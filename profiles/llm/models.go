package llm

import (
	_ "embed" // models.txt
	"slices"
	"strconv"
	"strings"

	"memtide/profiles/llm/ask"
)

// sizes are a line of models.txt, which says itself what its columns are.
//
//go:embed models.txt
var sizes string

var models = func() (out []*Model) {
	for _, row := range ask.Rows(sizes) {
		f := strings.Fields(row[0])
		m := &Model{Name: f[0], Tied: len(f) > 8}
		for i, n := range []*int64{&m.Layers, &m.Hidden, &m.Heads, &m.Keys, &m.Wide, &m.Words} {
			*n, _ = strconv.ParseInt(f[2+i], 10, 64)
		}
		m.Head = m.Hidden / m.Heads
		built[f[1]](m)
		out = append(out, m)
	}
	return out
}()

// built are the families of known models: what a family has beside its sizes.
var built = map[string]func(*Model){"llama": gated, "qwen2": qwen2, "qwen3": qwen3, "qwen3moe": qwen3moe,
	"mixtral": mixtral, "gemma": gemma, "gpt2": gpt2, "bert": bert, "phi": phi, "neox": neox, "falcon": falcon,
	"mpt": mpt, "small16": small16, "deepseekV3": deepseekV3}

func gated(m *Model) { m.Gated = true }

func qwen2(m *Model) { m.Gated, m.QKVBias = true, true }

func qwen3(m *Model) { m.Gated, m.QKNorm, m.Head = true, true, 128 }

// mpt is a configuration of LLM-foundry: no biases, and 2048 learned positions where attention has no slopes.
func mpt(m *Model) { m.Layer, m.NoBias, m.OwnLoss = true, true, true }

func gpt2(m *Model) {
	m.Positions, m.Layer, m.Bias, m.Joined, m.Act, m.Narrow = 1024, true, true, true, ActNew, true
	m.Dropout, m.DropAttn, m.NoIDs, m.Dropped, m.OwnIDs, m.OwnLoss = true, true, true, true, true, true
}

// bert looks both ways, normalises its sums and guesses masked words. The prediction of the next sentence is left out.
func bert(m *Model) {
	m.Positions, m.Types, m.Layer, m.Bias, m.Both, m.Around = 512, 2, true, true, true, AroundSum
	m.Act, m.Narrow, m.Dropout, m.DropAttn, m.NoIDs = ActKernel, true, true, true, true
	m.Dropped, m.FirstNorm, m.Masked, m.HeadBias, m.Written, m.Family = true, true, true, true, true, "BERT"
}

func phi(m *Model) { m.HeadBias, m.Layer, m.Bias, m.Parallel, m.OneNorm = true, true, true, true, true }

// neox is a GPT-NeoX network: StableLM-alpha or Pythia.
func neox(m *Model) { m.Layer, m.Bias, m.Parallel, m.OwnLoss = true, true, true, true }

// gemma has heads of a width of its own.
func gemma(m *Model) { m.Gated, m.Head, m.Form = true, 256, FormPlus }

// falcon has two norms where heads are in groups.
func falcon(m *Model) {
	m.Head, m.Layer, m.Parallel, m.OneNorm, m.OwnLoss = 64, true, true, m.Keys == 1, true
}

func qwen3moe(m *Model) {
	qwen3(m)
	m.MoE, m.Wide = &MoE{Experts: 128, TopK: 8, Wide: m.Wide}, 0
}

func mixtral(m *Model) { m.Gated, m.MoE = true, &MoE{Experts: 8, TopK: 2, Wide: m.Wide} }

// small16 is a 16-billion network of DeepSeek's design: 64 experts of width 1408, two of them shared, six chosen, and
// queries that are not compressed.
func small16(m *Model) {
	m.Gated, m.MLA = true, &MLA{KVRank: 512, Nope: 128, Rope: 64, Value: 128}
	m.MoE = &MoE{Experts: 64, TopK: 6, Wide: 1408, Shared: 2816, Dense: 1}
}

func deepseekV3(m *Model) {
	m.Gated, m.MLA = true, &MLA{QRank: 1536, KVRank: 512, Nope: 128, Rope: 64, Value: 128}
	m.MoE = &MoE{Experts: 256, TopK: 8, Wide: 2048, Shared: 2048, Dense: 3}
}

// Lookup returns the model with a name, see ask.Named, or nil if it is not known. The model is shared and must not be
// changed.
func Lookup(name string) *Model {
	if known := ask.Named(name); known != nil {
		name = known.ID
	}
	if i := slices.IndexFunc(models, func(m *Model) bool { return m.Name == name }); i >= 0 {
		return models[i]
	}
	return nil
}
