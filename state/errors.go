package state

import "fmt"

// VersionError says that a file was written by a newer version of the program.
type VersionError struct {
	// File is the path of the file.
	File string
	// Have is its format version, Can the newest that this program reads.
	Have, Can int
}

// Error names the file and both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("file %q has state format version %d, this program reads up to version %d", e.File, e.Have, e.Can)
}

// DamagedError says that the state on disk cannot be what was written to it, and that nothing older can stand in for it.
type DamagedError struct {
	// File is the path of the file, or of the folder if it cannot be said which file it is.
	File string
	// Reason says what does not fit.
	Reason string
}

// Error names the file.
func (e *DamagedError) Error() string { return fmt.Sprintf("file %q is damaged: %s", e.File, e.Reason) }
