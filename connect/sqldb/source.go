package sqldb

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
)

// lookup is a table or query that is read whole, as a static source.
type lookup struct {
	env    connector.Env
	db     *DB
	what   string // for messages
	query  string
	schema *columnar.Schema
}

func newTable(driver string, env connector.Env, o connector.Options) (connector.Source, error) {
	if !env.Static {
		return nil, errors.New("a table of a database cannot be streamed; add `static: true`, and `refresh: 10 minutes` to have it read again")
	}
	table, query := o.String("table", ""), strings.TrimRight(strings.TrimSpace(o.String("query", "")), ";")
	if (table == "") == (query == "") {
		return nil, errors.New("one of the options \"table\" and \"query\" is needed")
	}
	db, err := openOption(driver, env, o)
	if err != nil {
		return nil, err
	}
	if q, ok := db.d.(*sqliteDialect); ok { // opening it would make it
		if _, err := os.Stat(q.path); err != nil {
			return nil, db.fault(err)
		}
	}
	if env.Zone == nil {
		env.Zone = time.UTC
	}
	l := &lookup{env: env, db: db, query: query, what: "query"}
	if table != "" {
		l.query, l.what = "SELECT * FROM "+quoteTable(db.d, table), fmt.Sprintf("table %q", table)
	}
	if env.Schema != nil { // columns are found by name
		l.schema = env.Schema
		return l, nil
	}
	err = l.read(context.Background(), l.query+l.none(), func(head []resultColumn) error {
		l.schema = &columnar.Schema{}
		for _, c := range head {
			l.schema.Fields = append(l.schema.Fields, columnar.Field{Name: c.name, Type: c.typ, Nullable: true})
		}
		return nil
	}, func([][]byte) error { return errStop })
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// errStop ends a read early.
var errStop = errors.New("enough")

// none makes a table's SELECT give its columns alone. A query is run as it is and ended at its first row.
func (l *lookup) none() string {
	if strings.HasPrefix(l.what, "table") {
		return " WHERE 1 = 0"
	}
	return ""
}

func (l *lookup) read(ctx context.Context, query string, head func([]resultColumn) error, row func([][]byte) error) error {
	// Rows that were handed on cannot be taken back: once the first has come nothing is tried again.
	var begun error
	err := l.db.retry(ctx, func(s session) error {
		started := false
		err := s.query(ctx, query, func(c []resultColumn) error { started = true; return head(c) }, row)
		if started {
			begun = err
			return nil
		}
		return err
	})
	if err == nil {
		err = begun
	}
	if errors.Is(err, errStop) {
		return nil
	}
	if err != nil {
		return l.db.fault(fmt.Errorf("%s: %w", l.what, l.db.d.explain(err)))
	}
	return nil
}

// Schema implements connector.Source.
func (l *lookup) Schema() *columnar.Schema { return l.schema }

// Next implements connector.Source.
func (l *lookup) Next(context.Context, connector.Offset, bool) (end, latest connector.Offset, err error) {
	return connector.Offset("1"), connector.Offset("1"), nil
}

// Plan implements connector.Source.
func (l *lookup) Plan(context.Context, connector.Offset, connector.Offset) ([]connector.Partition, error) {
	return []connector.Partition{l}, nil
}

// Description implements connector.Source.
func (l *lookup) Description() string { return fmt.Sprintf("%s[%s]", l.db.Driver(), l.what) }

// Close implements connector.Source.
func (l *lookup) Close() error { return l.db.Close() }

// ID implements connector.Partition.
func (l *lookup) ID() string { return "" }

// lookupRows is how many rows a batch of a lookup table has.
const lookupRows = 8192

// Read implements connector.Partition.
func (l *lookup) Read(ctx context.Context, _ []int, emit func(connector.Chunk) error) error {
	var (
		head  []resultColumn
		from  []int // column of the result for each of the schema's
		texts []*columnar.Builder
		rows  int
	)
	flush := func() error {
		if rows == 0 {
			return nil
		}
		b := columnar.NewBatch(l.schema, nil, rows)
		for i, f := range l.schema.Fields {
			c, err := l.convert(texts[i].Finish(), head[from[i]], f)
			if err != nil {
				return err
			}
			b.Columns = append(b.Columns, c)
		}
		rows = 0
		return emit(connector.ReadyChunk{Batch: b})
	}
	err := l.read(ctx, l.query, func(h []resultColumn) error {
		head = h
		for _, f := range l.schema.Fields {
			at := -1
			for i, c := range h {
				if c.name == f.Name || at < 0 && strings.EqualFold(c.name, f.Name) {
					at = i
				}
			}
			if at < 0 {
				return fmt.Errorf("there is no column %q", f.Name)
			}
			from = append(from, at)
			texts = append(texts, columnar.NewBuilder(columnar.String, lookupRows))
		}
		return nil
	}, func(values [][]byte) error {
		for i, b := range texts {
			if v := values[from[i]]; v != nil {
				b.AppendBytes(v)
			} else {
				b.AppendNull()
			}
		}
		if rows++; rows == lookupRows {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// convert reads a column of text as the type of a field.
func (l *lookup) convert(text *columnar.Column, from resultColumn, f columnar.Field) (*columnar.Column, error) {
	switch {
	case f.Type.Kind == columnar.KindString:
		return text.WithType(f.Type), nil
	case f.Type.Kind == columnar.KindBinary && !from.hex:
		return text.WithType(f.Type), nil
	case isJSON(f.Type):
		return l.parsed(text, f)
	case isInterval(f.Type) && l.db.Driver() == "postgres":
		return intervals(text, f)
	case f.Type.Kind == columnar.KindBinary:
		b := columnar.NewBuilder(f.Type, text.Len)
		for i := range text.Len {
			if text.IsNull(i) {
				b.AppendNull()
				continue
			}
			v, err := hex.AppendDecode(nil, bytes.TrimPrefix(text.BytesAt(i), []byte(`\x`)))
			if err != nil {
				return nil, fmt.Errorf("column %q: %w", f.Name, err)
			}
			b.AppendBytes(v)
		}
		return b.Finish(), nil
	}
	c, err := expr.CastColumn(&expr.Context{Zone: l.env.Zone}, l.dated(text, from, f), f.Type, expr.CastANSI)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", f.Name, err)
	}
	return c, nil
}

// dated gives timestamps without a zone the one that the database was asked to write them in, UTC.
func (l *lookup) dated(text *columnar.Column, from resultColumn, f columnar.Field) *columnar.Column {
	if f.Type.Kind != columnar.KindTimestamp || from.typ.Kind != columnar.KindTimestamp {
		return text
	}
	b := columnar.NewBuilder(columnar.String, text.Len)
	for i := range text.Len {
		switch v := text.BytesAt(i); {
		case text.IsNull(i):
			b.AppendNull()
		case len(v) > 11 && bytes.ContainsAny(v[11:], "+-Zz"):
			b.AppendBytes(v)
		default:
			b.AppendBytes(append(append([]byte{}, v...), 'Z'))
		}
	}
	return b.Finish()
}
