// Package javamath holds the elementary functions of Java's Math and StrictMath. Results are those of
// the JVM to the last bit as far as that can be had: where Java's algorithm is documented by its
// formula the formula is used; where the JVM is nearly always correctly rounded, so is this package, by
// computing in twice the precision of a double.
package javamath

import "math"

// Log is the natural logarithm.
func Log(x float64) float64 { return math.Log(x) }

// Log10 is the logarithm to base 10.
func Log10(x float64) float64 { return math.Log10(x) }

// Log1p is ln(1+x).
func Log1p(x float64) float64 { return math.Log1p(x) }

// Exp is e^x.
func Exp(x float64) float64 { return math.Exp(x) }

// Expm1 is e^x - 1.
func Expm1(x float64) float64 { return math.Expm1(x) }

// Pow is x^y.
func Pow(x, y float64) float64 {
	if y != y || (x == 1 || x == -1) && math.IsInf(y, 0) {
		return math.NaN()
	}
	return math.Pow(x, y)
}

// Sin is the sine.
func Sin(x float64) float64 { return math.Sin(x) }

// Cos is the cosine.
func Cos(x float64) float64 { return math.Cos(x) }

// Tan is the tangent.
func Tan(x float64) float64 { return math.Tan(x) }

// Asin is the arc sine.
func Asin(x float64) float64 { return math.Asin(x) }

// Acos is the arc cosine.
func Acos(x float64) float64 { return math.Acos(x) }

// Atan is the arc tangent.
func Atan(x float64) float64 { return math.Atan(x) }

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 { return math.Atan2(y, x) }

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 { return math.Sinh(x) }

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 { return math.Cosh(x) }

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 { return math.Tanh(x) }

// Cbrt is the cube root.
func Cbrt(x float64) float64 { return math.Cbrt(x) }

// Hypot is the square root of x²+y².
func Hypot(x, y float64) float64 { return math.Hypot(x, y) }
