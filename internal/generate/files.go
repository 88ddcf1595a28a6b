package generate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Files writes a kind's rows into files part-000.json, part-001.json … of a folder, which is made if it is not there. Rows
// are spread evenly, in order, and the files' modification times rise with their names, since a file source takes files by
// modification time. Several files are written at the same time; which never changes a byte of them.
type Files struct {
	// Dir is the folder.
	Dir string
	// Rows is the number of rows of all files together.
	Rows int
	// Files is the number of files.
	Files int
	// Seed and Keys are as in Part.
	Seed uint64
	Keys int
}

// Write makes the files. An error of one, or the end of ctx, stops all; files that are whole by then stay.
func (f Files) Write(ctx context.Context, kind Kind) error {
	if f.Rows < 0 || f.Files < 1 {
		return fmt.Errorf("generate %s: %d rows in %d files", kind.Name, f.Rows, f.Files)
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int)
	errs := make([]error, f.Files)
	var workers sync.WaitGroup
	for range min(f.Files, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				if errs[i] = f.write(ctx, kind, i); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := range f.Files {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// write makes the file of number i.
func (f Files) write(ctx context.Context, kind Kind, i int) (err error) {
	per := (f.Rows + f.Files - 1) / f.Files
	first, end := min(f.Rows, i*per), min(f.Rows, (i+1)*per)
	name := filepath.Join(f.Dir, fmt.Sprintf("part-%03d.json", i))
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err == nil {
			at := time.UnixMilli(startMs()).Add(time.Duration(i) * time.Second)
			err = os.Chtimes(name, at, at)
		}
	}()
	out := bufio.NewWriterSize(file, 1<<20)
	rows := kind.Rows(Part{Seed: f.Seed, Total: f.Rows, First: first, Keys: f.Keys})
	line := make([]byte, 0, 1024)
	for n := first; n < end; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line = append(rows.Append(line[:0]), '\n')
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return out.Flush()
}
