package exec

import "sync"

// sequencer hands items on in the order of their morsels' numbers, one at a time, in the goroutine
// of whichever worker completes the order. What comes too early waits, up to limit items; then the
// workers wait.
type sequencer struct {
	mu    sync.Mutex
	moved sync.Cond
	next  int64              // the morsel whose items are handed on now
	early map[int64]*waiting // by morsel
	count int                // items in early
	limit int
	busy  bool // some worker is in take
	take  func(item any) error
	err   error
}

// waiting is what one morsel has given so far.
type waiting struct {
	items []any
	done  bool
}

func newSequencer(limit int, take func(any) error) *sequencer {
	s := &sequencer{early: map[int64]*waiting{}, limit: limit, take: take}
	s.moved.L = &s.mu
	return s
}

func (s *sequencer) of(seq int64) *waiting {
	w := s.early[seq]
	if w == nil {
		w = &waiting{}
		s.early[seq] = w
	}
	return w
}

// offer adds an item of morsel seq. It returns the error of any take before.
func (s *sequencer) offer(seq int64, item any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The worker that has the next morsel never waits unless another one is in take, so there is
	// always somebody to go on: queues are first in, first out, and every worker that waits here
	// holds a later morsel.
	for s.err == nil && s.count >= s.limit && (seq != s.next || s.busy) {
		s.moved.Wait()
	}
	if s.err != nil {
		return s.err
	}
	w := s.of(seq)
	w.items = append(w.items, item)
	s.count++
	s.drain()
	return s.err
}

// done says that morsel seq gives no more items.
func (s *sequencer) done(seq int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(seq).done = true
	s.drain()
	return s.err
}

// fail wakes everybody up with an error.
func (s *sequencer) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.moved.Broadcast()
	s.mu.Unlock()
}

// drain hands on what is in order, unless another worker does. The mutex is held, except in take.
func (s *sequencer) drain() {
	if s.busy {
		return
	}
	s.busy = true
	for s.err == nil {
		w := s.early[s.next]
		if w == nil {
			break
		}
		if len(w.items) == 0 {
			if !w.done {
				break
			}
			delete(s.early, s.next)
			s.next++
			s.moved.Broadcast()
			continue
		}
		item := w.items[0]
		w.items = w.items[1:]
		s.count--
		s.moved.Broadcast()
		s.mu.Unlock()
		err := safely(func() error { return s.take(item) })
		s.mu.Lock()
		if err != nil && s.err == nil {
			s.err = err
		}
	}
	s.busy = false
	s.moved.Broadcast()
}
