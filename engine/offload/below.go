package offload

import "memtide/engine"

// belowWhole is below for whole transfers, where a local search spends its time.
// Both passes go through the values in the same order, so one loop does for both,
// and it ends as soon as the limit is out of reach.
func (m *model) belowWhole(set []bool, limit int64) int64 {
	n := m.n
	overF, overB, timeF, timeB := m.overF[:n], m.overB[:n], m.timeF[:n], m.timeB[:n]
	set, size, rest := set[:n], m.size[:n], m.rest[1:n+1]
	cum, gone, end := m.fwd.cum, m.fwd.gone, m.bwd.end
	var at, atB, link, linkB, joined int64 // [e_i, r_i], when the links are idle, see join
	var away engine.Bytes
	count, f, b := 0, 0, 0 // transfers, and those that F_i and B_i wait for
	for i := range n {
		there := at
		v, vB := overF[i], overB[i]
		if max(v, vB) > away {
			return never
		}
		if v > 0 {
			f = reach(cum[:count], f, v)
			at = max(at, gone[f])
		}
		if vB > 0 {
			b = reach(cum[:count], b, vB)
			atB = max(atB, end[b])
		}
		at += timeF[i]
		atB += timeB[i]
		if v > 0 {
			joined = max(joined, at+end[f])
		}
		if vB > 0 {
			joined = max(joined, atB+gone[b])
		}
		if set[i] && size[i] > 0 {
			link, linkB = max(link, there)+m.out[i], max(linkB, atB)+m.in[i]
			away += size[i]
			cum[count], gone[count], end[count] = away, max(link, at), linkB
			joined = max(joined, gone[count]+linkB)
			count++
		}
		if max(joined, at+atB+rest[i]) >= limit {
			return limit
		}
	}
	return max(joined, at+atB)
}

// reach is the first of the transfers after which v bytes are away, from one
// that is near.
func reach(cum []engine.Bytes, k int, v engine.Bytes) int {
	for cum[k] < v {
		k++
	}
	for k > 0 && cum[k-1] >= v {
		k--
	}
	return k
}
