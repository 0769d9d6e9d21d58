package card

import (
	"memtide/engine"
	"memtide/profiles"
)

// Peak rates of the host links, each direction.
const (
	pcie3x16  engine.Rate = 15_750_000_000
	pcie4x16  engine.Rate = 31_500_000_000
	pcie5x16  engine.Rate = 63_000_000_000
	nvlink2x2 engine.Rate = 50_000_000_000
	nvlinkC2C engine.Rate = 450_000_000_000
)

// gb is the unit of vendors' bandwidths: 10^9 bytes per second.
const gb engine.Rate = 1_000_000_000

// Common phrases of the sources.
const (
	vendor        = "memory, peaks and memory bandwidth from NVIDIA's specification"
	llmAnalysis   = "memory, peaks and memory bandwidth from the llm-analysis project's hardware table"
	ruleOfThumb   = "link to the host an estimate: 80-85 % of the standard's peak, a common rule of thumb for which no measurement was found"
	peakOnly      = "link to the host the theoretical peak: no measurement was found"
	hayakawa      = "Hayakawa and Narihira, Out-of-core training for extremely large-scale neural networks, section 4"
	beaumont      = "Beaumont, Eyraud-Dubois and Shilova, Optimal GPU-CPU offloading strategies, section 6: 15.75 GiB, and about 12.5 GB/s measured with PyTorch"
	shriram       = "link to the host from Shriram, Garg and Kulkarni, Dynamic memory management (vDNN++), table I, which measured 62 ms for 411,041,792 bytes"
	hopperPeaks   = "peaks and memory bandwidth as AnandTech reported them at the launch (article 21136)"
	graceHopper   = "memory, peaks and the 900 GB/s of both directions of NVLink-C2C from a public guide to the GH200"
	nvbandwidth   = "link to the host measured by nvbandwidth: "
	calculonGrace = "450 GB/s each direction also in the Calculon project's system files"
)

// nominal is the memory a program can use on a card sold with so many
// gigabytes. The V100 sold as 16 GB offers 15.75 GiB (measured, see its
// source); the other cards are assumed to lose the same share, so that no
// budget promises more than there is.
func nominal(gigabytes int64) engine.Bytes {
	return engine.Bytes(gigabytes) * engine.GiB * 1575 / 1600
}

// symmetric is a device whose link has the same rate both ways and carries one
// transfer at a time, as in the papers.
func symmetric(name string, memory engine.Bytes, link engine.Rate) engine.Device {
	return engine.Device{Name: name, Memory: memory, ToHost: link, ToDev: link, Duplex: engine.HalfDuplex}
}

// towards is a device whose link is faster in one direction, one transfer at a time.
func towards(name string, memory engine.Bytes, toDev, toHost engine.Rate) engine.Device {
	return engine.Device{Name: name, Memory: memory, ToHost: toHost, ToDev: toDev, Duplex: engine.HalfDuplex}
}

// old are the cards that the papers measured with and those of the first links. Their numbers stay as they
// are; memory of those without a measurement is nominal, see there.
var old = []Card{
	{
		ID: "gtx-970", Device: symmetric("GTX 970", nominal(4), pcie3x16),
		Link: "PCIe 3 x16", LinkPeak: pcie3x16, LinkOrigin: TheoreticalPeak, MemoryOrigin: profiles.Estimated,
		FP32: 3.9 * teraflops, MemoryRate: 224 * gb,
		Kind:   Older,
		Source: vendor + "; a card of Shriram et al. (vDNN++); " + peakOnly,
	},
	{
		ID: "gtx-1080-ti", Device: symmetric("GTX 1080 Ti", nominal(11), 6_630_000_000),
		Link: "PCIe 3 x16", LinkPeak: pcie3x16, LinkOrigin: profiles.Measured, MemoryOrigin: profiles.Estimated,
		FP32: 11.3 * teraflops, MemoryRate: 484 * gb,
		Kind:   Older,
		Source: "peaks and memory bandwidth from the Habitat project's device table; " + shriram,
	},
	{
		ID: "p100-pcie-16gb", Device: symmetric("P100-PCIE-16GB", nominal(16), pcie3x16),
		Link: "PCIe 3 x16", LinkPeak: pcie3x16, LinkOrigin: TheoreticalPeak, MemoryOrigin: profiles.Estimated,
		FP32: 9.3 * teraflops, MemoryRate: 732 * gb,
		Kind:   Older,
		Source: vendor + "; " + peakOnly,
	},
	{
		ID: DefaultID, Device: symmetric("V100-PCIE-16GB", nominal(16), 12_500_000_000),
		Link: "PCIe 3 x16", LinkPeak: pcie3x16, LinkOrigin: profiles.Measured, MemoryOrigin: profiles.Measured,
		FP32: 14.0 * teraflops, FP16: 112 * teraflops, MemoryRate: 900 * gb,
		Kind: Volta, Between: 12 * gb, Network: 12 * gb,
		Source: "peaks and memory bandwidth from the llm-analysis project's hardware table; memory and link to the host from " + beaumont,
	},
	{
		ID: "v100-sxm2-32gb", Device: symmetric("V100-SXM2-32GB", nominal(32), 12_000_000_000),
		Link: "PCIe 3 x16", LinkPeak: pcie3x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 15.7 * teraflops, FP16: 125 * teraflops, MemoryRate: 900 * gb,
		Kind: Volta, Between: 150 * gb, Network: 12 * gb,
		Source: llmAnalysis + "; " + ruleOfThumb,
	},
	{
		ID: "v100-sxm2-16gb-nvlink2", Device: symmetric("V100-SXM2 + POWER9, 2x NVLink 2", nominal(16), nvlink2x2),
		Link: "2x NVLink 2", LinkPeak: nvlink2x2, LinkOrigin: TheoreticalPeak, MemoryOrigin: profiles.Estimated,
		FP32: 15.7 * teraflops, FP16: 125 * teraflops, MemoryRate: 900 * gb,
		Kind: Volta, Between: 150 * gb, Network: 12 * gb,
		Source: "link to the host from " + hayakawa + ": two NVLinks of 50 GB/s each, both directions counted; the theoretical peak",
	},
	{
		ID: "a100-sxm-40gb", Device: symmetric("A100-SXM-40GB", nominal(40), 25_000_000_000),
		Link: "PCIe 4 x16", LinkPeak: pcie4x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 19.5 * teraflops, FP16: 312 * teraflops, MemoryRate: 1555 * gb,
		Kind: Ampere, Between: 300 * gb, Network: 25 * gb, Instead: "a100-40gb",
		Source: llmAnalysis + "; " + ruleOfThumb,
	},
	{
		ID: "a100-sxm-80gb", Device: symmetric("A100-SXM-80GB", nominal(80), 25_000_000_000),
		Link: "PCIe 4 x16", LinkPeak: pcie4x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 19.5 * teraflops, FP16: 312 * teraflops, MemoryRate: 2039 * gb,
		Kind: Ampere, Between: 300 * gb, Network: 25 * gb, Instead: "a100-80gb",
		Source: llmAnalysis + " and from LLM-Viewer; " + ruleOfThumb,
	},
	{
		ID: "h100-pcie-80gb", Device: symmetric("H100-PCIe-80GB", nominal(80), 52_000_000_000),
		Link: "PCIe 5 x16", LinkPeak: pcie5x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 51 * teraflops, FP16: 756 * teraflops, MemoryRate: 2000 * gb,
		FP8: 1513 * teraflops, Kind: Hopper, Between: 52 * gb, Network: 50 * gb, Instead: "h100-pcie",
		Source: llmAnalysis + "; " + ruleOfThumb,
	},
	{
		ID: "h100-sxm-80gb", Device: symmetric("H100-SXM-80GB", nominal(80), 52_000_000_000),
		Link: "PCIe 5 x16", LinkPeak: pcie5x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 3350 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb, Instead: "h100",
		Source: llmAnalysis + "; " + hopperPeaks + "; " + ruleOfThumb,
	},
	{
		ID: "h200-sxm-141gb", Device: symmetric("H200-SXM-141GB", nominal(141), 52_000_000_000),
		Link: "PCIe 5 x16", LinkPeak: pcie5x16, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4800 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb, Instead: "h200",
		Source: hopperPeaks + "; " + ruleOfThumb,
	},
	{
		ID: "gh200-96gb", Device: symmetric("GH200-96GB", nominal(96), 380_000_000_000),
		Link: "NVLink-C2C", LinkPeak: nvlinkC2C, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4000 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb,
		Source: graceHopper + ", " + calculonGrace + "; " + ruleOfThumb, Instead: "gh200-96gb-single",
	},
	{
		ID: "gh200-144gb", Device: symmetric("GH200-144GB", nominal(144), 380_000_000_000),
		Link: "NVLink-C2C", LinkPeak: nvlinkC2C, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4900 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb,
		Source: graceHopper + ", " + calculonGrace + "; " + ruleOfThumb, Instead: "gh200-144gb-single",
	},
	{
		ID: "gh200-96gb-single", Device: towards("GH200-96GB alone", nominal(96), 344*gb, 295*gb),
		Link: "NVLink-C2C", LinkPeak: nvlinkC2C, LinkOrigin: profiles.Measured, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4000 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb,
		Source: graceHopper + "; " + nvbandwidth + "342 to 346 GB/s to the GPU and 295 back (NVIDIA/nvbandwidth issue 23, vllm-project/vllm issue 6496)",
	},
	{
		ID: "gh200-96gb-quad", Device: towards("GH200-96GB of four", nominal(96), 416*gb, 170*gb),
		Link: "NVLink-C2C", LinkPeak: nvlinkC2C, LinkOrigin: profiles.Measured, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4000 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb,
		Source: graceHopper + "; a board of four; " + nvbandwidth + "411.6 to 421.1 GB/s to the GPU and 170 back (NVIDIA/Megatron-LM issue 6491)",
	},
	{
		ID: "gh200-144gb-single", Device: towards("GH200-144GB alone", nominal(144), 344*gb, 295*gb),
		Link: "NVLink-C2C", LinkPeak: nvlinkC2C, LinkOrigin: profiles.Estimated, MemoryOrigin: profiles.Estimated,
		FP32: 67 * teraflops, FP16: 989 * teraflops, MemoryRate: 4900 * gb,
		FP8: 1979 * teraflops, Kind: Hopper, Between: 450 * gb, Network: 50 * gb,
		Source: graceHopper + "; link to the host an estimate: what nvbandwidth measured with the memory of 96 GB (NVIDIA/nvbandwidth issue 23)",
	},
}
