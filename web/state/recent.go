package state

// recent is a small cache that forgets what was not used for longest.
type recent[V any] struct {
	limit int
	keys  []string // oldest first
	byKey map[string]V
}

func (r *recent[V]) get(key string) (v V, ok bool) {
	if v, ok = r.byKey[key]; ok {
		r.touch(key)
	}
	return v, ok
}

func (r *recent[V]) put(key string, v V) {
	if r.byKey == nil {
		r.byKey = map[string]V{}
	}
	if _, ok := r.byKey[key]; !ok && len(r.keys) >= r.limit {
		delete(r.byKey, r.keys[0])
		r.keys = r.keys[1:]
	}
	r.byKey[key] = v
	r.touch(key)
}

func (r *recent[V]) clear() { r.keys, r.byKey = nil, nil }

func (r *recent[V]) touch(key string) {
	for i, k := range r.keys {
		if k == key {
			r.keys = append(r.keys[:i], r.keys[i+1:]...)
			break
		}
	}
	r.keys = append(r.keys, key)
}
