// Package jsontoken splits one JSON text into tokens as the parser does that Spark uses (Jackson's
// streaming parser), its leniencies included and above all its way on after an error: Spark keeps
// the good fields of a bad record, so which fields those are depends on how far the parser had come
// when it gave up and on what it takes the rest for.
//
// Facts that matter for that, all of them visible in results:
//
//   - a string value is only delimited when the next token is asked for, and decoded only when its
//     text is; an error in a string that is read leaves the position behind the bad byte,
//   - the value behind a field name is begun together with the name, so that an error in a number
//     or a literal counts as an error of the name,
//   - a failed number or literal behind a name makes the following call answer "no more tokens",
//   - the innermost object or array stays open after an error.
package jsontoken
