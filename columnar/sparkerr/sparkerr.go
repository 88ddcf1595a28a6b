// Package sparkerr holds the one error type that carries a Spark error condition, such as
// "DIVIDE_BY_ZERO" or "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION". Whoever meets a fault that
// Spark has a name for returns one of these; callers above wrap it with coordinates
// (operator, batch, row) and the condition stays reachable through errors.As.
package sparkerr

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a fault with Spark's name for it. Its text begins with "[CONDITION]".
type Error struct {
	Condition  string // Spark's error condition, e.g. "CAST_INVALID_INPUT"
	Message    string // one or more sentences: what was found, what was expected, what to do
	Line, Col  int    // 1-based position in the statement; 0 when unknown
	Suggestion string // the nearest name, or the line to add; may be empty
	Cause      error  // a fault further down the chain, or nil
}

// New makes an Error of a condition and a message in fmt's format.
func New(condition, format string, args ...any) *Error {
	return &Error{Condition: condition, Message: fmt.Sprintf(format, args...)}
}

// At makes an Error at a 1-based line and column of the statement.
func At(line, col int, condition, format string, args ...any) *Error {
	return &Error{Condition: condition, Message: fmt.Sprintf(format, args...), Line: line, Col: col}
}

// WithPos returns e with the position set, unless e already has one.
func (e *Error) WithPos(line, col int) *Error {
	if e.Line == 0 {
		e.Line, e.Col = line, col
	}
	return e
}

// WithSuggestion returns e with a suggestion, which the text shows as `did you mean …?`.
func (e *Error) WithSuggestion(s string) *Error {
	e.Suggestion = s
	return e
}

// WithCause returns e with the fault that it was made of.
func (e *Error) WithCause(cause error) *Error {
	e.Cause = cause
	return e
}

// Error is "[CONDITION] message", then the suggestion and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteByte('[')
	b.WriteString(e.Condition)
	b.WriteString("] ")
	b.WriteString(e.Message)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Suggestion)
	}
	if e.Cause != nil {
		b.WriteString(": ")
		b.WriteString(e.Cause.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Condition returns the condition of the outermost Error in the chain of err, or "".
func Condition(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Condition
	}
	return ""
}

// Conditions returns the conditions of all Errors in the chain of err, outermost first.
func Conditions(err error) []string {
	var out []string
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return out
		}
		out = append(out, e.Condition)
		err = e.Cause
	}
	return out
}
