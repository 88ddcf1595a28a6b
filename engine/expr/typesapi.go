package expr

import "github.com/wstream/wstream/columnar"

// CommonTypeNoStrings is the common type of two without turning one into a string or a string into the
// other, or nil: what inline tables and set operations ask for.
func (b *Binder) CommonTypeNoStrings(x, y *columnar.Type) *columnar.Type {
	old := *b
	old.ANSI = false // Spark takes the older rules here, so that INT and FLOAT are FLOAT
	return old.widerNoStrings(x, y)
}
