package card

import (
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// bus is a link to the host.
type bus struct {
	name          string
	peak          engine.Rate // of the standard, each direction
	toHost, toDev engine.Rate
	origin        profiles.Origin
}

// The links of the cards below. What copies reach is a rule of thumb, 80-85 % of the peak, where nothing was measured.
var (
	gen3   = bus{"PCIe 3 x16", pcie3x16, 12 * gb, 12 * gb, profiles.Estimated}
	gen4   = bus{"PCIe 4 x16", pcie4x16, 25 * gb, 25 * gb, profiles.Estimated}
	gen5   = bus{"PCIe 5 x16", pcie5x16, 52 * gb, 52 * gb, profiles.Estimated}
	c2c    = bus{"NVLink-C2C", 225 * gb, 193 * gb, 211 * gb, profiles.Measured}
	asC2C  = bus{"NVLink-C2C", 225 * gb, 193 * gb, 211 * gb, profiles.Estimated}
	hidden = bus{name: "not known"}
	shared = bus{name: "not there, since memory is shared"}
)

// Common sources.
const (
	byDriver  = "memory as nvidia-smi reports it (modal-labs/modal-client pull request 2797)"
	byTables  = "rates and memory bandwidth from the tables of aiconfigurator and torchtitan"
	titan     = "16-bit rate from torchtitan's table of peaks"
	configure = "memory, rates and memory bandwidth from aiconfigurator's tables"
	onGB300   = "nvbandwidth on a board of four GB300, one direction at a time (NVIDIA/Megatron-LM issue 6491)"
	tpuDocs   = "memory, rates and bandwidths from Google's documentation"
	threads   = "memory bandwidth from a third-party table (llmcheck); three quarters of the host's memory, which a program may take"
)

// What no source at hand confirms.
const (
	ratesAndBandwidth = "rates and memory bandwidth"
	everything        = "memory, rates and memory bandwidth"
	PlainRate         = "32-bit rate" // which answers in 16 bits do not need
)

// added are the cards in the order in which they are listed behind the old ones: memory as the driver reports it, in
// MiB; peaks of 32-bit arithmetic, of dense 16-bit products with 32-bit sums and of dense 8-bit ones, in TFLOP/s;
// bandwidths of memory, to neighbours and of the network, in GB/s and in each direction. 0 is not known, or not there.
var added = []struct {
	id, name                        string
	mib                             engine.Bytes
	kind                            Kind
	bus                             bus
	fp32, fp16, fp8                 float64
	memory, between, network        engine.Rate
	source, memorySource, unsourced string
}{
	{"k40", "K40", 11_441, Older, gen3, 4.29, 0, 0, 288, 0, 0,
		"", "", everything},
	{"t4", "T4", 15_360, Volta, gen3, 8.1, 65, 0, 320, 12, 12,
		"", byDriver, ratesAndBandwidth},
	{"rtx-3090", "RTX 3090", 24_576, Ampere, gen4, 35.6, 71, 0, 936, 25, 12,
		"", "memory as nvidia-smi reports it (club-3090 issue 390)", ratesAndBandwidth},
	{"rtx-4090", "RTX 4090", 24_564, Ampere, gen4, 82.6, 165.2, 330.3, 1008, 25, 12,
		"16-bit and 8-bit rates and memory bandwidth from a third-party table (waredb)", "memory as nvidia-smi reports it (RLinf issue 255)", PlainRate},
	{"rtx-5090", "RTX 5090", 32_607, Ampere, gen5, 104.8, 209.5, 419, 1792, 52, 12,
		"memory bandwidth from a third-party guide (spheron)", "memory as nvidia-smi reports it (club-3090 issue 1229)", "rates"},
	{"rtx-a6000", "RTX A6000", 49_140, Ampere, gen4, 38.7, 154.85, 0, 768, 25, 25,
		titan, "", "memory, 32-bit rate and memory bandwidth"},
	{"rtx-6000-ada", "RTX 6000 Ada", 49_140, Ampere, gen4, 91.1, 364, 728, 960, 25, 25,
		"", "", everything},
	{"rtx-pro-6000", "RTX PRO 6000 Blackwell", 97_887, Ampere, gen5, 126, 467.8, 935.6, 1792, 52, 25,
		configure, "as nvidia-smi reports it", PlainRate},
	{"a10", "A10", 23_028, Ampere, gen4, 31.2, 125, 0, 600, 25, 25,
		"", byDriver, ratesAndBandwidth},
	{"l4", "L4", 23_034, Ampere, gen4, 30.3, 121, 242, 300, 25, 25,
		byTables, byDriver, PlainRate},
	{"l40s", "L40S", 46_068, Ampere, gen4, 91.6, 362.05, 733, 864, 25, 25,
		byTables, byDriver, PlainRate},
	{"a100-40gb", "A100-40GB-SXM", 40_960, Ampere, gen4, 19.5, 312, 0, 1555, 300, 25,
		byTables, byDriver, ""},
	{"a100-80gb", "A100-80GB-SXM", 81_920, Ampere, gen4, 19.5, 312, 0, 2039, 300, 25,
		byTables, byDriver, ""},
	{"a100-80gb-pcie", "A100-80GB-PCIe", 81_920, Ampere, gen4, 19.5, 312, 0, 1935, 25, 25,
		byTables, byDriver, ""},
	{"h100", "H100-SXM", 81_559, Hopper, gen5, 67, 989, 1979, 3350, 450, 50,
		byTables, byDriver, ""},
	{"h100-pcie", "H100-PCIe", 81_559, Hopper, gen5, 51, 756.5, 1513, 2000, 52, 50,
		byTables, "", "memory"},
	{"h100-nvl", "H100-NVL", 95_331, Hopper, gen5, 60, 835, 1671, 3900, 300, 50,
		titan, "memory as the driver reports it (fastfetch issue 1658)", "32-bit and 8-bit rates and memory bandwidth"},
	{"h100-96gb", "H100-SXM-96GB", 97_280, Hopper, gen5, 67, 989, 1979, 3350, 450, 50,
		byTables, "", "memory"},
	{"h20", "H20", 97_871, Hopper, gen5, 44, 148, 296, 4000, 450, 50,
		titan, "", "memory, 32-bit and 8-bit rates and memory bandwidth"},
	{"h200", "H200-SXM", 143_771, Hopper, gen5, 67, 989, 1979, 4800, 450, 50,
		byTables, "", "memory"},
	{"b200", "B200", 183_359, Blackwell, gen5, 75, 2250, 4500, 7672, 900, 50,
		byTables + "; memory bandwidth from pytorch/ao pull request 4002", "memory as nvidia-smi reports it (NVIDIA/TensorRT-LLM issue 10278)", PlainRate},
	{"b300", "B300", 275_040, Blackwell, gen5, 75, 2250, 4500, 7750, 900, 100,
		configure, "as nvidia-smi reports it", PlainRate},
	{"gb200", "GB200", 189_471, Blackwell, asC2C, 80, 2500, 5000, 8000, 900, 50,
		configure + "; taken to be as fast as " + onGB300, "as nvidia-smi reports it", PlainRate},
	{"gb300", "GB300", 284_208, Blackwell, c2c, 80, 2500, 5000, 8000, 900, 100,
		configure + "; link to the host measured by " + onGB300, "as nvidia-smi reports it", PlainRate},
	{"mi300x", "MI300X", 196_592, Other, gen5, 163.4, 1307, 2615, 5300, 448, 50,
		"rates and memory bandwidth from third-party tables", "memory as rocm-smi reports it (ROCm issue 4750)", "32-bit rate and the links between cards"},
	{"mi325x", "MI325X", 262_122, Other, gen5, 163.4, 1307, 2615, 6000, 448, 50,
		"rates and memory bandwidth from third-party tables", "", "memory, 32-bit rate and the links between cards"},
	{"mi355x", "MI355X", 294_888, Other, gen5, 157.3, 2500, 5000, 8000, 448, 50,
		"16-bit rate and memory bandwidth from third-party tables", "", "memory, 32-bit and 8-bit rates and the links between cards"},
	{"tpu-v5e", "TPU v5e", 16_128, Other, hidden, 0, 197, 0, 819, 0, 0,
		tpuDocs, "", "memory that a program can use"},
	{"tpu-v5p", "TPU v5p", 95_760, Other, hidden, 0, 459, 0, 2765, 0, 0,
		tpuDocs, "", "memory that a program can use"},
	{"tpu-v6e", "TPU v6e", 32_256, Other, hidden, 0, 918, 0, 1638, 0, 0,
		tpuDocs, "", "memory that a program can use"},
	{"gaudi-3", "Gaudi 3", 129_024, Other, gen5, 0, 1835, 1835, 3700, 0, 0,
		"memory from Intel's documentation", "", "memory that a program can use, rates and memory bandwidth"},
	{"apple-m1-16gb", "Apple M1, 16 GB", 12 << 10, Shared, shared, 0, 0, 0, 68, 0, 0,
		threads, "", "memory"},
	{"apple-m2-24gb", "Apple M2, 24 GB", 18 << 10, Shared, shared, 0, 0, 0, 100, 0, 0,
		threads, "", "memory"},
	{"apple-m3-24gb", "Apple M3, 24 GB", 18 << 10, Shared, shared, 0, 0, 0, 100, 0, 0,
		threads, "", "memory"},
	{"apple-m4-32gb", "Apple M4, 32 GB", 24 << 10, Shared, shared, 0, 0, 0, 120, 0, 0,
		threads, "", "memory"},
	{"apple-m1-max-64gb", "Apple M1 Max, 64 GB", 48 << 10, Shared, shared, 0, 0, 0, 400, 0, 0,
		threads, "", "memory"},
	{"apple-m2-max-96gb", "Apple M2 Max, 96 GB", 72 << 10, Shared, shared, 0, 0, 0, 400, 0, 0,
		threads, "", "memory"},
	{"apple-m3-max-128gb", "Apple M3 Max, 128 GB", 96 << 10, Shared, shared, 0, 0, 0, 400, 0, 0,
		threads, "", "memory"},
	{"apple-m4-max-128gb", "Apple M4 Max, 128 GB", 96 << 10, Shared, shared, 0, 0, 0, 546, 0, 0,
		threads, "", "memory"},
	{"apple-m3-ultra-512gb", "Apple M3 Ultra, 512 GB", 384 << 10, Shared, shared, 0, 0, 0, 800, 0, 0,
		threads, "", "memory"},
}

// cards are all of them, those of before first: references to networks and links find them by their id.
var cards = slices.Concat(old, tabled())

func tabled() (out []Card) {
	tera := func(n float64) Flops { return Flops(engine.Int64(n*1000)) * (teraflops / 1000) }
	for _, r := range added {
		c := Card{ID: r.id, Device: engine.Device{Name: r.name, Memory: r.mib * engine.MiB, ToHost: r.bus.toHost, ToDev: r.bus.toDev},
			Link: r.bus.name, LinkPeak: r.bus.peak, LinkOrigin: r.bus.origin, MemoryOrigin: profiles.Measured,
			FP32: tera(r.fp32), FP16: tera(r.fp16), FP8: tera(r.fp8), MemoryRate: r.memory * gb, Between: r.between * gb, Network: r.network * gb,
			Kind: r.kind, Unsourced: r.unsourced}
		parts := []string{r.source, r.memorySource}
		if r.memorySource == "" {
			c.MemoryOrigin = profiles.Estimated
		}
		switch {
		case c.LinkOrigin == profiles.Estimated && r.kind != Blackwell:
			parts = append(parts, ruleOfThumb)
		case c.LinkOrigin == profiles.Estimated:
			parts = append(parts, "link to the host an estimate")
		case c.LinkOrigin == profiles.Unknown:
			parts = append(parts, "link to the host "+r.bus.name)
		}
		if r.unsourced != "" {
			parts = append(parts, "no source at hand confirms its "+r.unsourced)
		}
		c.Source = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
		out = append(out, c)
	}
	return out
}
