package all

import "strings"

func init() {
	owns["torchexport"] = &own{factor: 2, bombs: torchexportBombs, samples: []string{"attention.json"},
		mutate: mutateTorchexport}
}

func torchexportBombs() []bomb {
	head := func(nodes string) string {
		return `{"graph_module":{"graph":{"tensor_values":{"x":{"dtype":7,"sizes":[]}},"nodes":[` + nodes
	}
	const (
		tail = `]},"signature":{"input_specs":[]}},"schema_version":{"major":8}}`
		relu = `{"target":"torch.ops.aten.relu.default","inputs":[],"outputs":[{"as_tensor":{"name":"x"}}]},`
	)
	return []bomb{
		{name: "60,000 operators", content: content(head(strings.Repeat(relu, 60_000)),
			strings.TrimSuffix(relu, ","), tail), want: "There are more than 50000 operators"},
		{name: "a large operator", content: content(head(`{"inputs":[{}`), strings.Repeat(",{}", 1<<20),
			`]}`, tail), want: "bytes long"},
	}
}

func mutateTorchexport(sample []byte, s *script) []byte {
	keys := []string{"graph_module", "graph", "nodes", "target", "inputs", "outputs", "arg", "as_tensor",
		"as_tensors", "as_graph", "as_ints", "name", "tensor_values", "sizes", "dtype",
		"signature", "input_specs", "parameter", "buffer", "user_input", "schema_version", "major"}
	texts := []string{"torch.ops.aten.relu.default", "torch.ops.aten.conv2d.default", "torch.ops.aten.linear.default",
		"torch.ops.aten.scaled_dot_product_attention.default",
		"torch.ops.aten.batch_norm.default", "torch.ops.aten.split.Tensor",
		"torch.ops.aten.cross_entropy_loss.default", "torch.ops.aten.embedding.default", "x", "", "7", "-1"}
	return mutateJSON(sample, s, keys, texts)
}
