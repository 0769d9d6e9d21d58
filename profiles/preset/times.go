package preset

import (
	"math"
	"time"
)

// The time model of convolutional networks on a V100 in 32 bits. An operator
// takes as long as its arithmetic or its memory traffic, whichever is longer,
// plus a launch per kernel:
//
//	forward  = max(2*macs / (peak*share), bytes / (bandwidth*share)) + launch
//	backward = max(ratio * forward arithmetic, twice the traffic) + 2 launches
//
// The shares were fitted by this project to the kernel times of one public
// measurement, the PyTorch profiler's sample trace of ResNet-50, batch 32,
// 224 px, on a V100: forward 32.7 ms, backward 64.5 ms. A share above 1 means
// that the library computes with fewer multiplications than the definition
// (Winograd). Of the V100 graphs published with PipeDream, whose times contain
// a synchronisation after each operator, the model gives 7 % less for VGG-16
// (batch 128) and 13 % less for ResNet-18 (batch 256).
//
// Note: a second set of shares, fitted to such synchronised times (memory 0.65,
// first convolution 0.17), meets those graphs within 3 % but makes ResNet-50
// 12 % slower than the trace; training does not synchronise.
const (
	v100Peak      = 15.7e12 // operations/s in fp32: NVIDIA's figure for the SXM2 card, to which the shares refer
	v100Bandwidth = 900e9   // bytes/s: NVIDIA's figure
	memoryShare   = 0.86    // of the bandwidth that element-wise operators reach (fitted)
	linearShare   = 0.60    // of the peak that linear layers reach (fitted)
	launch        = 5e-6    // seconds to start a kernel (fitted)
)

// convClass sorts convolutions by how well the libraries do them.
type convClass uint8

const (
	convFirst   convClass = iota // on the 3 channels of an image
	convStrided                  // stride above 1
	conv1x1
	conv3x3Wide   // at least 128 channels in and out: Winograd
	conv3x3Mid    // 64 to 127
	conv3x3Narrow // below 64
	convOther     // 5x5, 7x7
)

// convShare is the share of the peak that the forward of each class reaches,
// and the ratio of the arithmetic time of its backward to its forward. The
// first convolution's backward is cheap because images need no gradient.
var convShare = [...]struct{ forward, ratio float64 }{
	convFirst:     {0.80, 1.7},
	convStrided:   {0.69, 2.8},
	conv1x1:       {0.63, 2.3},
	conv3x3Wide:   {1.70, 1.95},
	conv3x3Mid:    {0.84, 2.4},
	conv3x3Narrow: {0.56, 2.5},
	convOther:     {1.10, 2.4},
}

func classify(in, out int64, f filter) convClass {
	narrow := min(in, out)
	switch {
	case in == 3:
		return convFirst
	case f.stride > 1:
		return convStrided
	case f.size == 1:
		return conv1x1
	case f.size != 3:
		return convOther
	case narrow >= 128:
		return conv3x3Wide
	case narrow >= 64:
		return conv3x3Mid
	}
	return conv3x3Narrow
}

// opTime is what an operator takes, in seconds.
type opTime struct{ forward, back float64 }

// passes counts how often element-wise operators travel over their output, in
// the forward and in the backward (fitted like the shares). Half an addition's
// backward is free: gradients are handed on by reference.
var passes = map[opKind]opTime{
	opNorm:    {3.3, 4},
	opReLU:    {2, 3},
	opAdd:     {3, 1.5},
	opDropout: {2.25, 2.25},
	opEmbed:   {2, 2}, // read a row, write it: an assumption
}

// v100Time is the model for one operator. Reshapes take no time.
func v100Time(t *tape, o *op) opTime {
	var in float64
	for _, v := range o.in {
		in += float64(t.values[v].bytes)
	}
	out := float64(t.values[o.out].bytes)
	traffic := func(bytes float64) float64 { return bytes / (v100Bandwidth * memoryShare) }
	var d opTime
	switch o.kind {
	case opReshape:
		return opTime{}
	case opConv:
		share := convShare[o.class]
		arithmetic := 2 * float64(o.macs) / (v100Peak * share.forward)
		d = opTime{max(arithmetic, traffic(in+out)), max(share.ratio*arithmetic, 2*traffic(in+out))}
	case opMatmul:
		arithmetic := 2 * float64(o.macs) / (v100Peak * linearShare)
		weight := traffic(float64(o.weight))
		d = opTime{max(arithmetic, weight), max(2*arithmetic, 3*weight)}
	case opMaxPool:
		d = opTime{traffic(in + 3*out), traffic(2*in + 3*out)}
	case opAvgPool:
		d = opTime{traffic(2 * (in + out)), traffic(4 * (in + out))}
	default:
		n, ok := passes[o.kind]
		if !ok {
			panic("preset: the V100 model has no time for this kind of operator")
		}
		d = opTime{traffic(n.forward * out), traffic(n.back * out)}
	}
	return opTime{d.forward + launch, d.back + 2*launch}
}

// mfuTime is the model of transformer layers: their matrix products take their
// share of the peak of 16-bit arithmetic (the model FLOPs utilisation), in
// which everything between the products is included. The backward of a product
// is two products.
func mfuTime(peak Flops, share float64) func(*tape, *op) opTime {
	return func(_ *tape, o *op) opTime {
		forward := 2 * float64(o.macs) / (float64(peak) * share)
		return opTime{forward, 2 * forward}
	}
}

// duration sums the operators of a stage, rounded up to a nanosecond.
func (s *stage) duration() (forward, back time.Duration) {
	var sum opTime
	for i := range s.tape.ops {
		d := s.time(s.tape, &s.tape.ops[i])
		sum.forward += d.forward
		sum.back += d.back
	}
	return nanoseconds(sum.forward), nanoseconds(sum.back)
}

func nanoseconds(seconds float64) time.Duration {
	return time.Duration(math.Ceil(seconds * float64(time.Second)))
}
