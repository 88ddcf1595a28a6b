package stream

import "time"

// Listener is told of what happens to a query. Functions that are nil are not called. They are called by one goroutine at
// a time and should return soon: the query waits for them. So they must not wait for the query themselves.
type Listener struct {
	Started    func(StartedEvent)
	Progress   func(Progress)
	Idle       func(IdleEvent)
	Warning    func(WarningEvent)
	Terminated func(TerminatedEvent)
}

// StartedEvent says that a query has started. It comes before Start returns.
type StartedEvent struct {
	ID    string
	RunID string
	Name  string
	Time  time.Time
	// Temporary says that the query has no checkpoint that lasts.
	Temporary bool
}

// IdleEvent says that a query has been waiting for data for some time. It comes every ten seconds.
type IdleEvent struct {
	ID    string
	RunID string
	Name  string
	Time  time.Time
}

// WarningEvent is something that the user should know.
type WarningEvent struct {
	ID    string
	RunID string
	Name  string
	// Batch is the batch in which it happened, -1 at the start.
	Batch int64
	Text  string
}

// TerminatedEvent says that a query has ended, with the fault if it failed.
type TerminatedEvent struct {
	ID    string
	RunID string
	Name  string
	Time  time.Time
	Err   error
}

// idleEvery is how often an idle query says so.
const idleEvery = 10 * time.Second
