package ask

import (
	_ "embed" // sizes.txt
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// sizeTable has the keys of a config.json that are sizes of a model, on indented lines below their largest value.
// Those values are above the sizes of any published model, and low enough that no product of sizes overflows before
// it is compared with its own limit.
//
//go:embed sizes.txt
var sizeTable string

// sizes returns the largest values by key.
var sizes = sync.OnceValue(func() map[string]int64 {
	out, most := map[string]int64{}, int64(0)
	for line := range strings.Lines(sizeTable) {
		words := strings.Fields(line)
		if line[0] != ' ' {
			most, _ = strconv.ParseInt(words[0], 10, 64)
			continue
		}
		for _, key := range words {
			out[key] = most
		}
	}
	return out
})

// CheckSize returns an error if n, the value of key, is less than least or more than the largest value of the
// key. It panics for an unknown key: every key that is read must be in the table.
func CheckSize(key string, n, least int64) error {
	most, ok := sizes()[key]
	if !ok {
		panic("ask: no range is known for " + key)
	}
	if n < least || n > most {
		return fmt.Errorf("%s is %d; want %d to %d: correct it in the config.json", key, n, least, most)
	}
	return nil
}
