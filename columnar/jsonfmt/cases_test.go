package jsonfmt

import (
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/formattest"
	"github.com/wstream/wstream/columnar/lines"
)

// readCase reads a file as a file source would, in small chunks.
func readCase(c *formattest.Case, chunk int) ([]*columnar.Batch, error) {
	opts, err := ParseOptions(c.Options, "UTC")
	if err != nil {
		return nil, err
	}
	schema := c.Schema
	if schema == nil && opts.SingleVariantColumn == "" {
		if schema, err = inferCase(c, opts); err != nil {
			return nil, err
		}
	}
	if err := schema.CheckNames(); err != nil {
		return nil, err
	}
	d, err := New(schema, nil, opts)
	if err != nil {
		return nil, err
	}
	batches := []*columnar.Batch{}
	err = eachChunk(c, opts, chunk, func(data []byte) error {
		b, _, err := d.Decode(data)
		batches = append(batches, b)
		return err
	})
	if err != nil {
		return nil, lines.FileError(c.Path, err)
	}
	return batches, nil
}

func eachChunk(c *formattest.Case, opts Options, chunk int, do func([]byte) error) error {
	return c.EachChunk(opts.Encoding, lines.Options{LineSep: opts.LineSep, Whole: opts.MultiLine, ChunkSize: chunk}, do)
}

func inferCase(c *formattest.Case, opts Options) (*columnar.Schema, error) {
	n, err := NewInference(opts)
	if err != nil {
		return nil, err
	}
	if err := eachChunk(c, opts, 0, n.Add); err != nil {
		return nil, err
	}
	return n.Schema(), nil
}

func TestCases(t *testing.T) {
	cases := formattest.Cases(t, "json")
	for _, chunk := range []int{0, 16, 200} {
		formattest.Run(t, cases, func(c *formattest.Case) ([]*columnar.Batch, error) { return readCase(c, chunk) })
	}
}
