package sqldb

import (
	"context"
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// target is the table that a sink writes to.
type target struct {
	table string
	key   []string // of upserts, empty to append
	ready *columnar.Schema
	names []string // of the table's columns, in the order of the schema's
}

// prepare makes the table if it is not there, and checks that it can take rows of the schema.
func (t *target) prepare(ctx context.Context, db *DB, s session, schema *columnar.Schema) error {
	if t.ready != nil && t.ready.Equal(schema) {
		return nil
	}
	for _, k := range t.key {
		if schema.IndexFold(k) < 0 {
			return fmt.Errorf("option \"key\": the rows have no column %q; they have %s", k, strings.Join(fieldNames(schema), ", "))
		}
	}
	for i, f := range schema.Fields {
		if j := schema.IndexFold(f.Name); j != i {
			return fmt.Errorf("two columns are called %q, which a table cannot have; rename one with AS", f.Name)
		}
	}
	have, err := db.d.columns(ctx, s, t.table)
	if err != nil {
		return err
	}
	if have == nil {
		ddl, err := t.create(db.d, schema)
		if err != nil {
			return err
		}
		if have, err = db.makeTable(ctx, s, t.table, ddl); err != nil {
			return err
		}
	}
	t.names = nil
	for _, f := range schema.Fields {
		name := ""
		for _, c := range have {
			if c.name == f.Name || name == "" && strings.EqualFold(c.name, f.Name) {
				name = c.name
			}
		}
		if name == "" {
			typ, err := db.d.columnType(f.Type, false, 0)
			if err != nil {
				return err
			}
			return fmt.Errorf("it has no column %q; add it with ALTER TABLE %s ADD COLUMN %s %s, or leave the column out of the query",
				f.Name, quoteTable(db.d, t.table), db.d.quote(f.Name), typ)
		}
		t.names = append(t.names, name)
	}
	if len(t.key) > 0 {
		ok, err := db.d.unique(ctx, s, t.table, t.key)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("upserts need a unique index of just the key %s; make it with CREATE UNIQUE INDEX %s ON %s (%s)", strings.Join(t.key, ", "),
				db.d.quote(t.table[strings.LastIndexByte(t.table, '.')+1:]+"_key"), quoteTable(db.d, t.table), t.quoted(db.d, t.key))
		}
	}
	t.ready = schema
	return nil
}

// makeTable makes a table that is not there yet, outside of a transaction, and gives its columns. Of two that make it at once
// PostgreSQL lets one fail, in several ways, whatever IF NOT EXISTS says: then it is there by now.
func (db *DB) makeTable(ctx context.Context, s session, table, create string) ([]tableColumn, error) {
	_, failed := s.exec(ctx, create)
	have, err := db.d.columns(ctx, s, table)
	if failed != nil && (err != nil || have == nil) {
		return nil, fmt.Errorf("%w (in %s)", failed, create)
	}
	return have, err
}

func fieldNames(s *columnar.Schema) []string {
	var names []string
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	return names
}

func (t *target) quoted(d dialect, names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = d.quote(n)
	}
	return strings.Join(out, ", ")
}

// isKey tells whether a column belongs to the key.
func (t *target) isKey(name string) bool {
	for _, k := range t.key {
		if strings.EqualFold(k, name) {
			return true
		}
	}
	return false
}

// create is the CREATE TABLE of the table. The key is a primary key if no part of it may be null.
func (t *target) create(d dialect, schema *columnar.Schema) (string, error) {
	var cols, key []string
	nullable := false
	for _, f := range schema.Fields {
		k := t.isKey(f.Name)
		typ, err := d.columnType(f.Type, k, len(t.key))
		if err != nil {
			return "", fmt.Errorf("column %q: %w", f.Name, err)
		}
		col := d.quote(f.Name) + " " + typ
		if !f.Nullable {
			col += " NOT NULL"
		}
		nullable = nullable || k && f.Nullable
		cols = append(cols, col)
	}
	for _, k := range t.key {
		key = append(key, schema.Fields[schema.IndexFold(k)].Name)
	}
	if len(key) > 0 {
		kind := "PRIMARY KEY"
		if nullable {
			kind = "UNIQUE"
		}
		cols = append(cols, kind+" ("+t.quoted(d, key)+")")
	}
	return "CREATE TABLE IF NOT EXISTS " + quoteTable(d, t.table) + " (" + strings.Join(cols, ", ") + ")", nil
}

// insert is the statement that a row is written by.
func (t *target) insert(d dialect) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (", quoteTable(d, t.table), t.quoted(d, t.names))
	for i := range t.names {
		fmt.Fprintf(&b, "%s$%d", comma(i), i+1)
	}
	b.WriteByte(')')
	if len(t.key) == 0 {
		return b.String()
	}
	var key, set []string
	for _, n := range t.names {
		q := d.quote(n)
		if t.isKey(n) {
			key = append(key, q)
		} else {
			set = append(set, q+" = excluded."+q)
		}
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO ", strings.Join(key, ", "))
	if len(set) == 0 {
		b.WriteString("NOTHING")
	} else {
		b.WriteString("UPDATE SET " + strings.Join(set, ", "))
	}
	return b.String()
}

// lastOfKey keeps of rows with the same key the last one, and says which rows have a key with a null.
func (t *target) lastOfKey(b *columnar.Batch) (whole, withNull *columnar.Batch) {
	var cols []*columnar.Column
	for i, f := range b.Schema.Fields {
		if t.isKey(f.Name) {
			cols = append(cols, b.Columns[i])
		}
	}
	var keys columnar.RowKeys
	columnar.EncodeRows(&keys, cols, b.Rows, true)
	last := make(map[string]int32, b.Rows)
	for i := range b.Rows {
		last[string(keys.Row(i))] = int32(i)
	}
	var idx, nulls []int32
	for i := range b.Rows {
		if len(last) < b.Rows && last[string(keys.Row(i))] != int32(i) {
			continue
		}
		null := false
		for _, c := range cols {
			null = null || c.IsNull(i)
		}
		if null {
			nulls = append(nulls, int32(i))
		} else {
			idx = append(idx, int32(i))
		}
	}
	if len(idx) == b.Rows {
		return b, nil
	}
	return columnar.TakeBatch(b, idx), columnar.TakeBatch(b, nulls)
}

// removeNulls deletes the rows with the keys of b. The statement has the parameters of the key alone, in the order of b's
// columns.
func (t *target) removeNulls(b *columnar.Batch, exec func(statement string, rows *columnar.Batch) error, d dialect) error {
	key := &columnar.Batch{Schema: &columnar.Schema{}, Rows: b.Rows}
	var where []string
	for i, n := range t.names {
		if t.isKey(n) {
			key.Schema.Fields = append(key.Schema.Fields, b.Schema.Fields[i])
			key.Columns = append(key.Columns, b.Columns[i])
			where = append(where, fmt.Sprintf("%s %s $%d", d.quote(n), d.nullSafe(), len(key.Columns)))
		}
	}
	return exec("DELETE FROM "+quoteTable(d, t.table)+" WHERE "+strings.Join(where, " AND "), key)
}
