package connector

import "fmt"

// UnavailableError says that a service outside of the process cannot be reached, or refuses to talk: a fault of the
// environment, not of the pipeline. The command line ends with its exit code for such faults.
type UnavailableError struct {
	Service string // what it is, e.g. "kafka"
	Address string // where it was looked for
	Err     error
}

// Error names the service and its address.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s at %s cannot be reached: %s", e.Service, e.Address, e.Err)
}

// Unwrap is the fault of the connection.
func (e *UnavailableError) Unwrap() error { return e.Err }
