package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Registry is a list of values that have names, such as the strategies, in the order of the names. It is filled by
// init functions, and not safe for concurrent use while it is.
type Registry[T any] struct {
	Kind  string          // what a value is called in panics, with its package: "engine: strategy"
	Name  func(*T) string // the name of a value, which must not change
	Runes string          // the characters that names may have beside lower-case letters and digits

	values []*T
}

// Register adds v. It panics if the name of v is taken or malformed, which is a bug in the program, not in its input.
func (r *Registry[T]) Register(v *T) {
	name := r.Name(v)
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789"+r.Runes) != "" {
		panic(fmt.Sprintf("%s name %q is not lower-case letters and digits%s", r.Kind, name, strings.TrimSuffix(" or "+r.Runes, " or ")))
	}
	if r.Lookup(name) != nil {
		panic(fmt.Sprintf("%s %q is registered twice", r.Kind, name))
	}
	r.values = append(r.values, v)
	slices.SortFunc(r.values, func(a, b *T) int { return strings.Compare(r.Name(a), r.Name(b)) })
}

// All returns the registered values in the order of their names, in a slice that belongs to the caller.
func (r *Registry[T]) All() []*T { return slices.Clone(r.values) }

// Lookup returns the value with this name, or nil.
func (r *Registry[T]) Lookup(name string) *T {
	i := slices.IndexFunc(r.values, func(v *T) bool { return r.Name(v) == name })
	if i < 0 {
		return nil
	}
	return r.values[i]
}
