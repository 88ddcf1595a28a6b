package main

import (
	"errors"
	"io/fs"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wstream/wstream/checkpoint"
)

// ofEnvironment tells whether an error is one of the environment: something that is not there, not reachable, not
// permitted or in use, and would work elsewhere or later with the same pipeline.
func ofEnvironment(err error) bool {
	var locked *checkpoint.LockedError
	var fenced *checkpoint.FencedError
	var op *net.OpError
	var dns *net.DNSError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &locked), errors.As(err, &fenced), errors.As(err, &op), errors.As(err, &dns), errors.As(err, &connect):
		return true
	}
	for _, e := range []error{fs.ErrPermission, syscall.ECONNREFUSED, syscall.ENOSPC, syscall.EROFS, syscall.EADDRINUSE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
