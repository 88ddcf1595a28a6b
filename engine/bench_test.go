package engine

import "testing"

// BenchmarkStatement is the time of a small statement from text to rows.
func BenchmarkStatement(b *testing.B) {
	_, s := newWorld(b)
	for _, text := range []string{"SELECT 1", "SELECT k, sum(v) AS s FROM VALUES ('a', 1), ('b', 2), ('a', 3) AS t(k, v) GROUP BY k ORDER BY k"} {
		b.Run(text[:8], func(b *testing.B) {
			for b.Loop() {
				if _, err := s.SQL(text).Collect(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSession is the time that a new session takes.
func BenchmarkSession(b *testing.B) {
	for b.Loop() {
		if _, err := NewSession(nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
