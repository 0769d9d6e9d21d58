// Package preset builds networks that can be explored without a file: the networks of the papers and some of today's
// transformers, at any batch size, image side, sequence length and precision, with times for the cards of package card.
//
// A network is written as the operators of each stage, in a file for each family: resnet.go, vgg.go (AlexNet
// too), densenet.go, inception.go, transformers.go. Sizes follow exactly from the shapes of the operators and
// from which tensors the backward keeps (memory.go). Times follow from arithmetic and traffic, by a model that is
// fitted to measurements of one card and estimated for the others (times.go, package analytic). The same
// operators can be shown as a graph with skip connections and weights (graph.go). The package measures nothing
// and reads no files; each number has a note on where it comes from.
//
// A stage ends where the rest of the network reads nothing but its output: a convolution or linear layer with its
// activation, a pool, a block of a residual network, a layer of a dense one, a module of Inception, a layer of a
// transformer. Options are the choices about a network, and Parse reads a reference to one.
//
// Some presets are not networks (made.go): chains made by hand on which a published claim fails, and sequences of
// requests for memory that defeat allocators.
package preset
