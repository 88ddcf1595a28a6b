package main

import (
	"errors"
	"io/fs"
	"net"
	"syscall"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/connect/sqldb"
)

// ofEnvironment tells whether an error is one of the environment: something that is not there, not reachable, not
// permitted or in use, and would work elsewhere or later with the same pipeline.
func ofEnvironment(err error) bool {
	var locked *checkpoint.LockedError
	var fenced *checkpoint.FencedError
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &locked), errors.As(err, &fenced), errors.As(err, &op), errors.As(err, &dns), sqldb.ConnectFailed(err):
		return true
	}
	for _, e := range []error{fs.ErrPermission, syscall.ECONNREFUSED, syscall.ENOSPC, syscall.EROFS, syscall.EADDRINUSE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// remedy says what can be done about a fault of the environment; "" for other errors.
func remedy(err error) string {
	var locked *checkpoint.LockedError
	var fenced *checkpoint.FencedError
	switch {
	case !ofEnvironment(err):
		return ""
	case errors.As(err, &locked), errors.As(err, &fenced):
		return "stop that process, or give the query another checkpointLocation"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "give this user the right to it, or use another path"
	case errors.Is(err, syscall.ENOSPC):
		return "make room and start again: the query goes on where it was"
	case errors.Is(err, syscall.EADDRINUSE):
		return "end what uses the port, or choose another one"
	}
	return "start the server, or correct its address; `wstream doctor FILE` looks at all that a pipeline needs"
}
