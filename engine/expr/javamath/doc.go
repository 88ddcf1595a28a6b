// Package javamath holds the elementary functions of Java's Math and StrictMath on doubles.
//
// Java defines StrictMath by the algorithms of the "freely distributable math library", whose results
// are not always the nearest double (exp(1) is one unit off), so those with short formulas are computed
// the same way here, with the same polynomials, and agree to the last bit. Sines, cosines and
// tangents are computed in twice the precision and rounded once, which is what the JVM's own code gives but
// for rare last digits.
package javamath
