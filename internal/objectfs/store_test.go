package objectfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/s3test"
	"github.com/wstream/wstream/internal/testservice"
	"github.com/wstream/wstream/internal/vfs"
)

// root is a place in a bucket that no other test uses.
func root(t *testing.T, bucket string) string {
	return fmt.Sprintf("s3://%s/objectfs-%d/%s", bucket, time.Now().UnixNano(), t.Name())
}

// eachStore runs a test over the store in memory, the small server, and a real one where there is one.
func eachStore(t *testing.T, test func(t *testing.T, fsys *objectfs.FS, dir string)) {
	t.Run("memory", func(t *testing.T) {
		m := objectfs.NewMemStore()
		test(t, objectfs.New(func(string) (objectfs.Store, error) { return m, nil }, objectfs.Options{}), root(t, "bucket"))
	})
	t.Run("server", func(t *testing.T) {
		s := s3test.Start(t, "bucket")
		test(t, objectfs.NewS3(s.Getenv, objectfs.Options{}), root(t, "bucket"))
	})
	t.Run("real", func(t *testing.T) {
		env := testservice.S3(t)
		getenv := func(name string) string { return s3test.Lookup(env, name) }
		fsys := objectfs.NewS3(getenv, objectfs.Options{})
		dir := root(t, testservice.S3Bucket)
		t.Cleanup(func() {
			if err := fsys.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		test(t, fsys, dir)
	})
}

// TestFiles does to files what a checkpoint does.
func TestFiles(t *testing.T) {
	eachStore(t, func(t *testing.T, fsys *objectfs.FS, dir string) {
		log := vfs.Join(dir, "log")
		if _, err := fsys.Stat(log); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		f, err := fsys.CreateNew(log)
		if err != nil {
			t.Fatal(err)
		}
		want := []byte{}
		for i := range 70 { // more than a page of the list
			piece := bytes.Repeat([]byte{byte(i)}, i+1)
			if _, err := f.WriteAt(piece, int64(len(want))); err != nil {
				t.Fatal(err)
			}
			want = append(want, piece...)
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := vfs.ReadFile(fsys, log); err != nil || !bytes.Equal(got, want) {
			t.Fatal(err, len(got), len(want))
		}
		g, err := fsys.CreateNew(log)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = g.Write([]byte("other"))
		if err := g.Sync(); !errors.Is(err, fs.ErrExist) {
			t.Fatal("a file that is there was made as a new one:", err)
		}
		sealed := vfs.Join(dir, "sealed")
		for _, text := range []string{"one", "two", ""} {
			if err := vfs.WriteFile(fsys, sealed, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if got, err := vfs.ReadFile(fsys, sealed); err != nil || string(got) != text {
				t.Fatal(err, string(got))
			}
		}
		if err := vfs.CreateFile(fsys, sealed+".x.tmp", sealed, []byte("three")); !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if err := vfs.CreateFile(fsys, sealed+".x.tmp", vfs.Join(dir, "sub", "new"), []byte("three")); err != nil {
			t.Fatal(err)
		}
		names := ""
		infos, err := fsys.List(dir)
		for _, i := range infos {
			names += fmt.Sprintf("%s %d %v, ", i.Name(), i.Size(), i.IsDir())
		}
		if want := fmt.Sprintf("log %d false, sealed 0 false, sub 0 true, ", len(want)); err != nil || names != want {
			t.Fatal(err, names)
		}
		if err := fsys.Remove(log); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Remove(log); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := fsys.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if infos, err := fsys.List(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(infos, err)
		}
	})
}

// TestConditions holds each store to what the FS builds upon.
func TestConditions(t *testing.T) {
	test := func(t *testing.T, s objectfs.Store) {
		ctx := t.Context()
		key := fmt.Sprintf("conditions-%d", time.Now().UnixNano())
		first, err := s.Put(ctx, key, []byte("1"), objectfs.Condition{IfAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(ctx, key, []byte("2"), objectfs.Condition{IfAbsent: true}); !errors.Is(err, objectfs.ErrPrecondition) {
			t.Fatal("If-None-Match:", err)
		}
		second, err := s.Put(ctx, key, []byte("2"), objectfs.Condition{IfMatch: first})
		if err != nil {
			t.Fatal("If-Match:", err)
		}
		if _, err := s.Put(ctx, key, []byte("3"), objectfs.Condition{IfMatch: first}); !errors.Is(err, objectfs.ErrPrecondition) {
			t.Fatal("If-Match of an older object:", err)
		}
		if got, etag, err := s.Get(ctx, key); err != nil || string(got) != "2" || etag != second {
			t.Fatal(string(got), etag, second, err)
		}
		if err := s.Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(ctx, key, []byte("3"), objectfs.Condition{IfMatch: second}); !errors.Is(err, objectfs.ErrPrecondition) {
			t.Fatal("If-Match of nothing:", err)
		}
		if _, _, err := s.Get(ctx, key); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := s.Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("memory", func(t *testing.T) { test(t, objectfs.NewMemStore()) })
	t.Run("server", func(t *testing.T) {
		test(t, openStore(t, "bucket", s3test.Start(t, "bucket").Env()))
	})
	t.Run("real", func(t *testing.T) { test(t, openStore(t, testservice.S3Bucket, testservice.S3(t))) })
}

func openStore(t *testing.T, bucket string, env []string) objectfs.Store {
	t.Helper()
	s, err := objectfs.OpenS3(bucket, func(name string) string { return s3test.Lookup(env, name) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaults is about answers that are lost, late or refusals.
func TestFaults(t *testing.T) {
	s := s3test.Start(t, "bucket")
	var slept int
	opts := objectfs.Options{Sleep: func(time.Duration) { slept++ }, Attempt: 300 * time.Millisecond, Patience: 2 * time.Second}
	fsys := objectfs.NewS3(s.Getenv, opts)
	n := 0
	// once makes the next PUT meet a fault.
	once := func(f s3test.Fault) {
		n = 0
		s.OnRequest(func(method, _ string) s3test.Fault {
			if n++; method == "PUT" && n == 1 {
				return f
			}
			return s3test.Fault{}
		})
	}
	for i, f := range []s3test.Fault{
		{Status: 500, Code: "InternalError"},
		{Status: 500, Code: "InternalError", Applied: true},
		{Status: 503, Code: "SlowDown"},
		{Status: 409, Code: "ConditionalRequestConflict"},
		{Cut: true},
		{Cut: true, Applied: true},
		{Delay: 500 * time.Millisecond},
		{Delay: 100 * time.Millisecond}, // slow, and no fault
	} {
		once(f)
		name := fmt.Sprintf("s3://bucket/f/new-%d", i)
		if err := vfs.CreateFile(fsys, name+".tmp", name, []byte{byte(i)}); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
		if got, err := vfs.ReadFile(fsys, name); err != nil || !bytes.Equal(got, []byte{byte(i)}) {
			t.Errorf("%+v: %q, %v", f, got, err)
		}
		once(f)
		if err := vfs.CreateFile(fsys, name+".tmp", name, []byte("another")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%+v: somebody else's object was taken for our own: %v", f, err)
		}
	}
	if slept == 0 {
		t.Error("nothing was repeated")
	}
	s.OnRequest(func(string, string) s3test.Fault { return s3test.Fault{Status: 503, Code: "SlowDown"} })
	err := vfs.WriteFile(fsys, "s3://bucket/f/never", []byte("x"))
	var transient *objectfs.TransientError
	if !errors.As(err, &transient) {
		t.Error("a store that never serves:", err)
	}
	s.OnRequest(func(string, string) s3test.Fault { return s3test.Fault{Status: 403, Code: "AccessDenied"} })
	if err := vfs.WriteFile(fsys, "s3://bucket/f/denied", nil); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	s.OnRequest(nil)
	if err := vfs.WriteFile(fsys, "s3://other/x", nil); err == nil || !bytes.Contains([]byte(err.Error()), []byte(`no bucket "other"`)) {
		t.Error(err)
	}
}

// TestLock is about two owners of one lock.
func TestLock(t *testing.T) {
	m := objectfs.NewMemStore()
	open := func(string) (objectfs.Store, error) { return m, nil }
	o := objectfs.Options{Lease: 400 * time.Millisecond}
	a, b := objectfs.New(open, o), objectfs.New(open, o)
	l, err := a.Lock("s3://bucket/lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Lock("s3://bucket/lock"); !errors.Is(err, vfs.ErrLocked) {
		t.Fatal("the lock of a live owner was taken:", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = b.Lock("s3://bucket/lock")
	if err != nil {
		t.Fatal("a lock that was given back:", err)
	}
	// The holder gets no answer for longer than a lease: as if it were stopped.
	m.OnRequest(func(op, _ string) objectfs.Fault {
		if op == "put" {
			return objectfs.Fault{Err: errors.New("gone")}
		}
		return objectfs.Fault{}
	})
	time.Sleep(200 * time.Millisecond)
	taken := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		m.OnRequest(func(op, _ string) objectfs.Fault { return objectfs.Fault{} })
		taken <- nil
	}()
	<-taken
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLockOfTheDead is about a holder that shows no sign of life.
func TestLockOfTheDead(t *testing.T) {
	m := objectfs.NewMemStore()
	open := func(string) (objectfs.Store, error) { return m, nil }
	for name, body := range map[string]string{
		"on another machine": `{"holder":"x","seq":1,"leaseMs":300,"machine":"other","pid":1}`,
		"of something else":  `junk`,
	} {
		if _, err := m.Put(context.Background(), "lock", []byte(body), objectfs.Condition{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l, err := objectfs.New(open, objectfs.Options{Lease: 300 * time.Millisecond}).Lock("s3://bucket/lock")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if took := time.Since(began); took < 300*time.Millisecond {
			t.Errorf("%s: the lock was taken after %v, before the lease was over", name, took)
		}
		_ = l.Close()
	}
}

// TestNoConditions refuses a store on which two processes could own one checkpoint.
func TestNoConditions(t *testing.T) {
	s := s3test.Start(t, "bucket")
	s.OnRequest(func(string, string) s3test.Fault { return s3test.Fault{NoConditions: true} })
	_, err := objectfs.NewS3(s.Getenv, objectfs.Options{}).Lock("s3://bucket/lock")
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("ignores If-None-Match")) {
		t.Fatal(err)
	}
	if keys := s.Bucket("bucket").Keys(); len(keys) != 0 {
		t.Fatal("left behind:", keys)
	}
}
