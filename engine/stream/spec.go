package stream

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Spec is a streaming query that is to be started.
type Spec struct {
	// Name is the query's name in errors and progress events; it may be empty.
	Name string
	// Plan is the optimised plan, checked by plan.CheckStreaming and numbered by plan.Number.
	Plan plan.Node
	// Mode is the output mode; empty is append.
	Mode connector.OutputMode
	// Trigger says when batches run; the zero value is as soon as there is data.
	Trigger Trigger
	// Sources are the relations of the plan by name, streaming and static.
	Sources map[string]Source
	// Sink takes the result.
	Sink Sink
	// SideSinks take late rows and dead letters, by the names that the plan uses.
	SideSinks map[string]Sink
	// Checkpoint is the folder of the checkpoint; empty is a temporary one, in memory.
	Checkpoint string
	// CheckpointFS is the file system of the checkpoint; nil is FS.
	CheckpointFS vfs.FS
	// FS is the file system of sources and sinks; nil is the real one.
	FS vfs.FS
	// Settings are the session's.
	Settings Settings
	// Clock is where time comes from; nil is the system's.
	Clock Clock
	// Listeners are called with the events of the query, by one goroutine at a time.
	Listeners []Listener
	// Failpoints are the crash points of tests; nil has none.
	Failpoints *failpoint.Set
	// Warnings are what the planner has to say about the query; they are reported at the start.
	Warnings []string
	// StopTimeout is how long Stop waits for the running batch before it gives the batch up; 0 is 30 s.
	StopTimeout time.Duration
	// BatchGate, if set, is called before each batch is planned, with its id. It may wait; an error ends the query. A pipeline
	// that reloads its modules does so here.
	BatchGate func(batch int64) error

	// Simulation makes the query do one thing after the other, in an order that is given; nil in earnest.
	Simulation *Simulation

	compile     compileFunc   // for tests of the loop alone
	overlapFrom time.Duration // for tests; 0 is the constant
}

// newRunID is the id of a new run.
func (s *Spec) newRunID() string {
	if s.Simulation != nil {
		return s.Simulation.Process.RunID
	}
	return uuid.NewString()
}

// Source is a relation that the plan reads.
type Source struct {
	// Kind is what the source is, e.g. "kafka": it may not change over a restart.
	Kind string
	// Static relations are read as bounded tables.
	Static bool
	// Refresh is the age at which a static relation is read again; 0 is never.
	Refresh time.Duration
	// Open makes the source. Query id, log, clock, file system, zone and crash points of env are set already.
	Open func(env connector.Env) (connector.Source, error)
}

// Sink is a place for rows.
type Sink struct {
	// Kind is what the sink is, e.g. "parquet".
	Kind string
	// Open makes the sink; env is as for a source, and has the schema of the rows, for side sinks nil.
	Open func(env connector.Env) (connector.Sink, error)
}

// WatermarkPolicy says which of several watermarks counts.
type WatermarkPolicy string

// The policies.
const (
	MinWatermark WatermarkPolicy = "min"
	MaxWatermark WatermarkPolicy = "max"
)

// Settings are the settings of a session that a streaming query depends on.
type Settings struct {
	// Zone is the session time zone; nil is UTC.
	Zone *time.Location
	// ANSI makes overflow and bad casts errors.
	ANSI bool
	// WatermarkPolicy is min unless set.
	WatermarkPolicy WatermarkPolicy
	// ShufflePartitions is the number of tasks of stateful operators; 0 is 2.
	ShufflePartitions int
	// OrderPartitions is the number of tasks by which the order of rows goes where that shows; 0 is ShufflePartitions. It is for
	// runs that must give the same rows whatever ShufflePartitions is.
	OrderPartitions int
	// StateMemory is how many bytes of state may stay in memory; 0 is no limit.
	StateMemory int64
	// KeepBatches is how many batches the checkpoint can be rolled back; 0 is 100.
	KeepBatches int
	// Workers is the number of goroutines that a batch runs in; 0 is one per processor.
	Workers int
}

// Validate fills in defaults and refuses what makes no sense.
func (s *Settings) Validate() error {
	if s.Zone == nil {
		s.Zone = time.UTC
	}
	if s.WatermarkPolicy == "" {
		s.WatermarkPolicy = MinWatermark
	}
	if s.WatermarkPolicy != MinWatermark && s.WatermarkPolicy != MaxWatermark {
		return fmt.Errorf("watermark policy must be min or max, not %q", s.WatermarkPolicy)
	}
	if s.ShufflePartitions < 0 || s.StateMemory < 0 || s.KeepBatches < 0 || s.Workers < 0 {
		return errors.New("shuffle partitions, state memory, batches to keep and workers must not be negative")
	}
	if s.ShufflePartitions == 0 {
		s.ShufflePartitions = 2
	}
	if s.KeepBatches == 0 {
		s.KeepBatches = 100
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

// Validate fills in defaults and refuses what makes no sense.
func (s *Spec) Validate() error {
	if s.Plan == nil && s.compile == nil {
		return errors.New("there is no plan")
	}
	if s.Sink.Open == nil {
		return errors.New("there is no sink")
	}
	if s.Mode == "" {
		s.Mode = connector.Append
	}
	if s.Mode != connector.Append && s.Mode != connector.Update && s.Mode != connector.Complete {
		return fmt.Errorf("output mode must be append, update or complete, not %q", s.Mode)
	}
	if err := s.Trigger.Validate(); err != nil {
		return err
	}
	if err := s.Settings.Validate(); err != nil {
		return err
	}
	if s.FS == nil {
		s.FS = vfs.OS()
	}
	if s.CheckpointFS == nil {
		s.CheckpointFS = s.FS
	}
	if s.Checkpoint == "" {
		s.Checkpoint, s.CheckpointFS = "/checkpoint", temporaryFS()
	}
	if s.Clock == nil {
		s.Clock = SystemClock()
	}
	if s.StopTimeout == 0 {
		s.StopTimeout = 30 * time.Second
	}
	if s.overlapFrom == 0 {
		s.overlapFrom = overlapFrom
	}
	return nil
}
