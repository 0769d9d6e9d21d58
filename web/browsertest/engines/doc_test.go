//go:build !js

// Package engines tests the page in three browsers, Chromium, Firefox and WebKit (see TestPage). Tests use a Page
// and do not depend on the browser. For each browser there is a file that implements Browser and Tab with the
// protocol of the browser: Chrome's DevTools protocol, WebDriver BiDi, or WebDriver over HTTP.
//
// Every test serves the site on its own port, which is an origin of its own,
// so tests do not share storage. Package browsertest tests what only one browser can do.
//
// The site is the directory named by MEMTIDE_DIST; if that is not set, the site is built.
// If a browser is missing, its tests are skipped and say how to install it.
package engines
