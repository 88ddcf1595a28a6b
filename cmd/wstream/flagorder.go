package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves flags before the arguments of a command, so that both may be written in any order. Behind `--`, and
// behind the first argument of a command that takes free text, everything stays where it is.
func flagsFirst(app *cli.App, args []string) []string {
	commands, at := app.Commands, 1
	var command *cli.Command
	for at < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) })
		if i < 0 {
			break
		}
		command, at = commands[i], at+1
		commands = command.Subcommands
	}
	if command == nil || len(command.Subcommands) > 0 || command.Name == "sql" || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	var flags, rest []string
	for i := at; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return slices.Concat(args[:at], flags, []string{"--"}, rest, args[i+1:])
		case !strings.HasPrefix(a, "-") || a == "-":
			rest = append(rest, a)
		default:
			flags = append(flags, a)
			if takesValue(command, a) && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		}
	}
	return slices.Concat(args[:at], flags, rest)
}

// takesValue tells whether the word behind a flag belongs to it.
func takesValue(c *cli.Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}
