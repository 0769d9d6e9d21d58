// Command puzzle is the program of puzzle.html, a game about planning a step by hand (package
// web/puzzle). No other page loads it.
package main

import (
	"strconv"
	"strings"
	"syscall/js"

	"memtide/web/puzzle"
)

var document = js.Global().Get("document")

func put(id, html string) { document.Call("getElementById", id).Set("innerHTML", html) }

func main() {
	location := js.Global().Get("location")
	g := puzzle.NewGame(location.Get("hash").String())
	show := func() { // draws everything that depends on the plan
		put("levels", g.LevelsHTML())
		put("score", g.ScoreHTML())
		status := document.Call("getElementById", "verdict")
		status.Set("textContent", g.Verdict())
		status.Get("dataset").Set("solved", g.Solved())
		put("picture", g.PictureHTML(document.Call("getElementById", "picture").Get("clientWidth").Float()))
		js.Global().Get("history").Call("replaceState", nil, "", g.Fragment())
	}
	board := func() {
		put("board", g.BoardHTML())
		show()
	}
	on := func(target js.Value, event string, do func(e js.Value)) {
		target.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
			do(args[0].Get("target"))
			return nil
		}))
	}
	on(document, "change", func(e js.Value) {
		layer, _ := strconv.Atoi(strings.TrimPrefix(e.Get("name").String(), "layer"))
		g.Choose(layer, e.Get("value").String())
		show()
	})
	on(document, "click", func(e js.Value) {
		button := e.Call("closest", "[data-do]")
		if button.IsNull() {
			return
		}
		level, _ := strconv.Atoi(button.Get("value").String())
		switch button.Get("dataset").Get("do").String() {
		case "level":
			g.Open(level)
			board()
			document.Call("querySelector", `#levels [aria-current]`).Call("focus") // the button has been replaced
			return
		case "reset":
			g.Reset()
		case "best":
			g.ShowBest()
		}
		board()
	})
	on(js.Global(), "resize", func(js.Value) { show() })
	board()
	document.Get("body").Get("dataset").Set("state", "ready")
	select {}
}
