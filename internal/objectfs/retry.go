package objectfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Options are what an FS may be told.
type Options struct {
	// Lease is after how long without a sign of life the owner of a lock counts as dead; 0 is 10 s, negative is no lease: then
	// a lock belongs to this FS alone, for tests that are single processes.
	Lease time.Duration
	// Attempt is how long one request may take; 0 is 20 s.
	Attempt time.Duration
	// Patience is for how long a request is repeated while the store does not serve; 0 is a minute.
	Patience time.Duration
	// Pause is the wait before the first repetition; each further one is twice as long, up to 2 s. 0 is 50 ms.
	Pause time.Duration
	// Readers is how many objects of a file are fetched at a time; 0 is 16.
	Readers int
	// Sleep waits, Now is the clock; nil are the real ones. For tests.
	Sleep func(time.Duration)
	Now   func() time.Time
}

func (o *Options) fill() {
	if o.Lease == 0 {
		o.Lease = 10 * time.Second
	}
	if o.Attempt == 0 {
		o.Attempt = 20 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Pause == 0 {
		o.Pause = 50 * time.Millisecond
	}
	if o.Readers == 0 {
		o.Readers = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = time.Sleep
	}
}

// firstPatience is for how long a store is asked that has not answered yet.
const firstPatience = 5 * time.Second

// patient repeats a request while the store does not serve.
func (f *FS) patient(what, key string, fn func(ctx context.Context) error) error {
	pause, waited := f.o.Pause, time.Duration(0)
	for try := 1; ; try++ {
		began := f.o.Now()
		ctx, cancel := context.WithTimeout(context.Background(), f.o.Attempt)
		err := fn(ctx)
		cancel()
		if err == nil {
			f.reached.Store(true)
			return nil
		}
		var transient *TransientError
		if !errors.As(err, &transient) {
			return fmt.Errorf("%s object %q: %w", what, key, err)
		}
		waited += f.o.Now().Sub(began) + pause
		patience := f.o.Patience
		if !f.reached.Load() { // a store that has never answered is one that is not there
			patience = min(patience, firstPatience)
		}
		if waited > patience {
			return fmt.Errorf("%s object %q: given up after %d attempts: %w", what, key, try, err)
		}
		f.o.Sleep(pause)
		pause = min(2*pause, 2*time.Second)
	}
}

func (f *FS) get(s Store, key string) (data []byte, etag string, err error) {
	err = f.patient("get", key, func(ctx context.Context) (err error) {
		data, etag, err = s.Get(ctx, key)
		return err
	})
	return data, etag, err
}

func (f *FS) list(s Store, prefix string) (out []Object, err error) {
	err = f.patient("list", prefix, func(ctx context.Context) (err error) {
		out, err = s.List(ctx, prefix, true)
		return err
	})
	return out, err
}

func (f *FS) listAll(s Store, prefix string) (out []Object, err error) {
	err = f.patient("list", prefix, func(ctx context.Context) (err error) {
		out, err = s.List(ctx, prefix, false)
		return err
	})
	return out, err
}

func (f *FS) delete(s Store, key string) error {
	return f.patient("delete", key, func(ctx context.Context) error { return s.Delete(ctx, key) })
}

// put stores an object. When the condition does not hold because an earlier attempt of ours did go through, that is seen by
// the bytes, and no error.
func (f *FS) put(s Store, key string, data []byte, cond Condition) (etag string, err error) {
	err = f.patient("put", key, func(ctx context.Context) (err error) {
		etag, err = s.Put(ctx, key, data, cond)
		return err
	})
	if !errors.Is(err, ErrPrecondition) {
		return etag, err
	}
	there, tag, e := f.get(s, key)
	if e == nil && bytes.Equal(there, data) {
		return tag, nil
	}
	return "", err
}
