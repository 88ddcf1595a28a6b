package files

import (
	"io"

	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/internal/vfs"
)

// eachChunk gives the chunks of files to f, until it returns io.EOF.
func eachChunk(fsys vfs.FS, files []file, cut lines.Options, f func(data []byte, first bool) error) error {
	for _, file := range files {
		if err := chunksOf(fsys, file.Path, cut, f); err == io.EOF {
			return nil
		} else if err != nil {
			return lines.FileError(file.Path, err)
		}
	}
	return nil
}

func chunksOf(fsys vfs.FS, path string, cut lines.Options, f func(data []byte, first bool) error) error {
	in, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return err
	}
	cut.Codec = lines.CodecOf(path)
	r, err := lines.NewReader(io.NewSectionReader(in, 0, size), cut)
	if err != nil {
		return err
	}
	defer r.Close()
	var buf []byte
	for first := true; ; first = false {
		buf, err = r.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(buf, first); err != nil {
			return err
		}
	}
}
