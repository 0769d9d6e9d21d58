// Package family reads what a language model is from the config.json that Transformers saves
// with it. It is the one reader: memtide plan, the page's training step, and the chain of a
// dropped file all have their model from Read.
//
// A family is known by its model_type. Each is a function of a file of its own, or a few
// lines beside its relatives, that says what a block is made of: the operators and what
// autograd keeps of each are those of package llm. Keys that change blocks are understood, or
// refused by name (see changing).
package family
