package graphs

import "memtide/engine"

// UNet returns a training step of a U-Net for medical images. Each level has a row of convolutions (with
// normalisation and activation) on the way down and one on the way up, which also reads the result of the way down.
// Times are modelled as in Transformer.
func UNet(levels, convolutions int) *engine.Graph {
	n := &netBuilder{transformer: transformer{g: &engine.Graph{Done: engine.NoValue}}}
	x := n.input(64 << 20)
	var skips []engine.ValueID
	for range levels {
		x = n.row(x, convolutions, 1)
		skips = append(skips, x)
		x = n.layer("pool", 1, []engine.ValueID{x}, n.g.Values[x].Size/2)
	}
	x = n.row(x, convolutions, 1)
	for k := levels - 1; k >= 0; k-- {
		up := n.layer("up", 8, []engine.ValueID{x}, n.g.Values[skips[k]].Size)
		both := n.layer("concat", 0, []engine.ValueID{up, skips[k]}, 2*n.g.Values[up].Size)
		x = n.row(n.layer("reduce", 32, []engine.ValueID{both}, n.g.Values[up].Size), convolutions, 1)
	}
	return n.step(x)
}

// DenseNet returns a training step of blocks of dense layers, each of which reads the results of all layers before
// it in its block. Between blocks the size is halved. Times are modelled as in Transformer.
func DenseNet(blocks, layers int) *engine.Graph {
	const growth = 4 << 20
	n := &netBuilder{transformer: transformer{g: &engine.Graph{Done: engine.NoValue}}}
	x := n.input(64 << 20)
	for b := range blocks {
		features := []engine.ValueID{x}
		all := x
		for range layers {
			if len(features) > 1 {
				all = n.layer("concat", 0, features, n.bytes(features))
			}
			y := n.layer("relu", 0, []engine.ValueID{n.layer("norm", 0, []engine.ValueID{all}, n.g.Values[all].Size)},
				n.g.Values[all].Size)
			features = append(features, n.row(y, 2, growth>>b))
		}
		all = n.layer("concat", 0, features, n.bytes(features))
		x = n.layer("halve", 4, []engine.ValueID{n.row(all, 1, 1)}, n.bytes(features)/4)
	}
	return n.step(x)
}

// netBuilder adds the forward operations of a network to a graph, and derives the backward ones from them.
type netBuilder struct {
	transformer
	first engine.ValueID
}

func (n *netBuilder) input(size engine.Bytes) engine.ValueID {
	n.first = n.value(size)
	n.g.Values[n.first].Initial = engine.OnDevice
	return n.first
}

func (n *netBuilder) bytes(list []engine.ValueID) (sum engine.Bytes) {
	for _, v := range list {
		sum += n.g.Values[v].Size
	}
	return sum
}

// layer adds an operation that does 500*intensity floating-point operations for each byte that it reads.
func (n *netBuilder) layer(name string, intensity int64, in []engine.ValueID, out engine.Bytes) engine.ValueID {
	read := int64(n.bytes(in))
	return n.op(name, 500*intensity*read, read+int64(out), in, out)[0]
}

// row adds convolutions, each with normalisation and activation. size is the size of the results; 1 means the
// size of x.
func (n *netBuilder) row(x engine.ValueID, convolutions int, size engine.Bytes) engine.ValueID {
	for range convolutions {
		if size == 1 {
			size = n.g.Values[x].Size
		}
		for _, name := range []string{"conv", "norm", "relu"} {
			x = n.layer(name, map[string]int64{"conv": 32}[name], []engine.ValueID{x}, size)
		}
	}
	return x
}

// step adds the backward operations. Each reads the gradient of the output of its forward operation and, except
// for concat and up, the inputs of its forward operation. Gradients of values that several operations read are
// added up one by one.
func (n *netBuilder) step(last engine.ValueID) *engine.Graph {
	forward := len(n.g.Ops)
	grads := map[engine.ValueID]engine.ValueID{last: n.op("loss", 0, int64(n.g.Values[last].Size),
		[]engine.ValueID{last}, n.g.Values[last].Size)[0]}
	n.pass = engine.Backward
	for i := forward - 1; i >= 0; i-- {
		op := n.g.Ops[i]
		in := []engine.ValueID{grads[op.Out[0]]}
		if op.Name != "concat" && op.Name != "up" {
			in = append(in, op.In...)
		}
		var sizes []engine.Bytes
		for _, v := range op.In {
			if g, ok := grads[v]; ok {
				in = append(in, g)
			}
			sizes = append(sizes, n.g.Values[v].Size)
		}
		out := n.op("b_"+op.Name, 0, 0, in, sizes...)
		n.g.Ops[len(n.g.Ops)-1].Time = 2 * op.Time
		for k, v := range op.In {
			grads[v] = out[k]
		}
	}
	return n.g
}
