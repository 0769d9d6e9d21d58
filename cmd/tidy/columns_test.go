package tidy

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// columns is the limit on the width of a line, with tabs of four columns.
const columns = 120

// longText is the length from which a string allows its line to be wider: messages and addresses can only be
// searched for if they are in one piece.
const longText = 50

// TestColumns checks that no line outside tests is wider than columns, unless it has a long string in it.
func TestColumns(t *testing.T) {
	for _, f := range sources(t) {
		if f.generated() || f.test() {
			continue
		}
		texts := map[int]bool{} // lines with a long text
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) >= longText {
				for at := f.fset.Position(lit.Pos()).Line; at <= f.fset.Position(lit.End()).Line; at++ {
					texts[at] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(f.src), "\n") {
			wide := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
			if wide > columns && !texts[i+1] {
				t.Errorf("%s:%d has %d columns, want at most %d:\n%s", f.path, i+1, wide, columns, line)
			}
		}
	}
}
