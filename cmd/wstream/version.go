package main

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// release is the version that a release build sets with -ldflags "-X main.release=…".
var release = ""

// version is the release, or what the build knows of itself.
func version() string {
	if release != "" {
		return release
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{Name: "version", Usage: "print the version", Action: func(*cli.Context) error {
		v := map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "checkpointFormat": "1", "abi": "1"}
		p.succeed("version", "wstream "+v["version"]+" "+v["go"]+" "+v["platform"], v)
		return nil
	}}
}
