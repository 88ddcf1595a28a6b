// Package sql reads Spark's SQL dialect: it turns the text of a statement, an expression, a type
// or a schema into a syntax tree whose nodes know where they stand in the text.
//
// The tree says what was written, not what it means: names are unresolved, functions unknown, date
// literals unread. What can be judged by the text alone is judged here (ranges of number literals,
// shapes of intervals, bounds of types); such errors, like syntax errors, carry Spark's condition
// and the place.
//
// Entry points are ParseQuery, ParseExpr, ParseStatement, ParseType, ParseSchema and Split.
package sql
