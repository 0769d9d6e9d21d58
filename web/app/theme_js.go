package app

import "github.com/hack-pad/safejs"

// listenTheme calls changed when the system's colours change.
func listenTheme(changed func()) {
	for _, query := range []string{"(prefers-color-scheme: dark)", "(forced-colors: active)"} {
		if m := call(safejs.Global(), "matchMedia", query); exists(m) {
			listen(m, "change", func(safejs.Value) { changed() })
		}
	}
}

// listenPrint calls onPaper before and after the page is printed, some times more
// than once.
func listenPrint(onPaper func(paper bool)) {
	listen(safejs.Global(), "beforeprint", func(safejs.Value) { onPaper(true) })
	listen(safejs.Global(), "afterprint", func(safejs.Value) { onPaper(false) })
	if m := call(safejs.Global(), "matchMedia", "print"); exists(m) { // for browsers without these events
		listen(m, "change", func(e safejs.Value) { onPaper(truth(e, "matches")) })
	}
}

const themeKey = "memtide-theme"

// savedTheme returns what was chosen before; storage may be forbidden.
func savedTheme() string {
	theme := text(call(global("localStorage"), "getItem", themeKey))
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	applyTheme(theme)
	return theme
}

func saveTheme(theme string) {
	call(global("localStorage"), "setItem", themeKey, theme)
	applyTheme(theme)
}

func applyTheme(theme string) {
	root := global("document", "documentElement")
	if theme == "" {
		call(root, "removeAttribute", "data-theme")
	} else {
		call(root, "setAttribute", "data-theme", theme)
	}
}
