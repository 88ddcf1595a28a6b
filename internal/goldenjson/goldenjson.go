// Package goldenjson compares JSON values of golden files: whole numbers digit by digit, doubles by value.
package goldenjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Canonical prints JSON without blanks, with doubles in one notation; text that is no JSON comes back as it is.
func Canonical(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(normal(v))
	return strings.TrimSpace(b.String())
}

func normal(v any) any {
	switch x := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(x), ".eE") {
			return x
		}
		if f, err := x.Float64(); err == nil {
			return json.Number(fmt.Sprintf("%v", f))
		}
	case []any:
		for i := range x {
			x[i] = normal(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = normal(x[k])
		}
	}
	return v
}

// Same tells whether two values are equal but for the last digits of doubles.
func Same(a, b []byte) bool {
	if Canonical(a) == Canonical(b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return same(x, y)
}

func same(x, y any) bool {
	switch p := x.(type) {
	case float64:
		q, ok := y.(float64)
		return ok && (p == q || math.Abs(p-q) <= 1e-9*math.Max(math.Abs(p), math.Abs(q)) && (p != math.Trunc(p) || math.Abs(p) > 1<<53))
	case []any:
		q, ok := y.([]any)
		if !ok || len(p) != len(q) {
			return false
		}
		for i := range p {
			if !same(p[i], q[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		q, ok := y.(map[string]any)
		if !ok || len(p) != len(q) {
			return false
		}
		for k := range p {
			if !same(p[k], q[k]) {
				return false
			}
		}
		return true
	}
	return x == y
}
