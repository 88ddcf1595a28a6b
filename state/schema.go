package state

import (
	"fmt"
	"strings"
)

// SchemaError says that a store of the checkpoint does not fit the one that the query asks for.
type SchemaError struct {
	// Store and Operator name it.
	Store, Operator string
	// What is "key", "value", "kind", or "missing" and "unknown" when one side does not have the store at all.
	What string
	// Stored and Wanted are both shapes.
	Stored, Wanted string
}

// Error names the operator and both shapes.
func (e *SchemaError) Error() string {
	switch e.What {
	case "missing":
		return fmt.Sprintf("operator %q has no state %q in the checkpoint, which holds %s", e.Operator, e.Store, e.Stored)
	case "unknown":
		return fmt.Sprintf("the checkpoint holds state %q of operator %q, which the query no longer has", e.Store, e.Operator)
	}
	return fmt.Sprintf("the state of operator %q has another %s: the checkpoint holds %q, the query wants %q",
		e.Operator, e.What, e.Stored, e.Wanted)
}

// compareSpecs returns a *SchemaError if a store that was written as stored cannot be used as wanted.
func compareSpecs(stored, wanted StoreSpec) error {
	e := &SchemaError{Store: wanted.Name, Operator: wanted.Operator}
	kind := func(s StoreSpec) string {
		k := "one value per key"
		if s.Multi {
			k = "several values per key"
		}
		if s.Expiring {
			k += ", expiring"
		}
		return k
	}
	switch {
	case shape(stored.KeySchema) != shape(wanted.KeySchema):
		e.What, e.Stored, e.Wanted = "key", stored.KeySchema, wanted.KeySchema
	case shape(stored.ValueSchema) != shape(wanted.ValueSchema):
		e.What, e.Stored, e.Wanted = "value", stored.ValueSchema, wanted.ValueSchema
	case kind(stored) != kind(wanted):
		e.What, e.Stored, e.Wanted = "kind", kind(stored), kind(wanted)
	default:
		return nil
	}
	return e
}

// shape takes the names out of a DDL schema: "k STRING, s STRUCT<a: INT>" and "x string, y struct<b:int>" have the same
// shape. A name is whatever stands first in a field of the top level or of a STRUCT.
func shape(ddl string) string {
	var out strings.Builder
	var structs []bool // of the open brackets: is it a STRUCT
	name := true       // at the start of a field that has a name
	word := ""
	for i := 0; i < len(ddl); {
		switch c := ddl[i]; {
		case c == '`' && name:
			for i++; i < len(ddl); i++ {
				if ddl[i] == '`' {
					if i+1 == len(ddl) || ddl[i+1] != '`' {
						break
					}
					i++
				}
			}
			i++
			name = false
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == ':':
			i++
		case c == '<' || c == '(':
			structs = append(structs, c == '<' && word == "STRUCT")
			name = structs[len(structs)-1]
			out.WriteByte(c)
			i++
		case c == '>' || c == ')':
			if len(structs) > 0 {
				structs = structs[:len(structs)-1]
			}
			name = false
			out.WriteByte(c)
			i++
		case c == ',':
			name = len(structs) == 0 || structs[len(structs)-1]
			out.WriteByte(c)
			i++
		default:
			j := i
			for j < len(ddl) && !strings.ContainsRune(" \t\r\n:<>(),`", rune(ddl[j])) {
				j++
			}
			if j == i {
				j++
			}
			if name {
				name = false
			} else {
				word = strings.ToUpper(ddl[i:j])
				out.WriteByte(' ')
				out.WriteString(word)
			}
			i = j
		}
	}
	return out.String()
}
