//go:build !js

// Package engines runs one set of tests of the page in three browsers: Chromium,
// Firefox and WebKit. A test knows a Page and nothing of the browser behind it; a
// browser is one file that implements Browser and Tab with what it speaks itself:
// Chrome's DevTools protocol, WebDriver BiDi, or WebDriver over HTTP.
//
// Every test serves the site on a port of its own, which is an origin of its own:
// nothing that one test stores is found by another. What only one browser can do
// is tested in package browsertest.
//
// The site is the directory named by MEMTIDE_DIST; if that is not set it is built.
// Where a browser is missing its tests skip and say how to get it.
package engines
