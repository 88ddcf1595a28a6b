package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/wstream/wstream/engine/stream"
)

// StreamingQuery is a running streaming query: ID, RunID, Name, Status, LastProgress, RecentProgress, IsActive, Stop,
// AwaitTermination, Exception and ProcessAllAvailable.
type StreamingQuery = stream.Query

// StreamingQueryManager knows the streaming queries of a session.
type StreamingQueryManager struct {
	mu      sync.Mutex
	queries []*StreamingQuery // that run, or have ended since the last ResetTerminated
	changed chan struct{}     // closed when a query ends
	all     []stream.Listener
}

// Active are the queries that run.
func (m *StreamingQueryManager) Active() []*StreamingQuery {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.queries), func(q *StreamingQuery) bool { return !q.IsActive() })
}

// Get is a running query by its id, or nil.
func (m *StreamingQueryManager) Get(id string) *StreamingQuery {
	for _, q := range m.Active() {
		if q.ID() == id {
			return q
		}
	}
	return nil
}

// AddListener has all queries that start from now on tell a listener of their events.
func (m *StreamingQueryManager) AddListener(l stream.Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, l)
}

func (m *StreamingQueryManager) listeners() []stream.Listener {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// start starts a query and remembers it.
func (m *StreamingQueryManager) start(ctx context.Context, spec stream.Spec) (*StreamingQuery, error) {
	q, err := stream.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.queries = append(m.queries, q)
	m.mu.Unlock()
	go func() {
		<-q.Done()
		m.mu.Lock()
		defer m.mu.Unlock()
		close(m.changed)
		m.changed = make(chan struct{})
	}()
	return q, nil
}

// AwaitAnyTermination waits until a query has ended, at once if one has since the start or since ResetTerminated. It returns
// what a query has failed with, before those that ended well.
func (m *StreamingQueryManager) AwaitAnyTermination(ctx context.Context) error {
	for {
		m.mu.Lock()
		queries, changed := slices.Clone(m.queries), m.changed
		m.mu.Unlock()
		ended := false
		for _, q := range queries {
			if q.IsActive() {
				continue
			}
			if err := q.Exception(); err != nil {
				return err
			}
			ended = true
		}
		if ended {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ResetTerminated forgets the queries that have ended.
func (m *StreamingQueryManager) ResetTerminated() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queries = slices.DeleteFunc(m.queries, func(q *StreamingQuery) bool { return !q.IsActive() })
}

// StopAll stops all queries and waits for them. It returns the first fault.
func (m *StreamingQueryManager) StopAll(ctx context.Context) error {
	var first error
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, q := range m.Active() {
		wg.Go(func() {
			if err := q.Stop(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	wg.Wait()
	return first
}
