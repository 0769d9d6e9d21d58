//go:build !js

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// charts bundles the part of ECharts that web/static/charts.js names.
func (s *site) charts() error {
	if err := s.installPackages(); err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     s.root,
		EntryPoints:       []string{filepath.Join(s.root, "web", "static", "charts.js")},
		Bundle:            true,
		Format:            api.FormatIIFE,
		Target:            api.ES2020,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsEndOfFile,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`},
	})
	if len(result.Errors) > 0 {
		text := api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return errors.New(strings.Join(text, "\n"))
	}
	var err error
	s.Charts, err = s.putHashed("charts", ".js", result.OutputFiles[0].Contents)
	return err
}

// installPackages runs npm ci unless what is installed is newer than the lock file.
func (s *site) installPackages() error {
	lock, err := os.Stat(filepath.Join(s.root, "package-lock.json"))
	if err != nil {
		return err
	}
	done, err := os.Stat(filepath.Join(s.root, "node_modules", ".package-lock.json"))
	if err == nil && !done.ModTime().Before(lock.ModTime()) {
		return nil
	}
	if _, err := run(s.root, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return fmt.Errorf("the chart library is fetched by npm, which comes with Node 20 or later: %w", err)
	}
	return nil
}
