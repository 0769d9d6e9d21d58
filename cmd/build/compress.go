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
)

// compress writes name.gz and name.br for everything that is worth it. Hosts
// that do not know such files are not hurt by them.
func (s *site) compress() error {
	worth := []string{".wasm", ".js", ".css", ".html", ".txt"}
	for _, a := range slices.Clone(s.written) {
		if a.size < 1024 || !slices.Contains(worth, strings.ToLower(filepath.Ext(a.name))) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.dir, a.name))
		if err != nil {
			return err
		}
		for suffix, squeeze := range map[string]func([]byte) ([]byte, error){".gz": squeezeGzip, ".br": squeezeBrotli} {
			small, err := squeeze(data)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(s.dir, a.name+suffix), small, 0o644); err != nil {
				return err
			}
			s.written = append(s.written, asset{name: a.name + suffix, size: len(small)})
		}
	}
	slices.SortFunc(s.written, func(a, b asset) int { return strings.Compare(a.name, b.name) })
	return nil
}

func squeezeGzip(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// squeezeBrotli takes about 20 s for the program: that is why only releases are compressed.
func squeezeBrotli(data []byte) ([]byte, error) {
	var b bytes.Buffer
	// The largest window that browsers must know, 16 MiB: the program is larger
	// than the usual one of 4.
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
