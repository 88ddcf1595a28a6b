package checkpoint

import (
	"errors"
	"fmt"
)

// ErrNotFound is wrapped when there is no checkpoint in the folder and Options.Create is not set.
var ErrNotFound = errors.New("there is no checkpoint")

// ErrNoEntry is wrapped when a batch has no entry in a log.
var ErrNoEntry = errors.New("no entry")

// MissingError says that a file which must be there is not. A checkpoint without its metadata is never given a new id: the
// output that it has already written belongs to the old one.
type MissingError struct {
	// File is the path of the file.
	File string
	// Reason says why it must be there.
	Reason string
}

// Error names the file.
func (e *MissingError) Error() string { return fmt.Sprintf("file %q is missing: %s", e.File, e.Reason) }

// DamagedError says that a file does not hold what was written to it.
type DamagedError struct {
	// File is the path of the file.
	File string
	// Reason says what does not fit.
	Reason string
}

// Error names the file.
func (e *DamagedError) Error() string { return fmt.Sprintf("file %q is damaged: %s", e.File, e.Reason) }

// VersionError says that a checkpoint was written by a newer version of the program. Nothing has been touched.
type VersionError struct {
	// File is the path of the file that says so.
	File string
	// Have is the version of the checkpoint, Can the newest that this program reads.
	Have, Can int
}

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("file %q has format version %d, this program reads up to version %d", e.File, e.Have, e.Can)
}

// LockedError says that another process owns the checkpoint.
type LockedError struct {
	// Dir is the checkpoint.
	Dir string
	// Owner is who has it; its zero value if that could not be read.
	Owner Owner
}

// Error names the other process.
func (e *LockedError) Error() string {
	return fmt.Sprintf("checkpoint %q is in use by %s", e.Dir, e.Owner)
}

// FencedError says that another process has taken the checkpoint over since it was opened. Nothing more may be written.
type FencedError struct {
	// Dir is the checkpoint.
	Dir string
	// Owner is who has it now.
	Owner Owner
}

// Error names the other process.
func (e *FencedError) Error() string {
	return fmt.Sprintf("checkpoint %q was taken over by %s", e.Dir, e.Owner)
}
