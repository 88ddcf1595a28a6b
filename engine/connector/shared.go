package connector

import "sync"

// Shared keeps what the connectors of one process have in common, such as the one writer of a database file. The zero
// value is empty; it may be used by many goroutines.
type Shared struct {
	mu sync.Mutex
	m  map[string]any
}

// Get returns what was made under key, and makes it first if nothing was. A nil Shared makes it anew each time.
func (s *Shared) Get(key string, make func() any) any {
	if s == nil {
		return make()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.m[key]; ok {
		return v
	}
	if s.m == nil {
		s.m = map[string]any{}
	}
	v := make()
	s.m[key] = v
	return v
}
