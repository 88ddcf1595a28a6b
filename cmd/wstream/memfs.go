package main

import "github.com/wstream/wstream/internal/vfs"

// memFS is a file system that is gone with the process.
func memFS() vfs.FS { return vfs.NewStrictMem() }
