//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"

	"memtide/cmd/cli"
)

// compress writes name.gz and name.br for everything that is worth it. Hosts
// that do not know such files are not hurt by them.
func (s *site) compress() {
	worth := []string{".wasm", ".js", ".css", ".html", ".txt"}
	for _, a := range slices.Clone(s.written) {
		if a.size < 1024 || !slices.Contains(worth, strings.ToLower(filepath.Ext(a.name))) {
			continue
		}
		data := cli.Must(os.ReadFile(filepath.Join(s.dir, a.name)))
		for suffix, squeeze := range map[string]func([]byte) []byte{".gz": squeezeGzip, ".br": squeezeBrotli} {
			small := squeeze(data)
			cli.Check(os.WriteFile(filepath.Join(s.dir, a.name+suffix), small, 0o644))
			s.written = append(s.written, asset{name: a.name + suffix, size: len(small)})
		}
	}
	slices.SortFunc(s.written, func(a, b asset) int { return strings.Compare(a.name, b.name) })
}

func squeezeGzip(data []byte) []byte {
	var b bytes.Buffer
	w := cli.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}

// squeezeBrotli takes about 20 s for the program: that is why only releases are compressed.
func squeezeBrotli(data []byte) []byte {
	var b bytes.Buffer
	// The largest window that browsers must know, 16 MiB: the program is larger
	// than the usual one of 4.
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}
