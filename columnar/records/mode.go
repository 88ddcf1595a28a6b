package records

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Mode says what becomes of a record that is no proper one.
type Mode uint8

// The modes of all text formats.
const (
	Permissive    Mode = iota // good fields are kept, the record goes to the corrupt column
	DropMalformed             // the record is dropped
	FailFast                  // the read fails
)

// String is the mode's name in options.
func (m Mode) String() string { return [...]string{"PERMISSIVE", "DROPMALFORMED", "FAILFAST"}[m] }

// ParseMode reads a mode in any case; an unknown one is PERMISSIVE, and known tells so.
func ParseMode(s string) (m Mode, known bool) {
	switch strings.ToUpper(s) {
	case "PERMISSIVE":
		return Permissive, true
	case "DROPMALFORMED":
		return DropMalformed, true
	case "FAILFAST":
		return FailFast, true
	}
	return Permissive, false
}

// Corrupt tells what a call of a decoder met that was no proper record.
type Corrupt struct {
	Records int    // how many
	Line    int    // of the first one, counted from 1 within the data of the call
	Sample  string // the beginning of the first one
}

// maxSample bounds the bytes of a corrupt record that are kept for a warning.
const maxSample = 200

// Add counts a record; line is called for the first one only.
func (c *Corrupt) Add(record []byte, line func() int) {
	if c.Records++; c.Records == 1 {
		c.Line, c.Sample = line(), string(record[:min(len(record), maxSample)])
	}
}

// CheckColumn refuses a corrupt column that is not a nullable STRING.
func CheckColumn(s *columnar.Schema, name string) error {
	i := s.Index(name)
	if i < 0 || s.Fields[i].Type.Kind == columnar.KindString && s.Fields[i].Nullable {
		return nil
	}
	return sparkerr.New("INVALID_CORRUPT_RECORD_TYPE", "The column %s for corrupt records must have the nullable STRING type, but got %q.",
		columnar.QuoteIdentifier(name), s.Fields[i].Type.SQL())
}

// CheckNeed refuses a query that asks for nothing but the corrupt column: what is corrupt depends on the columns that
// are read.
func CheckNeed(s *columnar.Schema, need []int, name string) error {
	if len(need) != 1 || s.Fields[need[0]].Name != name {
		return nil
	}
	return sparkerr.New("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN", "Queries from raw JSON and CSV files are disallowed when the referenced columns only include the internal corrupt record column %s; select another column with it.",
		columnar.QuoteIdentifier(name))
}

// Column builds the corrupt column: the text of some rows, null for the others.
type Column struct {
	rows []int
	text [][]byte
}

// Set gives row a text, which is copied; rows come in rising order.
func (c *Column) Set(row int, text []byte) {
	c.rows, c.text = append(c.rows, row), append(c.text, append([]byte{}, text...))
}

// Reset forgets all rows.
func (c *Column) Reset() { c.rows, c.text = c.rows[:0], c.text[:0] }

// Build makes a STRING column of n rows.
func (c *Column) Build(n int) *columnar.Column {
	if len(c.rows) == 0 {
		return columnar.NewNull(columnar.String, n)
	}
	offsets, valid := make([]int32, n+1), columnar.NewBitmap(n)
	var data []byte
	row := 0
	for k, bad := range c.rows {
		for ; row <= bad; row++ {
			offsets[row] = int32(len(data))
		}
		data = append(data, c.text[k]...)
		valid.Set(bad)
	}
	for ; row <= n; row++ {
		offsets[row] = int32(len(data))
	}
	return columnar.NewBytes(columnar.String, offsets, data, valid)
}

// Malformed is the error of a bad record in FAILFAST mode.
func Malformed(record []byte, cause error) error {
	return sparkerr.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
		"Malformed records are detected in record parsing: %.200q. Parse Mode: FAILFAST. To process malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'.",
		record).WithCause(cause)
}

// ModeUnsupported is the error of a mode that a function does not have.
func ModeUnsupported(function string, m Mode) error {
	return sparkerr.New("PARSE_MODE_UNSUPPORTED", "The function `%s` doesn't support the %s mode. Acceptable modes are PERMISSIVE and FAILFAST.", function, m)
}

// ParseBool reads true or false in any case into v.
func ParseBool(s string, v *bool) error {
	switch strings.ToLower(s) {
	case "true":
		*v = true
	case "false":
		*v = false
	default:
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}
