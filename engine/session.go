package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/engine/udf"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Options are the settings of a session. The zero value is usable.
type Options struct {
	// Timezone is the session time zone, an IANA name; empty is UTC.
	Timezone string
	// NoANSI makes overflow wrap and bad casts null instead of errors, as Spark does with ANSI mode off.
	NoANSI bool
	// WatermarkPolicy is min or max over several watermarked inputs; empty is min.
	WatermarkPolicy stream.WatermarkPolicy
	// ShufflePartitions is the number of tasks of stateful operators; 0 is 2.
	ShufflePartitions int
	// StateMemory is how many bytes of state may stay in memory; 0 is no limit.
	StateMemory int64
	// KeepBatches is how many batches a checkpoint can be rolled back; 0 is 100.
	KeepBatches int
	// Workers is the number of goroutines that a query runs in; 0 is one per processor.
	Workers int
	// BaseDir is the folder that relative paths start from; empty is the working directory.
	BaseDir string
	// FS is the file system; nil is the real one.
	FS vfs.FS
	// Clock is where time comes from; nil is the system's.
	Clock stream.Clock
	// Registry holds the functions of SQL; nil are all built-in ones.
	Registry *expr.Registry
	// Connections are what connectors find by name.
	Connections []connector.Connection
	// Warn is told of what the user should know; nil drops it.
	Warn func(text string)
	// Failpoints are the crash points of tests; nil has none.
	Failpoints *failpoint.Set
}

// Session holds what queries share: connectors, functions, modules, views and settings. It may be used from several
// goroutines.
type Session struct {
	specs    []*connector.Spec
	opts     Options
	registry *expr.Registry
	streams  *StreamingQueryManager

	mu        sync.Mutex
	zone      *time.Location
	ansi      bool
	views     map[string]*DataFrame // by name in lower case
	modules   map[string]udf.Module
	relations int
}

// NewSession makes a session with the given connectors.
func NewSession(connectors []*connector.Spec, opts Options) (*Session, error) {
	if opts.FS == nil {
		opts.FS = vfs.OS()
	}
	if opts.Clock == nil {
		opts.Clock = stream.SystemClock()
	}
	if opts.Registry == nil {
		opts.Registry = expr.NewRegistry(expr.Builtins())
	}
	s := &Session{
		specs: connectors, opts: opts, registry: opts.Registry, zone: time.UTC, ansi: !opts.NoANSI,
		views: map[string]*DataFrame{}, modules: map[string]udf.Module{},
	}
	if opts.Timezone != "" {
		if err := s.Set("timezone", opts.Timezone); err != nil {
			return nil, err
		}
	}
	settings := s.streamSettings()
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	s.streams = &StreamingQueryManager{}
	s.streams.changed = make(chan struct{})
	return s, nil
}

// Streams manages the session's streaming queries.
func (s *Session) Streams() *StreamingQueryManager { return s.streams }

// Set changes a setting: timezone or ansi, also by Spark's names for them. Queries that were started keep the old one.
func (s *Session) Set(key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := batch.Session{Settings: plan.Settings{ANSI: s.ansi, Zone: s.zone}}
	if err := b.Set(key, value); err != nil {
		return err
	}
	s.ansi, s.zone = b.Settings.ANSI, b.Settings.Zone
	return nil
}

func (s *Session) settings() plan.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return plan.Settings{ANSI: s.ansi, Zone: s.zone, Now: s.opts.Clock.Now}
}

func (s *Session) streamSettings() stream.Settings {
	set := s.settings()
	return stream.Settings{
		Zone: set.Zone, ANSI: set.ANSI, WatermarkPolicy: s.opts.WatermarkPolicy, ShufflePartitions: s.opts.ShufflePartitions,
		StateMemory: s.opts.StateMemory, KeepBatches: s.opts.KeepBatches, Workers: s.opts.Workers,
	}
}

// RegisterModule makes the functions of a module callable: those of kind scalar and aggregate in SQL as module.function,
// the others by DataFrame.Apply.
func (s *Session) RegisterModule(m udf.Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modules[m.Name()] = m
}

// SQL is the data frame of a query. Other statements run at once: CREATE TEMPORARY VIEW, SET, and DESCRIBE, whose result
// is a bounded data frame.
func (s *Session) SQL(text string) *DataFrame {
	st, err := sql.ParseStatement(batch.WithoutVariables(text))
	if err != nil {
		return s.failed(err)
	}
	switch st := st.(type) {
	case *sql.QueryStatement:
		return s.frame(st.Query).checked()
	case *sql.CreateView:
		return s.createView(st)
	case *sql.SetOption:
		if st.HasValue {
			err = s.Set(st.Key, st.Value)
		}
		if err != nil {
			return s.failed(err)
		}
		return s.local(columnar.NewSchema())
	case *sql.Describe:
		res, err := s.batch().Run(context.Background(), text)
		if err != nil {
			return s.failed(err)
		}
		return s.local(res.Schema, res.Batches...)
	}
	return s.failed(sparkerr.New("UNSUPPORTED_FEATURE", "this statement is not supported; known are queries, CREATE TEMPORARY VIEW, SET and DESCRIBE"))
}

func (s *Session) createView(v *sql.CreateView) *DataFrame {
	name := v.Name[len(v.Name)-1].Name
	if s.Table(name).err == nil && !v.Replace {
		if v.IfNotExists {
			return s.local(columnar.NewSchema())
		}
		return s.failed(sparkerr.New("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "cannot create the temporary view `%s` because it already exists; use CREATE OR REPLACE", name))
	}
	df := s.frame(v.Query)
	if len(v.Columns) > 0 {
		df = df.ToDF(sql.Names(v.Columns)...)
	}
	if err := df.CreateOrReplaceTempView(name); err != nil {
		return s.failed(err)
	}
	return s.local(columnar.NewSchema())
}

// Table is the data frame of a view.
func (s *Session) Table(name string) *DataFrame {
	parts, err := sql.ParseName(name)
	if err != nil {
		return s.failed(err)
	}
	return s.frame(&sql.TableQuery{Table: &sql.Table{Name: parts}}).checked()
}

// DropTempView forgets a view and says whether there was one.
func (s *Session) DropTempView(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(name)
	_, ok := s.views[key]
	delete(s.views, key)
	return ok
}

// CreateDataFrame is a bounded data frame of rows in memory, which must have the schema.
func (s *Session) CreateDataFrame(schema *columnar.Schema, rows ...*columnar.Batch) *DataFrame {
	return s.local(schema, rows...)
}

// local is a data frame of rows in memory.
func (s *Session) local(schema *columnar.Schema, rows ...*columnar.Batch) *DataFrame {
	all := columnar.EmptyBatch(schema)
	if len(rows) > 0 {
		all = columnar.ConcatBatches(rows)
	}
	return s.frameOf("", func(a *plan.Analyzer) (plan.Node, error) {
		return &plan.Local{Attrs: a.Attrs(schema, ""), Data: all}, nil
	})
}

// Range is the numbers from start up to but without end as a column "id".
func (s *Session) Range(start, end, step int64) *DataFrame {
	return s.SQL(fmt.Sprintf("SELECT * FROM range(%d, %d, %d)", start, end, step))
}

// Read begins to read a bounded table.
func (s *Session) Read() *DataReader { return &DataReader{s: s} }

// ReadStream begins to read a stream.
func (s *Session) ReadStream() *DataReader { return &DataReader{s: s, streaming: true} }

// batch runs bounded queries with the session's relations.
func (s *Session) batch() *batch.Session {
	return &batch.Session{Registry: s.registry, Settings: s.settings(), Catalog: &catalog{s: s}, Workers: s.opts.Workers}
}

// analyzer is for one query.
func (s *Session) analyzer(c *catalog) *plan.Analyzer {
	return plan.NewAnalyzer(c, s.settings(), s.registry)
}

// spec finds a connector.
func (s *Session) spec(format string, source bool) (*connector.Spec, error) {
	var names []string
	for _, c := range s.specs {
		if source && c.NewSource == nil || !source && c.NewSink == nil {
			continue
		}
		if strings.EqualFold(c.Format, format) {
			return c, nil
		}
		names = append(names, c.Format)
	}
	kind := "sink"
	if source {
		kind = "source"
	}
	slices.Sort(names)
	e := sparkerr.New("DATA_SOURCE_NOT_FOUND", "there is no %s of format %q; known are: %s", kind, format, strings.Join(names, ", "))
	if near := plan.Nearest(format, names, 1); len(near) > 0 {
		e.WithSuggestion(near[0])
	}
	return nil, e
}

// checkOptions refuses options that a connector does not know, or warns of them if it is lenient.
func (s *Session) checkOptions(c *connector.Spec, o connector.Options) error {
	var known []string
	for _, k := range c.Options {
		known = append(known, k.Name)
		if _, ok := o.Get(k.Name); !ok && k.Required {
			return fmt.Errorf("format %q needs the option %q: %s", c.Format, k.Name, k.Doc)
		}
	}
	var errs []error
	for _, name := range o.Names() {
		ok := slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) ||
			slices.ContainsFunc(c.Prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(p)) })
		if ok {
			continue
		}
		text := fmt.Sprintf("format %q has no option %q", c.Format, name)
		if near := plan.Nearest(name, known, 1); len(near) > 0 {
			text += fmt.Sprintf("; did you mean %q?", near[0])
		}
		if c.LenientOptions {
			s.warn(text)
		} else {
			errs = append(errs, errors.New(text))
		}
	}
	return errors.Join(errs...)
}

func (s *Session) warn(text string) {
	if s.opts.Warn != nil {
		s.opts.Warn(text)
	}
}

// env completes what a connector gets with what the session knows.
func (s *Session) env(env connector.Env, schema *columnar.Schema) connector.Env {
	set := s.settings()
	env.BaseDir, env.FS = s.opts.BaseDir, s.opts.FS
	if schema != nil {
		env.Schema = schema
	}
	if env.Zone == nil {
		env.Zone, env.ANSI = set.Zone, set.ANSI
	}
	if env.Now == nil {
		env.Now = s.opts.Clock.Now
	}
	if env.Warn == nil {
		env.Warn = func(format string, args ...any) { s.warn(fmt.Sprintf(format, args...)) }
	}
	if env.Failpoints == nil {
		env.Failpoints = s.opts.Failpoints
	}
	env.Connection = func(name string) (connector.Connection, error) {
		for _, c := range s.opts.Connections {
			if c.Name == name {
				return c, nil
			}
		}
		return connector.Connection{}, fmt.Errorf("there is no connection %q", name)
	}
	return env
}
