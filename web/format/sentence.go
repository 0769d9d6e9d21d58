package format

import "strings"

// Sentence makes a sentence of an error.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// Capital returns a text that begins with a capital, unless it begins with a name such as
// bf16 or torch.compile.
func Capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); word == "" || strings.ContainsAny(word, ".0123456789") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
