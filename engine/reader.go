package engine

import (
	"fmt"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
)

// DataReader describes what is to be read. Its methods change it and return it.
type DataReader struct {
	s         *Session
	streaming bool
	format    string
	name      string
	schema    string
	hasSchema bool // Schema was called
	typed     *columnar.Schema
	options   map[string]string
	refresh   time.Duration
}

// Format is the name of the connector, e.g. "kafka".
func (r *DataReader) Format(format string) *DataReader { r.format = format; return r }

// Name is the name of the source in checkpoints and progress events. A stream without one is called by its format and its
// number in the session.
func (r *DataReader) Name(name string) *DataReader { r.name = name; return r }

// Schema declares the columns as DDL, e.g. "url STRING, n BIGINT". Streams of files need it.
func (r *DataReader) Schema(ddl string) *DataReader {
	r.schema, r.hasSchema = ddl, true
	return r
}

// SchemaOf declares the columns.
func (r *DataReader) SchemaOf(s *columnar.Schema) *DataReader { r.typed = s; return r }

// Option sets an option of the connector. Names ignore case.
func (r *DataReader) Option(name, value string) *DataReader {
	if r.options == nil {
		r.options = map[string]string{}
	}
	r.options[name] = value
	return r
}

// Refresh has a streaming query read a bounded table again when it is older than d.
func (r *DataReader) Refresh(d time.Duration) *DataReader { r.refresh = d; return r }

// Options sets several options.
func (r *DataReader) Options(options map[string]string) *DataReader {
	for k, v := range options {
		r.Option(k, v)
	}
	return r
}

// Load is the data frame. A path is the option "path".
func (r *DataReader) Load(path ...string) *DataFrame {
	if len(path) == 1 {
		r.Option("path", path[0])
	} else if len(path) > 1 {
		return r.s.failed(fmt.Errorf("load takes one path, use a pattern for several files"))
	}
	df, err := r.load()
	if err != nil {
		return r.s.failed(err)
	}
	return df
}

// JSON reads files of JSON values, one a line unless options say otherwise.
func (r *DataReader) JSON(path string) *DataFrame { return r.Format("json").Load(path) }

// CSV reads comma-separated files.
func (r *DataReader) CSV(path string) *DataFrame { return r.Format("csv").Load(path) }

// Parquet reads Parquet files.
func (r *DataReader) Parquet(path string) *DataFrame { return r.Format("parquet").Load(path) }

// Text reads lines of text.
func (r *DataReader) Text(path string) *DataFrame { return r.Format("text").Load(path) }

func (r *DataReader) load() (*DataFrame, error) {
	spec, err := r.s.spec(r.format, true)
	if err != nil {
		return nil, err
	}
	rel := &relation{s: r.s, spec: spec, options: connector.NewOptions(r.options), streaming: r.streaming, name: r.name, refresh: r.refresh}
	if err := r.s.checkOptions(spec, rel.options); err != nil {
		return nil, err
	}
	if rel.declared = r.typed; r.hasSchema {
		if rel.declared, err = plan.SchemaOf(r.schema); err != nil {
			return nil, err
		}
	}
	r.s.mu.Lock()
	if rel.name == "" {
		rel.name = fmt.Sprintf("%s-%d", spec.Format, r.s.relations)
	}
	r.s.relations++
	r.s.mu.Unlock()
	if rel.schema, err = rel.findSchema(); err != nil {
		return nil, fmt.Errorf("source %q: %w", rel.name, err)
	}
	return r.s.frameOf("", rel.build), nil
}

// findSchema is the declared schema, the one that follows from the options, or what a bounded source says.
func (r *relation) findSchema() (*columnar.Schema, error) {
	if r.declared != nil && r.spec.NullableSchema {
		r.declared = r.declared.AsNullable()
		return r.declared, r.declared.CheckNames()
	}
	if r.declared != nil {
		return r.declared, nil
	}
	if r.spec.FixedSchema != nil {
		schema, err := r.spec.FixedSchema(r.options)
		if err != nil || schema != nil {
			return schema, err
		}
	}
	if r.streaming && r.spec.NeedsSchema {
		return nil, sparkerr.New("UNABLE_TO_INFER_SCHEMA", "schema must be specified when creating a streaming source of format %q; add Schema(\"name TYPE, …\")", r.spec.Format)
	}
	src, err := r.open(connector.Env{})
	if err != nil {
		return nil, err
	}
	schema := src.Schema()
	if err := src.Close(); err != nil {
		return nil, err
	}
	return schema, nil
}
