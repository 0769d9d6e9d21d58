// Package preset holds networks and devices that can be explored without a
// file: ResNet-50 and -101, VGG-16 and GPT-2 medium at any batch size, and the
// GPUs whose memory and host link people ask about.
//
// A network is written down as the operators of each stage (cnn.go, gpt.go).
// From their shapes come the sizes, exactly, by following which tensors the
// backward keeps (memory.go); from their arithmetic and traffic come the times,
// by a model fitted to measurements (times.go). Nothing is measured here and
// nothing is read from files; every number says where it comes from.
//
// Beside the networks there are a few chains made by hand, on which a published
// claim fails (counterexample.go).
package preset
