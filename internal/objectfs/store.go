package objectfs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store is one bucket of an object store. Its methods may be called from several goroutines.
type Store interface {
	// Get returns the bytes of an object and its entity tag; fs.ErrNotExist if there is none.
	Get(ctx context.Context, key string) (data []byte, etag string, err error)
	// Put stores an object, and returns its entity tag; ErrPrecondition if the condition does not hold.
	Put(ctx context.Context, key string, data []byte, cond Condition) (etag string, err error)
	// Delete removes an object; it is no error if there is none.
	Delete(ctx context.Context, key string) error
	// List returns the objects whose keys begin with prefix, in order of key. With flat set, those that have a slash behind
	// the prefix are summed up: of each name up to the slash there is one Object with Dir set.
	List(ctx context.Context, prefix string, flat bool) ([]Object, error)
}

// Object describes an object, or the common beginning of several.
type Object struct {
	// Key is the key; it ends in a slash if Dir is set.
	Key  string
	Size int64
	// ETag is the entity tag, without quotes.
	ETag     string
	Modified time.Time
	Dir      bool
}

// Condition is what must hold for a Put. The zero value is no condition.
type Condition struct {
	// IfAbsent is If-None-Match: *, that there is no such object.
	IfAbsent bool
	// IfMatch is If-Match, that the object is there and has this entity tag.
	IfMatch string
}

// ErrPrecondition says that the condition of a Put does not hold.
var ErrPrecondition = errors.New("the condition of the PUT does not hold")

// TransientError is a fault that may be gone the next time: the store is overloaded, or did not answer. Whether a Put has
// happened is unknown.
type TransientError struct{ Err error }

// Error says what has happened.
func (e *TransientError) Error() string {
	return fmt.Sprintf("the object store does not serve: %v", e.Err)
}

// Unwrap returns the cause.
func (e *TransientError) Unwrap() error { return e.Err }
