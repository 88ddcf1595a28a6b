package lines

import "github.com/wstream/wstream/columnar/sparkerr"

// FileError says in which file reading failed, under Spark's name for it.
func FileError(path string, err error) error {
	return sparkerr.New("FAILED_READ_FILE.NO_HINT", "Encountered error while reading file %s.", path).WithCause(err)
}
