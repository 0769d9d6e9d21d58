package draw

import (
	"fmt"
	"testing"

	"memtide/web/lookup"
)

// BenchmarkDraw draws one frame of the timeline and one of the memory, for the whole trace and for 2 % of it.
func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		m := randomModel(n, 1)
		for _, pic := range []Picture{Timeline, Memory} {
			for _, zoom := range []int{100, 2} {
				v := View{Width: 1600, From: m.Makespan() / 3}
				v.To = v.From + m.Makespan()*2/100
				if zoom == 100 {
					v.From, v.To = 0, 0
				}
				b.Run(fmt.Sprintf("picture=%s/slices=%d/zoom=%d", pic.Title(), n, zoom), func(b *testing.B) {
					var s Scene
					var buf []byte
					b.ReportAllocs()
					for b.Loop() {
						m.Draw(&s, pic, v)
						buf = s.AppendBuffer(buf[:0])
					}
					b.ReportMetric(float64(s.Items()), "items")
					b.ReportMetric(float64(len(buf)), "bufbytes")
				})
			}
		}
	}
}

// BenchmarkSeams draws one frame of the memory with seams between values and with the selected layer at the
// bottom.
func BenchmarkSeams(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		m := NewIndex(manyLives(n))
		v := View{Width: 1600, Selected: lookup.Target{Kind: lookup.OnStage, Index: 3}}
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			var s Scene
			for b.Loop() {
				m.Draw(&s, Memory, v)
			}
			b.ReportMetric(float64(s.Items()), "items")
		})
	}
}

func BenchmarkNewModel(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		m := randomModel(n, 1)
		b.Run(fmt.Sprintf("slices=%d", n), func(b *testing.B) {
			for b.Loop() {
				NewIndex(m.Problem, m.Trace)
			}
		})
	}
}

func BenchmarkHit(b *testing.B) {
	m := randomModel(1_000_000, 1)
	x := 80.0
	for b.Loop() {
		m.Hit(Timeline, View{Width: 1600}, x, 30)
		if x++; x > 1500 {
			x = 80
		}
	}
}
