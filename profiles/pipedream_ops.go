package profiles

import (
	"strings"
)

// describeOperator fills in what an operator's description tells: its kind, and
// how PyTorch's autograd treats memory there. The rules are those of PyTorch:
// convolutions, normalizations, linear layers, pools and recurrent layers save
// their inputs; ReLU, sigmoid, softmax and recurrent layers their outputs;
// max-pooling saves 64-bit indices, twice its 32-bit output; dropout a mask of
// one byte per element.
func describeOperator(o *operator, description string) {
	kind, _, _ := strings.Cut(description, "(")
	kind, _, _ = strings.Cut(strings.TrimSpace(kind), " ")
	o.kind = clip(kind)
	rule, known := pdRules[kind]
	o.traits, o.family = rule.traits, rule.family
	if !known {
		o.traits = guessed
	}
	switch lower := strings.ToLower(kind); {
	case strings.HasPrefix(kind, "Input") || kind == "input_ids" || kind == "attention_mask":
		o.traits |= isInput
	case rule.family == "" && strings.HasPrefix(lower, "conv"):
		o.traits, o.family = savesIn, "conv"
	case rule.family == "" && (strings.HasPrefix(lower, "layer_") || strings.HasPrefix(lower, "cell")):
		o.traits = savesIn // whole blocks that were profiled as one operator
	}
	if strings.Contains(description, "inplace") {
		o.traits |= inPlace
	}
	switch kind {
	case "MaxPool2d":
		o.aux = 2 * o.out
	case "Dropout":
		o.aux = o.out / 4
	}
}

// pdRule is what a kind of operator means.
type pdRule struct {
	family string
	traits traits
}

var pdRules = map[string]pdRule{
	"Conv2d":                  {"conv", savesIn},
	"BatchNorm2d":             {"norm", savesIn},
	"LayerNorm":               {"norm", savesIn},
	"Linear":                  {"fc", savesIn},
	"Classifier":              {"fc", savesIn},
	"MaxPool2d":               {"pool", savesIn},
	"AvgPool2d":               {"pool", savesIn},
	"LSTM":                    {"rnn", savesIn | savesOut},
	"EmuBidirLSTM":            {"rnn", savesIn | savesOut},
	"RecurrentAttention":      {"attention", savesIn | savesOut},
	"Embedding":               {"embed", savesIn},
	"SoftmaxCrossEntropyLoss": {"act", savesIn},
	"ReLU":                    {"act", savesOut},
	"Sigmoid":                 {"act", savesOut},
	"Tanh":                    {"act", savesOut},
	"Softmax":                 {"act", savesOut},
	"Dropout":                 {"act", 0},
	"Add":                     {"", passesGrad},
	"Concat":                  {"", passesGrad},
	"View":                    {"", isView | passesGrad},
	"Flatten":                 {"", isView | passesGrad},
	"reshape_input":           {"", isView | passesGrad},
	"__getitem__":             {"", isView | passesGrad},
	"Size":                    {"", isView | isShape},
}
