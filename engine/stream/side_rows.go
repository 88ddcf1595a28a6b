package stream

import (
	"github.com/wstream/wstream/columnar"
)

// The columns that late rows and dead letters get beside their own.
const (
	// LateOperator and LateWatermark say which operator a row came too late for, and the watermark that it missed.
	LateOperator  = "_operator"
	LateWatermark = "_watermark"
	// DeadError and DeadModule say why a user function has refused a row and which, DeadBatch in which batch.
	DeadError  = "_error"
	DeadModule = "_module"
	DeadBatch  = "_batch"
)

// lateRows adds to late rows the operator and the watermark, in µs, that they missed.
func lateRows(rows *columnar.Batch, operator string, watermark int64) *columnar.Batch {
	return widen(rows,
		column{LateOperator, columnar.Repeat(columnar.String, operator, rows.Rows)},
		column{LateWatermark, columnar.Repeat(columnar.Timestamp, watermark, rows.Rows)})
}

// deadLetters adds to refused rows the text for each, the module and the batch's id.
func deadLetters(rows *columnar.Batch, texts []string, module string, batch int64) *columnar.Batch {
	return widen(rows,
		column{DeadError, columnar.NewStrings(texts)},
		column{DeadModule, columnar.Repeat(columnar.String, module, rows.Rows)},
		column{DeadBatch, columnar.Repeat(columnar.Int64, batch, rows.Rows)})
}

type column struct {
	name string
	col  *columnar.Column
}

// widen adds columns. All columns of the result may be null, since another operator's rows may lack them.
func widen(b *columnar.Batch, more ...column) *columnar.Batch {
	fields := append([]columnar.Field{}, b.Schema.Fields...)
	for i := range fields {
		fields[i].Nullable = true
	}
	cols := append([]*columnar.Column{}, b.Columns...)
	for _, c := range more {
		fields = append(fields, columnar.Field{Name: c.name, Type: c.col.Type, Nullable: true})
		cols = append(cols, c.col)
	}
	return columnar.NewBatch(columnar.NewSchema(fields...), cols, b.Rows)
}

// conform brings rows to a schema: columns are found by name and type, those that are not there are null. It also returns
// the names of the columns that had to be left out.
func conform(b *columnar.Batch, s *columnar.Schema) (*columnar.Batch, []string) {
	if b.Schema == s || b.Schema.Equal(s) {
		return b, nil
	}
	cols := make([]*columnar.Column, len(s.Fields))
	used := map[int]bool{}
	for i, f := range s.Fields {
		if at := b.Schema.Index(f.Name); at >= 0 && b.Columns[at].Type.Equal(f.Type) {
			cols[i], used[at] = b.Columns[at], true
		} else {
			cols[i] = columnar.NewNull(f.Type, b.Rows)
		}
	}
	var missing []string
	for i, f := range b.Schema.Fields {
		if !used[i] {
			missing = append(missing, f.Name)
		}
	}
	return columnar.NewBatch(s, cols, b.Rows), missing
}
