package card

import (
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// Peak rates of the host links, in each direction.
const (
	pcie3x16  engine.Rate = 15_750_000_000
	pcie4x16  engine.Rate = 31_500_000_000
	pcie5x16  engine.Rate = 63_000_000_000
	nvlink2x2 engine.Rate = 50_000_000_000
	nvlinkC2C engine.Rate = 450_000_000_000
)

// gb is the unit of vendors' bandwidths: 10^9 bytes per second.
const gb engine.Rate = 1_000_000_000

// nominal is the usable memory, in MiB, per gigabyte in the name of an old card. The V100 sold as 16 GB offers
// 15.75 GiB (measured, see its source). Other cards are assumed to lose the same share, so that no budget exceeds
// the memory.
const nominal = 1024 * 1575 / 1600

// bus is a link to the host that carries one transfer at a time.
type bus struct {
	name          string
	peak          engine.Rate // of the standard, each direction
	toHost, toDev engine.Rate
	origin        profiles.Origin
	note          string // where the rates come from, for people
}

// The links of the cards below. Rates without a measurement are 80-85 % of the peak, a rule of thumb.
var (
	top3 = bus{"PCIe 3 x16", pcie3x16, pcie3x16, pcie3x16, TheoreticalPeak,
		"link to the host the theoretical peak: no measurement was found"}
	vdnn3   = bus{"PCIe 3 x16", pcie3x16, 6_630_000_000, 6_630_000_000, profiles.Measured, shriram}
	papers3 = bus{"PCIe 3 x16", pcie3x16, 12_500_000_000, 12_500_000_000, profiles.Measured,
		"memory and link to the host from " + beaumont}
	gen3     = bus{"PCIe 3 x16", pcie3x16, 12 * gb, 12 * gb, profiles.Estimated, ruleOfThumb}
	gen4     = bus{"PCIe 4 x16", pcie4x16, 25 * gb, 25 * gb, profiles.Estimated, ruleOfThumb}
	gen5     = bus{"PCIe 5 x16", pcie5x16, 52 * gb, 52 * gb, profiles.Estimated, ruleOfThumb}
	guessed5 = bus{"PCIe 5 x16", pcie5x16, 52 * gb, 52 * gb, profiles.Estimated, "link to the host an estimate"}
	nvlink2  = bus{"2x NVLink 2", nvlink2x2, nvlink2x2, nvlink2x2, TheoreticalPeak, ""}
	c2cBoth  = bus{"NVLink-C2C", nvlinkC2C, 380 * gb, 380 * gb, profiles.Estimated, ruleOfThumb}
	c2cAlone = bus{"NVLink-C2C", nvlinkC2C, 295 * gb, 344 * gb, profiles.Measured, ""}
	asAlone  = bus{"NVLink-C2C", nvlinkC2C, 295 * gb, 344 * gb, profiles.Estimated, ""}
	c2cFour  = bus{"NVLink-C2C", nvlinkC2C, 170 * gb, 416 * gb, profiles.Measured, ""}
	c2c      = bus{"NVLink-C2C", 225 * gb, 193 * gb, 211 * gb, profiles.Measured, ""}
	asC2C    = bus{"NVLink-C2C", 225 * gb, 193 * gb, 211 * gb, profiles.Estimated, "link to the host an estimate"}
	hidden   = bus{name: "not known", note: "link to the host not known"}
	shared   = bus{name: "not there, since memory is shared",
		note: "link to the host not there, since memory is shared"}
)

// Common sources.
const (
	vendor        = "memory, peaks and memory bandwidth from NVIDIA's specification"
	llmAnalysis   = "memory, peaks and memory bandwidth from the llm-analysis project's hardware table"
	ruleOfThumb   = "link to the host an estimate: 80-85 % of the standard's peak, a common rule of thumb for which no measurement was found"
	hayakawa      = "Hayakawa and Narihira, Out-of-core training for extremely large-scale neural networks, section 4"
	beaumont      = "Beaumont, Eyraud-Dubois and Shilova, Optimal GPU-CPU offloading strategies, section 6: 15.75 GiB, and about 12.5 GB/s measured with PyTorch"
	shriram       = "link to the host from Shriram, Garg and Kulkarni, Dynamic memory management (vDNN++), table I, which measured 62 ms for 411,041,792 bytes"
	hopperPeaks   = "peaks and memory bandwidth as AnandTech reported them at the launch (article 21136)"
	graceHopper   = "memory, peaks and the 900 GB/s of both directions of NVLink-C2C from a public guide to the GH200"
	calculonGrace = "450 GB/s each direction also in the Calculon project's system files"
	nvbandwidth   = "link to the host measured by nvbandwidth: "

	byDriver  = "memory as nvidia-smi reports it (modal-labs/modal-client pull request 2797)"
	byTables  = "rates and memory bandwidth from the tables of aiconfigurator and torchtitan"
	titan     = "16-bit rate from torchtitan's table of peaks"
	configure = "memory, rates and memory bandwidth from aiconfigurator's tables"
	onGB300   = "nvbandwidth on a board of four GB300, one direction at a time (NVIDIA/Megatron-LM issue 6491)"
	tpuDocs   = "memory, rates and bandwidths from Google's documentation"
	threads   = "memory bandwidth from a third-party table (llmcheck); three quarters of the host's memory, which a program may take"
)

// Groups of figures without a source, see Card.Unsourced.
const (
	ratesAndBandwidth = "rates and memory bandwidth"
	everything        = "memory, rates and memory bandwidth"
	PlainRate         = "32-bit rate" // does not matter for steps in 16 bits
)

// rows are the cards in the order of lists. The rows up to the last GH200 are cards of the papers and of the
// first links, so their figures must not change. mib is the memory that the driver reports, or a multiple of
// nominal. fp32, fp16 and fp8 are peaks in TFLOP/s: of 32-bit arithmetic, of dense 16-bit products with 32-bit
// sums, and of dense 8-bit products. memory, between and network are bandwidths in GB/s in each direction. 0
// means that a figure is not known or does not exist.
var rows = []struct {
	id, name                        string
	mib                             engine.Bytes
	kind                            Kind
	bus                             bus
	fp32, fp16, fp8                 float64
	memory, between, network        engine.Rate
	source, memorySource, unsourced string
}{
	{"gtx-970", "GTX 970", 4 * nominal, Older, top3, 3.9, 0, 0, 224, 0, 0,
		vendor + "; a card of Shriram et al. (vDNN++)", "", ""},
	{"gtx-1080-ti", "GTX 1080 Ti", 11 * nominal, Older, vdnn3, 11.3, 0, 0, 484, 0, 0,
		"peaks and memory bandwidth from the Habitat project's device table", "", ""},
	{"p100-pcie-16gb", "P100-PCIE-16GB", 16 * nominal, Older, top3, 9.3, 0, 0, 732, 0, 0,
		vendor, "", ""},
	{DefaultID, "V100-PCIE-16GB", 16 * nominal, Volta, papers3, 14.0, 112, 0, 900, 12, 12,
		"peaks and memory bandwidth from the llm-analysis project's hardware table", "", ""},
	{"v100-sxm2-32gb", "V100-SXM2-32GB", 32 * nominal, Volta, gen3, 15.7, 125, 0, 900, 150, 12,
		llmAnalysis, "", ""},
	{"v100-sxm2-16gb-nvlink2", "V100-SXM2 + POWER9, 2x NVLink 2", 16 * nominal, Volta, nvlink2, 15.7, 125, 0, 900,
		150, 12,
		"link to the host from " + hayakawa +
			": two NVLinks of 50 GB/s each, both directions counted; the theoretical peak", "", ""},
	{"a100-sxm-40gb", "A100-SXM-40GB", 40 * nominal, Ampere, gen4, 19.5, 312, 0, 1555, 300, 25,
		llmAnalysis, "", ""},
	{"a100-sxm-80gb", "A100-SXM-80GB", 80 * nominal, Ampere, gen4, 19.5, 312, 0, 2039, 300, 25,
		llmAnalysis + " and from LLM-Viewer", "", ""},
	{"h100-pcie-80gb", "H100-PCIe-80GB", 80 * nominal, Hopper, gen5, 51, 756, 1513, 2000, 52, 50,
		llmAnalysis, "", ""},
	{"h100-sxm-80gb", "H100-SXM-80GB", 80 * nominal, Hopper, gen5, 67, 989, 1979, 3350, 450, 50,
		llmAnalysis + "; " + hopperPeaks, "", ""},
	{"h200-sxm-141gb", "H200-SXM-141GB", 141 * nominal, Hopper, gen5, 67, 989, 1979, 4800, 450, 50,
		hopperPeaks, "", ""},
	{"gh200-96gb", "GH200-96GB", 96 * nominal, Hopper, c2cBoth, 67, 989, 1979, 4000, 450, 50,
		graceHopper + ", " + calculonGrace, "", ""},
	{"gh200-144gb", "GH200-144GB", 144 * nominal, Hopper, c2cBoth, 67, 989, 1979, 4900, 450, 50,
		graceHopper + ", " + calculonGrace, "", ""},
	{"gh200-96gb-single", "GH200-96GB alone", 96 * nominal, Hopper, c2cAlone, 67, 989, 1979, 4000, 450, 50,
		graceHopper + "; " + nvbandwidth +
			"342 to 346 GB/s to the GPU and 295 back (NVIDIA/nvbandwidth issue 23, vllm-project/vllm issue 6496)",
		"", ""},
	{"gh200-96gb-quad", "GH200-96GB of four", 96 * nominal, Hopper, c2cFour, 67, 989, 1979, 4000, 450, 50,
		graceHopper + "; a board of four; " + nvbandwidth +
			"411.6 to 421.1 GB/s to the GPU and 170 back (NVIDIA/Megatron-LM issue 6491)", "", ""},
	{"gh200-144gb-single", "GH200-144GB alone", 144 * nominal, Hopper, asAlone, 67, 989, 1979, 4900, 450, 50,
		graceHopper + "; link to the host an estimate: what nvbandwidth measured with the memory of 96 GB (NVIDIA/nvbandwidth issue 23)", "", ""},
	{"k40", "K40", 11_441, Older, gen3, 4.29, 0, 0, 288, 0, 0,
		"", "", everything},
	{"t4", "T4", 15_360, Volta, gen3, 8.1, 65, 0, 320, 12, 12,
		"", byDriver, ratesAndBandwidth},
	{"rtx-3090", "RTX 3090", 24_576, Ampere, gen4, 35.6, 71, 0, 936, 25, 12,
		"", "memory as nvidia-smi reports it (club-3090 issue 390)", ratesAndBandwidth},
	{"rtx-4090", "RTX 4090", 24_564, Ampere, gen4, 82.6, 165.2, 330.3, 1008, 25, 12,
		"16-bit and 8-bit rates and memory bandwidth from a third-party table (waredb)",
		"memory as nvidia-smi reports it (RLinf issue 255)", PlainRate},
	{"rtx-5090", "RTX 5090", 32_607, Ampere, gen5, 104.8, 209.5, 419, 1792, 52, 12,
		"memory bandwidth from a third-party guide (spheron)",
		"memory as nvidia-smi reports it (club-3090 issue 1229)", "rates"},
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
	{"b200", "B200", 183_359, Blackwell, guessed5, 75, 2250, 4500, 7672, 900, 50,
		byTables + "; memory bandwidth from pytorch/ao pull request 4002",
		"memory as nvidia-smi reports it (NVIDIA/TensorRT-LLM issue 10278)", PlainRate},
	{"b300", "B300", 275_040, Blackwell, guessed5, 75, 2250, 4500, 7750, 900, 100,
		configure, "as nvidia-smi reports it", PlainRate},
	{"gb200", "GB200", 189_471, Blackwell, asC2C, 80, 2500, 5000, 8000, 900, 50,
		configure + "; taken to be as fast as " + onGB300, "as nvidia-smi reports it", PlainRate},
	{"gb300", "GB300", 284_208, Blackwell, c2c, 80, 2500, 5000, 8000, 900, 100,
		configure + "; link to the host measured by " + onGB300, "as nvidia-smi reports it", PlainRate},
	{"mi300x", "MI300X", 196_592, Other, gen5, 163.4, 1307, 2615, 5300, 448, 50,
		"rates and memory bandwidth from third-party tables", "memory as rocm-smi reports it (ROCm issue 4750)",
		"32-bit rate and the links between cards"},
	{"mi325x", "MI325X", 262_122, Other, gen5, 163.4, 1307, 2615, 6000, 448, 50,
		"rates and memory bandwidth from third-party tables", "", "memory, 32-bit rate and the links between cards"},
	{"mi355x", "MI355X", 294_888, Other, gen5, 157.3, 2500, 5000, 8000, 448, 50,
		"16-bit rate and memory bandwidth from third-party tables", "",
		"memory, 32-bit and 8-bit rates and the links between cards"},
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

// instead maps cards to the cards that replace them in lists.
var instead = map[string]string{
	"a100-sxm-40gb":  "a100-40gb",
	"a100-sxm-80gb":  "a100-80gb",
	"h100-pcie-80gb": "h100-pcie",
	"h100-sxm-80gb":  "h100",
	"h200-sxm-141gb": "h200",
	"gh200-96gb":     "gh200-96gb-single",
	"gh200-144gb":    "gh200-144gb-single",
}

var cards = tabled()

func tabled() (out []Card) {
	tera := func(n float64) Flops { return Flops(engine.Int64(n*1000)) * (teraflops / 1000) }
	for _, r := range rows {
		parts := []string{r.source, r.memorySource, r.bus.note}
		if r.unsourced != "" {
			parts = append(parts, "no source at hand confirms its "+r.unsourced)
		}
		out = append(out, Card{ID: r.id, Device: engine.Device{Name: r.name, Memory: r.mib * engine.MiB,
			ToHost: r.bus.toHost, ToDev: r.bus.toDev},
			Link: r.bus.name, LinkPeak: r.bus.peak, LinkOrigin: r.bus.origin, Kind: r.kind,
			FP32: tera(r.fp32), FP16: tera(r.fp16), FP8: tera(r.fp8),
			MemoryRate: r.memory * gb, Between: r.between * gb, Network: r.network * gb,
			Source:    strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; "),
			Unsourced: r.unsourced, Instead: instead[r.id]})
	}
	return out
}
