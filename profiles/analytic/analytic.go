// Package analytic estimates how long operators take from their arithmetic and their memory
// traffic. It is for networks that were not measured: presets, and files that hold only shapes.
//
// An operator takes as long as its arithmetic or its memory traffic, whichever is longer, plus a launch per kernel:
//
//	forward  = max(2*macs / (peak*share), bytes / (bandwidth*share)) + launch
//	backward = max(ratio * forward arithmetic, twice the traffic) + 2 launches
//
// The shares of a V100 in 32 bits were fitted by this project to the kernel times of one public measurement, the
// PyTorch profiler's sample trace of ResNet-50, batch 32, 224 px: forward 32.7 ms, backward 64.5 ms. A share above 1
// means that the library computes with fewer multiplications than the definition (Winograd). Of the V100 graphs
// published with PipeDream, whose times contain a synchronisation after each operator, the model gives 7 % less for
// VGG-16 (batch 128), 11 % less for ResNet-18 and 18 % less for AlexNet (batch 256), whose first convolution took
// longer than the rest of its forward. The share of grouped convolutions is a rule of thumb: the trace has no grouped
// convolution.
//
// On other devices, and in 16 bits, the model is an estimate: it takes the vendor's figures for
// peak and bandwidth, with one share for all products and one for all traffic.
//
// Note: a second set of shares, fitted to such synchronised times (memory 0.65, first convolution 0.17), meets those
// graphs within 3 % but makes ResNet-50 12 % slower than the trace; training does not synchronise.
package analytic

import (
	"math"
	"time"

	"memtide/engine"
)

const (
	v100Peak      = 15.7e12 // operations/s in fp32: NVIDIA's figure for the SXM2 card, to which the shares refer
	v100Bandwidth = 900e9   // bytes/s: NVIDIA's figure
	memoryShare   = 0.86    // of the bandwidth that element-wise operators reach (fitted)
	linearShare   = 0.60    // of the peak that linear layers reach (fitted)
	launch        = 5e-6    // seconds to start a kernel (fitted)

	otherProducts = OtherShare / 100.0 // of the peak that products reach elsewhere (an assumption)
	otherTraffic  = 0.80               // of the bandwidth that element-wise operators reach elsewhere (an assumption)
)

// OtherShare is the share of the peak, in per cent, that products are assumed to reach on
// devices and precisions without a fitted share.
const OtherShare = 45

// V100Half is a Tesla V100 in 16 bits, an estimate: 112 TFLOP/s is NVIDIA's figure for the
// tensor cores of the PCIe card.
var V100Half = Estimate(112e12, v100Bandwidth).OnV100()

// Rates is a model of a device. Its methods return the time of an operator.
type Rates struct {
	Peak    float64 // of arithmetic, operations/s
	linear  float64 // of linear layers, operations/s
	traffic float64 // of element-wise operators, bytes/s
	share   float64 // of the peak that products reach, unless it is fitted
	fitted  bool    // convolutions have their own shares
}

// V100 is the fitted model: a Tesla V100 in 32 bits.
var V100 = Rates{Peak: v100Peak, linear: v100Peak * linearShare, traffic: v100Bandwidth * memoryShare, fitted: true}

// Estimate returns the model of any device from the peak of its arithmetic, in operations/s, and
// the bandwidth of its memory, in bytes/s.
func Estimate(peak, bandwidth float64) Rates {
	return Rates{Peak: peak, traffic: bandwidth * otherTraffic}.WithShare(otherProducts)
}

// WithShare returns the model in which all products reach this share of the peak.
func (m Rates) WithShare(share float64) Rates {
	m.linear, m.share, m.fitted = m.Peak*share, share, false
	return m
}

// OnV100 returns the model with the element-wise traffic that was fitted for a V100. It is for
// other precisions on V100 cards, which differ by less than the error of the model.
func (m Rates) OnV100() Rates {
	m.traffic = V100.traffic
	return m
}

// Class sorts convolutions by how efficiently libraries compute them.
type Class uint8

// The classes.
const (
	First   Class = iota // on the 3 channels of an image
	Strided              // stride above 1
	Point                // 1x1
	Wide                 // 3x3, at least 128 channels in and out: Winograd
	Mid                  // 3x3, 64 to 127 channels
	Narrow               // 3x3, fewer
	Other                // 5x5, 7x7, and kernels along one axis
	Grouped
)

// Classify returns the class of a convolution with in and out channels and a kernel of height x width.
func Classify(in, out, height, width, stride, groups int64) Class {
	narrow := min(in, out)
	switch {
	case groups > 1:
		return Grouped
	case in == 3:
		return First
	case stride > 1:
		return Strided
	case height == 1 && width == 1:
		return Point
	case height != 3 || width != 3:
		return Other
	case narrow >= 128:
		return Wide
	case narrow >= 64:
		return Mid
	}
	return Narrow
}

// rate is the share of the peak that the forward of a class reaches, and the ratio of the
// arithmetic time of its backward to its forward.
type rate struct{ forward, ratio float64 }

// shares holds the fitted rate of each class. The first convolution's backward is cheap because
// images need no gradient.
var shares = [...]rate{
	First:   {0.80, 1.7},
	Strided: {0.69, 2.8},
	Point:   {0.63, 2.3},
	Wide:    {1.70, 1.95},
	Mid:     {0.84, 2.4},
	Narrow:  {0.56, 2.5},
	Other:   {1.10, 2.4},
	Grouped: {0.165, 3.5},
}

// rate returns the fitted rate of the class, if there is one. Otherwise a backward is two
// products, or one for the first convolution.
func (m Rates) rate(c Class) rate {
	switch {
	case m.fitted:
		return shares[c]
	case c == First:
		return rate{m.share, 1}
	}
	return rate{m.share, 2}
}

// Time is the duration of an operator, in seconds.
type Time struct{ Forward, Back float64 }

func (t Time) launched() Time { return Time{t.Forward + launch, t.Back + 2*launch} }

// Conv returns the time of a convolution with macs multiply-adds; bytes is the size of its input and output.
func (m Rates) Conv(c Class, macs, bytes float64) Time {
	r := m.rate(c)
	arithmetic := 2 * macs / (m.Peak * r.forward)
	traffic := bytes / m.traffic
	return Time{max(arithmetic, traffic), max(r.ratio*arithmetic, 2*traffic)}.launched()
}

// Product returns the time of a matrix product with macs multiply-adds that reads weights bytes of weights.
func (m Rates) Product(macs, weights float64) Time {
	arithmetic := 2 * macs / m.linear
	traffic := weights / m.traffic
	return Time{max(arithmetic, traffic), max(2*arithmetic, 3*traffic)}.launched()
}

// MaxPool returns the time of a max pooling from in to out bytes.
func (m Rates) MaxPool(in, out float64) Time {
	return Time{(in + 3*out) / m.traffic, (2*in + 3*out) / m.traffic}.launched()
}

// MeanPool returns the time of a mean pooling from in to out bytes.
func (m Rates) MeanPool(in, out float64) Time {
	return Time{2 * (in + out) / m.traffic, 4 * (in + out) / m.traffic}.launched()
}

// Passes counts how often an element-wise operator reads or writes the size of its output, in
// the forward and in the backward.
type Passes struct{ Forward, Back float64 }

// The passes. They were fitted like the shares, except for the two assumptions. Half an
// addition's backward is free: gradients are handed on by reference.
var (
	Norm       = Passes{3.3, 4}
	Activation = Passes{2, 3} // ReLU; an assumption for the others, which are not in place
	Add        = Passes{3, 1.5}
	Concat     = Passes{2, 2}
	Dropout    = Passes{2.25, 2.25}
	Embedding  = Passes{2, 2} // read a row, write it: an assumption
)

// Element returns the time of an element-wise operator that writes out bytes.
func (m Rates) Element(p Passes, out float64) Time {
	return Time{p.Forward * out / m.traffic, p.Back * out / m.traffic}.launched()
}

// Utilised returns the time of a matrix product in a transformer layer at a share of the peak (the model FLOPs
// utilisation), which covers the operators between the products as well. The backward of a product is two products.
func Utilised(peak, share, macs float64) Time {
	forward := 2 * macs / (peak * share)
	return Time{forward, 2 * forward}
}

// Duration returns a number of seconds, rounded up to a nanosecond. A result above
// engine.MaxTime becomes engine.MaxTime+1, so that sums cannot overflow.
func Duration(seconds float64) time.Duration {
	return min(time.Duration(engine.Int64(math.Ceil(seconds*float64(time.Second)))), engine.MaxTime+1)
}
