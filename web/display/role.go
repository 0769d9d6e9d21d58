package display

import "strings"

// Role is the meaning of a colour; each theme assigns a colour to every role.
type Role uint8

// The roles. On... are the ink on a fill, in the order of the fills, and Line... the lines of a fill's pattern.
const (
	Forward   Role = iota // forward operations, kept activations
	Recompute             // forward operations that run again, and their results
	Backward              // backward operations, gradients
	Transfer              // copies over the link
	Fixed                 // weights and all else that is resident
	Waiting               // waits of the compute lane
	Over                  // above the budget
	Budget                // the budget line
	Surface               // the background
	Ink                   // text and outlines
	Muted                 // text of axes
	Grid                  // lines of axes
	OnForward
	OnRecompute
	OnBackward
	OnTransfer
	OnFixed
	LineRecompute
	LineTransfer
	Phase        // behind every second phase of the step
	InkRecompute // text on the background about recomputation
	InkTransfer  // text on the background about copies
	Veil         // three quarters opaque background, over times that the playhead has not reached
	NumRoles

	NoRole Role = 255 // not painted
)

// roleNames are the names of the style sheet's classes and variables.
var roleNames = [NumRoles]string{"forward", "recompute", "backward", "transfer", "fixed", "waiting", "over", "budget",
	"surface", "ink", "muted", "grid", "on-forward", "on-recompute", "on-backward", "on-transfer", "on-fixed",
	"line-recompute", "line-transfer", "phase", "ink-recompute", "ink-transfer", "veil"}

// String returns the role's name in style sheets.
func (r Role) String() string { return roleNames[r] }

// On returns the role of text on a fill of role r.
func (r Role) On() Role {
	if r <= Fixed {
		return r + OnForward
	}
	return Ink
}

// Theme is a set of colours.
type Theme uint8

// The themes. Forced has the system's colours, for forced-colors: active.
const (
	Light Theme = iota
	Dark
	Forced
	NumThemes
)

// palettes are the colours by theme and role. The six fills maximize the least CIEDE2000 difference between two of them
// over normal, protan, deutan and tritan vision (20.6 light, 20.2 dark), with a contrast of at least 3:1 on the
// surface. The ink on a fill is black or white, whichever has the higher contrast.
var palettes = [NumThemes][NumRoles]string{
	Light: {"#035a9a", "#c18428", "#379e89", "#a880dd", "#49494b", "#a50a00", "#a50a00", "#a50a00",
		"#ffffff", "#16181c", "#5b6470", "#d9dde2", "#ffffff", "#000000", "#000000", "#000000", "#ffffff",
		"#e6cda3", "#e3d6f6", "#f4f6f8", "#875a12", "#6f42b0", "#ffffffbf"},
	Dark: {"#5472d2", "#faa82d", "#94e1ba", "#d3affa", "#7c7d7d", "#cf4b33", "#cf4b33", "#e0664f",
		"#14171c", "#e8ebef", "#9aa4b0", "#2c323a", "#000000", "#000000", "#000000", "#000000", "#000000",
		"#b87a1c", "#8a62b8", "#1a1f26", "#faa82d", "#d3affa", "#14171cbf"},
	Forced: {"CanvasText", "Canvas", "Highlight", "LinkText", "GrayText", "ActiveText", "ActiveText", "ActiveText",
		"Canvas", "CanvasText", "CanvasText", "GrayText", "Canvas", "CanvasText", "HighlightText", "Canvas", "Canvas",
		"CanvasText", "Canvas", "Canvas", "CanvasText", "CanvasText", "transparent"},
}

// Palette returns the CSS colours of a theme, indexed by Role, for paint.js.
func Palette(t Theme) []string {
	p := palettes[t]
	return p[:]
}

// variables returns the declarations of a theme's colours as CSS variables.
func variables(t Theme) string {
	var b strings.Builder
	for r, name := range roleNames {
		b.WriteString("--mt-" + name + ":" + palettes[t][r] + ";")
	}
	return b.String()
}

// rules returns the CSS classes: mt-forward sets the fill, mt-s-forward the stroke.
func rules() string {
	var b strings.Builder
	b.WriteString(".mt-pic{forced-color-adjust:none;font:" + fontCSS + ";font-variant-numeric:tabular-nums}\n")
	for _, name := range roleNames {
		b.WriteString(".mt-" + name + "{fill:var(--mt-" + name + ")}.mt-s-" + name + "{stroke:var(--mt-" + name +
			")}\n")
	}
	return b.String()
}

// CSS returns the style sheet of inline SVG: the colours as variables (--mt-forward and so on) and the classes. Colours
// follow prefers-color-scheme, data-theme="light" or "dark" on the root element, and forced-colors.
func CSS() string {
	return ":root{" + variables(Light) + "}\n" +
		"@media (prefers-color-scheme:dark){:root:not([data-theme=light]){" + variables(Dark) + "}}\n" +
		":root[data-theme=dark]{" + variables(Dark) + "}\n" +
		"@media (forced-colors:active){:root,:root[data-theme],:root:not([data-theme=light]){" + variables(Forced) +
		"}}\n" +
		rules()
}

// standaloneCSS returns the style sheet that an SVG file contains.
func standaloneCSS() string {
	return "svg{" + variables(Light) + "}\n@media (prefers-color-scheme:dark){svg{" + variables(Dark) + "}}\n" +
		"@media (forced-colors:active){svg{" + variables(Forced) + "}}\n" + rules()
}

// The pictures have two font sizes, in CSS pixels: FontSize, and largeSize for titles and
// the names of lines. paint.js has the same.
const (
	FontSize  = 11.0
	largeSize = 13.0
	haloWidth = 4.0 // width of the stroke behind a text with a halo
	fontCSS   = "11px system-ui,sans-serif"
)
