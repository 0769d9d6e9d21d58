package pipedream

import (
	"strings"

	"memtide/profiles"
	"memtide/profiles/chainify"
)

// describeOperator fills in what an operator's description tells: its kind, and
// how PyTorch's autograd treats memory there. The rules are those of PyTorch:
// convolutions, normalizations, linear layers, pools and recurrent layers save
// their inputs; ReLU, sigmoid, softmax and recurrent layers their outputs;
// max-pooling saves 64-bit indices, twice its 32-bit output; dropout a mask of
// one byte per element.
func describeOperator(o *chainify.Operator, description string) {
	kind, _, _ := strings.Cut(description, "(")
	kind, _, _ = strings.Cut(strings.TrimSpace(kind), " ")
	o.Kind = profiles.Clip(kind)
	rule, known := rules[kind]
	o.Traits, o.Family = rule.traits, rule.family
	if !known {
		o.Traits = chainify.Guessed
	}
	switch lower := strings.ToLower(kind); {
	case strings.HasPrefix(kind, "Input") || kind == "input_ids" || kind == "attention_mask":
		o.Traits |= chainify.IsInput
	case rule.family == "" && strings.HasPrefix(lower, "conv"):
		o.Traits, o.Family = chainify.SavesIn, "conv"
	case rule.family == "" && (strings.HasPrefix(lower, "layer_") || strings.HasPrefix(lower, "cell")):
		o.Traits = chainify.SavesIn // whole blocks that were profiled as one operator
	}
	if strings.Contains(description, "inplace") {
		o.Traits |= chainify.InPlace
	}
	switch kind {
	case "MaxPool2d":
		o.Aux = 2 * o.Out
	case "Dropout":
		o.Aux = o.Out / 4
	}
}

// pdRule is what a kind of operator means.
type pdRule struct {
	family string
	traits chainify.Traits
}

var rules = map[string]pdRule{
	"Conv2d":                  {"conv", chainify.SavesIn},
	"BatchNorm2d":             {"norm", chainify.SavesIn},
	"LayerNorm":               {"norm", chainify.SavesIn},
	"Linear":                  {"fc", chainify.SavesIn},
	"Classifier":              {"fc", chainify.SavesIn},
	"MaxPool2d":               {"pool", chainify.SavesIn},
	"AvgPool2d":               {"pool", chainify.SavesIn},
	"LSTM":                    {"rnn", chainify.SavesIn | chainify.SavesOut},
	"EmuBidirLSTM":            {"rnn", chainify.SavesIn | chainify.SavesOut},
	"RecurrentAttention":      {"attention", chainify.SavesIn | chainify.SavesOut},
	"Embedding":               {"embed", chainify.SavesIn},
	"SoftmaxCrossEntropyLoss": {"act", chainify.SavesIn},
	"ReLU":                    {"act", chainify.SavesOut},
	"Sigmoid":                 {"act", chainify.SavesOut},
	"Tanh":                    {"act", chainify.SavesOut},
	"Softmax":                 {"act", chainify.SavesOut},
	"Dropout":                 {"act", 0},
	"Add":                     {"", chainify.PassesGrad},
	"Concat":                  {"", chainify.PassesGrad},
	"View":                    {"", chainify.IsView | chainify.PassesGrad},
	"Flatten":                 {"", chainify.IsView | chainify.PassesGrad},
	"reshape_input":           {"", chainify.IsView | chainify.PassesGrad},
	"__getitem__":             {"", chainify.IsView | chainify.PassesGrad},
	"Size":                    {"", chainify.IsView | chainify.IsShape},
}
