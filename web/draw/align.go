package draw

import "slices"

// Alignment holds the columns of the strips of two traces side by side: in each column, the layers of both sides, from
// 1, or 0 for a side without a layer there. Layers of the same name share a column if their order allows it.
type Alignment [][2]int

// maxAligned is the largest product of the numbers of layers that are aligned by name, which
// bounds the work. Larger networks are aligned by number.
const maxAligned = 1 << 20

// align aligns two lists of names.
func align(a, b []string) (al Alignment) {
	n, m := len(a), len(b)
	var pairs [][2]int
	if !slices.Equal(a, b) && n*m <= maxAligned {
		pairs = common(a, b)
	}
	if len(pairs) == 0 {
		for k := 1; k <= min(n, m); k++ {
			pairs = append(pairs, [2]int{k, k})
		}
	}
	i, j := 1, 1
	for _, p := range append(pairs, [2]int{n + 1, m + 1}) {
		for ; i < p[0]; i++ {
			al = append(al, [2]int{i, 0})
		}
		for ; j < p[1]; j++ {
			al = append(al, [2]int{0, j})
		}
		if i <= n {
			al = append(al, p)
		}
		i, j = i+1, j+1
	}
	return al
}

// common returns the longest common subsequence of two lists of names, as pairs of
// positions from 1. Empty names do not match.
func common(a, b []string) (pairs [][2]int) {
	length := make([][]int32, len(a)+1) // [i][j]: of the longest one of a[i:] and b[j:]
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] && a[i] != "" {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j] && a[i] != "":
			pairs = append(pairs, [2]int{i + 1, j + 1})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// Turned returns the alignment with its sides exchanged.
func (al Alignment) Turned() (out Alignment) {
	for _, c := range al {
		out = append(out, [2]int{c[1], c[0]})
	}
	return out
}
