package foreachbatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect/kafka"
	"github.com/wstream/wstream/engine/connector"
)

// headersType is the type of a record's headers.
var headersType = columnar.ArrayOf(columnar.StructOf(
	columnar.Field{Name: "key", Type: columnar.String}, columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}), false)

// recordSchema is what a producer's rows become.
var recordSchema = columnar.NewSchema(
	columnar.Field{Name: "topic", Type: columnar.String}, columnar.Field{Name: "key", Type: columnar.Binary, Nullable: true},
	columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}, columnar.Field{Name: "headers", Type: headersType, Nullable: true})

// openProducer makes a Kafka sink for what a guest sends.
func openProducer(env connector.Env, options connector.Options) (connector.Sink, error) {
	if _, ok := options.Get("kafka.bootstrap.servers"); !ok {
		return nil, errors.New("needs the brokers: set option \"kafka.bootstrap.servers\" of the sink")
	}
	env.Schema = recordSchema
	return kafka.Spec().NewSink(env, options)
}

// producer sends the records of one batch, within one transaction. It implements host.Producer.
type producer struct {
	w connector.BatchWriter
}

// beginProducer opens a batch; done says that it was committed before.
func beginProducer(ctx context.Context, s connector.Sink, info connector.BatchInfo) (p *producer, done bool, err error) {
	info.Schema = recordSchema
	w, err := s.Begin(ctx, info)
	if err != nil {
		return nil, false, err
	}
	d, ok := w.(interface{ Done() bool })
	return &producer{w}, ok && d.Done(), nil
}

// Produce implements host.Producer: a row of one column is a value, of two a key and a value, of three headers besides.
func (p *producer) Produce(ctx context.Context, topic string, rows *columnar.Batch) error {
	text := func(i int) (*columnar.Column, error) {
		c := rows.Columns[i]
		switch c.Type.Kind {
		case columnar.KindBinary:
			return c, nil
		case columnar.KindString:
			return c.WithType(columnar.Binary), nil
		}
		return nil, fmt.Errorf("topic %q: column %d is %s, expected STRING or BINARY", topic, i+1, c.Type.SQL())
	}
	n := len(rows.Columns)
	if n < 1 || n > 3 {
		return fmt.Errorf("topic %q: rows of %d columns, expected value; key and value; or key, value and headers", topic, n)
	}
	cols := []*columnar.Column{
		columnar.Repeat(columnar.String, topic, rows.Rows), columnar.NewNull(columnar.Binary, rows.Rows), nil, columnar.NewNull(headersType, rows.Rows),
	}
	var err error
	if cols[2], err = text(min(n-1, 1)); err != nil {
		return err
	}
	if n > 1 {
		if cols[1], err = text(0); err != nil {
			return err
		}
	}
	if n == 3 {
		h := rows.Columns[2]
		if t := h.Type; t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindStruct || len(t.Elem.Fields) != 2 ||
			t.Elem.Fields[0].Type.Kind != columnar.KindString || t.Elem.Fields[1].Type.Kind != columnar.KindBinary {
			return fmt.Errorf("topic %q: column 3 is %s, expected headers ARRAY<STRUCT<key: STRING, value: BINARY>>", topic, t.SQL())
		}
		cols[3] = h
	}
	return p.w.Write(ctx, columnar.NewBatch(recordSchema, cols, rows.Rows))
}
