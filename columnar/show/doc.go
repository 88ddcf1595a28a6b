// Package show writes batches for people to read: values as text, the table that df.show prints, what the
// console sink prints, and a schema as a tree.
package show
