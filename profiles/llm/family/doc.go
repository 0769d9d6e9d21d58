// Package family reads the architecture of a language model from the config.json that Transformers saves with it.
// It is the only reader: memtide plan, the page's training step and the chain of a dropped file all get their
// model from Read.
//
// A family is identified by its model_type. Each family is a function, in a file of its own or beside its
// relatives, that describes the family's blocks. Package llm has the operators of such blocks and what autograd
// keeps of each. Keys that change blocks are either understood or refused by name (see changing).
package family
