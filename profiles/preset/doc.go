// Package preset holds networks and devices that can be explored without a
// file: the networks of the papers and some of today's transformers, at any batch
// size, image side, sequence length and precision, and the GPUs whose memory and
// host link people ask about.
//
// A network is written down as the operators of each stage, in a file for each
// family: resnet.go, vgg.go (AlexNet too), densenet.go, inception.go,
// transformers.go. From their shapes come the sizes, exactly, by following which
// tensors the backward keeps (memory.go); from their arithmetic and traffic come
// the times, by a model fitted to measurements of one device and estimated for the
// others (times.go, package analytic). The same operators are also a graph, with
// skip connections and weights (graph.go). Nothing is measured here and nothing is
// read from files; every number says where it comes from.
//
// A stage ends where nothing but its output is read by what follows: a
// convolution or linear layer with its activation, a pool, a block of a residual
// network, a layer of a dense one, a module of Inception, a layer of a
// transformer. What is chosen about a network is in Options, and a reference to it
// is read by Parse.
//
// Beside the networks there are a few chains made by hand, on which a published
// claim fails, and sequences of requests for memory that defeat allocators (made.go).
package preset
