package parquetfmt

// FieldIDs are the field ids of columns in a file, in the shape of a schema: a node for each field of a struct, one for
// the element of an array, two for the keys and the values of a map. A nil node has none below it.
type FieldIDs struct {
	ID   int32 // of the field itself; it does not count for elements, keys and values
	Kids []*FieldIDs
}

// kid is the node of a field.
func (f *FieldIDs) kid(i int) *FieldIDs {
	if f == nil || i >= len(f.Kids) {
		return nil
	}
	return f.Kids[i]
}

// find gives the file's field for field i of a schema: by its id, or by its name where there are no ids. It is nil when
// the file does not have it.
func (f *FieldIDs) find(fields []*fileField, i int, name string) *fileField {
	k := f.kid(i)
	if k == nil {
		return findField(fields, name)
	}
	for _, field := range fields {
		if field.id == k.ID {
			return field
		}
	}
	return nil
}

// haveIDs tells whether a file gives its columns ids.
func haveIDs(fields []*fileField) bool {
	for _, f := range fields {
		if f.id >= 0 {
			return true
		}
	}
	return false
}
