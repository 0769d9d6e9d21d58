package llm

import (
	"strings"

	"memtide/engine"
)

// Card is a GPU as far as the time of a step and the allocator care. Rates are bytes and
// operations a second.
type Card struct {
	Name      string
	Memory    engine.Bytes // what a program can use
	Peak      float64      // of 16-bit products, dense [vendors' data sheets]
	Share     float64      // of the peak that products reach
	Attention float64      // of the peak that flash attention reaches
	Bandwidth float64      // of its memory [vendors' data sheets]
	NVLink    float64      // to its neighbours, one direction [vendors' data sheets]
	Network   float64      // of its own network card [DGX and HGX reference designs]
	Workspace engine.Bytes
	Link      float64 // to the host [profiles/preset; nvbandwidth#23; Megatron-LM#6491]
	Peak8     float64 // of 8-bit products, dense; 0 without units for them [vendors' data sheets]
	Back      float64 // from the host; 0: as Link [the same]
}

// Workspaces of cuBLAS, which PyTorch takes from its allocator once for each thread
// [CublasHandlePool.cpp: 2 x 4 MiB + 8 x 16 KiB, and 32 MiB from Hopper on].
const (
	workspaceAmpere = 2*4*engine.MiB + 8*16*engine.KiB
	workspaceHopper = 32 * engine.MiB
)

// Shares of the peak, from the step times of LLM-foundry's tables [mosaicml/llm-foundry,
// scripts/train/benchmarking]: 0.72 of an A100, 0.52 of an H100. That of Blackwell is
// assumed.
const (
	shareAmpere    = 0.72
	shareHopper    = 0.52
	shareBlackwell = 0.45
)

// Shares of the peak in flash attention: FlashAttention-2 reaches 35 % of an H100
// [arXiv:2407.08608, abstract]; on older cards, with short heads and causal masks, it is
// assumed to reach 45 %, less than the 50 to 73 % that its paper measured [arXiv:2307.08691].
const (
	attentionAmpere = 0.45
	attentionHopper = 0.35
)

const (
	tera = 1e12
	giga = 1e9
)

// cards are in the order in which a name is looked for: the longer ones first. Memory is
// what nvidia-smi shows less what the driver keeps.
var cards = []Card{
	{"A100-40G", 39 * engine.GiB, 312 * tera, shareAmpere, attentionAmpere, 1555 * giga, 300 * giga, 25 * giga, workspaceAmpere, 25 * giga, 0, 0},
	{"A100", 79 * engine.GiB, 312 * tera, shareAmpere, attentionAmpere, 2039 * giga, 300 * giga, 25 * giga, workspaceAmpere, 25 * giga, 0, 0},
	{"H100-96G", 95 * engine.GiB, 989 * tera, shareHopper, attentionHopper, 3350 * giga, 450 * giga, 50 * giga, workspaceHopper, 52 * giga, 1979 * tera, 0},
	{"H100", 79 * engine.GiB, 989 * tera, shareHopper, attentionHopper, 3350 * giga, 450 * giga, 50 * giga, workspaceHopper, 52 * giga, 1979 * tera, 0},
	{"GH200", 95 * engine.GiB, 989 * tera, shareHopper, attentionHopper, 4000 * giga, 450 * giga, 50 * giga, workspaceHopper, 295 * giga, 1979 * tera, 344 * giga},
	{"H200", 140 * engine.GiB, 989 * tera, shareHopper, attentionHopper, 4800 * giga, 450 * giga, 50 * giga, workspaceHopper, 52 * giga, 1979 * tera, 0},
	{"GB300", 277 * engine.GiB, 2500 * tera, shareBlackwell, attentionHopper, 8000 * giga, 900 * giga, 100 * giga, workspaceHopper, 182 * giga, 5000 * tera, 0},
	{"GB200", 185 * engine.GiB, 2500 * tera, shareBlackwell, attentionHopper, 8000 * giga, 900 * giga, 50 * giga, workspaceHopper, 182 * giga, 5000 * tera, 0},
	{"B200", 178 * engine.GiB, 2250 * tera, shareBlackwell, attentionHopper, 7700 * giga, 900 * giga, 50 * giga, workspaceHopper, 52 * giga, 4500 * tera, 0},
	{"L40S", 44 * engine.GiB, 362 * tera, shareAmpere, attentionAmpere, 864 * giga, 32 * giga, 25 * giga, workspaceAmpere, 25 * giga, 733 * tera, 0},
	{"A6000", 47 * engine.GiB, 155 * tera, shareAmpere, attentionAmpere, 768 * giga, 32 * giga, 25 * giga, workspaceAmpere, 25 * giga, 0, 0},
	{"4090", 23*engine.GiB + 512*engine.MiB, 165 * tera, shareAmpere, attentionAmpere, 1008 * giga, 32 * giga, 12 * giga, workspaceAmpere, 25 * giga, 330 * tera, 0},
	{"V100", 15*engine.GiB + 768*engine.MiB, 112 * tera, shareAmpere, attentionAmpere, 900 * giga, 150 * giga, 12 * giga, workspaceAmpere, 12 * giga, 0, 0},
}

// back is how fast the card reads host memory.
func (c *Card) back() float64 {
	if c.Back > 0 {
		return c.Back
	}
	return c.Link
}

// CardOf finds a card by a name that contains its own; nil if none does.
func CardOf(name string) *Card {
	for i := range cards {
		if strings.Contains(strings.ToUpper(name), cards[i].Name) {
			return &cards[i]
		}
	}
	return nil
}
