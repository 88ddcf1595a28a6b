// Package pipeline reads pipeline files and pipeline tests: YAML to logical plans, with every
// fault at its line and column, and runs them with the connectors and modules that they name.
package pipeline

import (
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Pos is a place in a file, 1-based.
type Pos struct{ Line, Col int }

// File is a pipeline file as written, with variables filled in.
type File struct {
	Path        string // as given; "" for a pipeline inside a test
	Dir         string // directory that relative paths start from
	Name        string
	Settings    Settings
	Modules     []*Module
	Connections []*Connection
	Sources     []*Source
	Views       []*View
	Sinks       []*Sink

	text   []byte
	faulty map[any]bool // modules, connections, sources, views and sinks in which a fault was found
}

// fault notes an element in which a fault was found: what comes of it is not a fault of its own.
func (f *File) fault(element any) {
	if f.faulty == nil {
		f.faulty = map[any]bool{}
	}
	f.faulty[element] = true
}

// Settings are the `settings:` of a file.
type Settings struct {
	Timezone          string
	ANSI              bool
	WatermarkPolicy   string // "min" or "max"
	ShufflePartitions int
	StateMemory       int64 // bytes
	KeepBatches       int
	Pos               Pos
}

// DefaultSettings are the settings of a file that says nothing.
func DefaultSettings() Settings {
	return Settings{Timezone: "UTC", ANSI: true, WatermarkPolicy: "min", ShufflePartitions: 2, StateMemory: 512 << 20, KeepBatches: 100}
}

// Module is an entry of `modules:`.
type Module struct {
	Name   string
	Path   string // relative to the file
	SHA256 string
	Config map[string]string
	Limits Limits
	Allow  []string // capabilities such as "sql:analytics"
	Pos    Pos
	allow  []Pos
}

// Limits bound a module's guests; zero means the default.
type Limits struct {
	MemoryBytes, OutputBytes, LogBytes, Fuel int64
	Deadline                                 time.Duration
}

// Connection is an entry of `connections:`.
type Connection struct {
	Name, Driver, DSN string
	Options           map[string]string
	Pos               Pos
}

// Source is an entry of `sources:`.
type Source struct {
	Name    string
	Format  string
	Schema  *columnar.Schema // nil if none was written
	Options map[string]string
	Static  bool
	Refresh time.Duration // of a static table; 0 for read once
	Rows    *rowsNode     // inline rows of a static source in a test
	Pos     Pos
	at      map[string]Pos // keys and options
}

// View is an entry of `views:`.
type View struct {
	Name    string
	SQL     *SQL
	From    string
	Steps   []Step
	OnError OnError
	Late    string // sink for late rows, or empty
	Pos     Pos
	FromPos Pos
	latePos Pos
}

// SQL is a query with the place of its text.
type SQL struct {
	Text string
	at   textPos
}

// Step is one step of a view; exactly one field besides Pos is set.
type Step struct {
	Parse, Filter, Map, State string // module.function
	Watermark                 *WatermarkStep
	DropDuplicates            []string
	Within                    bool // dropDuplicatesWithinWatermark
	dedup                     bool
	SQL                       *SQL
	Kind                      string // the key
	Pos                       Pos
}

// WatermarkStep declares a watermark.
type WatermarkStep struct {
	Column, Delay, Scope, Idle string
	pos                        map[string]Pos
}

// OnError says what becomes of rows that a guest refuses.
type OnError struct {
	Skip       bool
	DeadLetter string
	Pos        Pos
}

// Trigger is when batches run.
type Trigger struct {
	Kind     string // "", "processingTime", "once", "availableNow" or "continuous"
	Interval time.Duration
}

// Sink is an entry of `sinks:`: a streaming query, or a target of late rows and dead letters.
type Sink struct {
	Name       string
	From       string // empty for a side sink
	Format     string
	Foreach    string // module.function
	Options    map[string]string
	Mode       connector.OutputMode
	Trigger    Trigger
	Checkpoint string
	Pos        Pos
	at         map[string]Pos
}

// pos is the place of a key of a sink, or of the sink.
func (s *Sink) pos(key string) Pos {
	if p, ok := s.at[key]; ok {
		return p
	}
	return s.Pos
}

func (s *Source) pos(key string) Pos {
	if p, ok := s.at[key]; ok {
		return p
	}
	return s.Pos
}

// Source finds a source by name, or gives nil.
func (f *File) Source(name string) *Source {
	for _, s := range f.Sources {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// View finds a view by name, or gives nil.
func (f *File) View(name string) *View {
	for _, v := range f.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Sink finds a sink by name, or gives nil.
func (f *File) Sink(name string) *Sink {
	for _, s := range f.Sinks {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Module finds a module by name, or gives nil.
func (f *File) Module(name string) *Module {
	for _, m := range f.Modules {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Queries are the sinks that are streaming queries, in the order of the file.
func (f *File) Queries() []*Sink {
	var out []*Sink
	for _, s := range f.Sinks {
		if s.From != "" {
			out = append(out, s)
		}
	}
	return out
}
