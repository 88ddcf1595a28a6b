package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves flags before the arguments of a command, so that both may be written in any order. Behind `--`
// everything stays where it is. Of a command that takes SQL, a word with a blank in it is text, even where it begins with
// a comment.
func flagsFirst(app *cli.App, args []string) []string {
	args = globalsBehind(app, args)
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
	if command == nil || len(command.Subcommands) > 0 || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	var flags, rest []string
	for i := at; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return slices.Concat(args[:at], flags, []string{"--"}, rest, args[i+1:])
		case !strings.HasPrefix(a, "-") || a == "-" || command.Name == "sql" && strings.ContainsAny(a, " \t\n"):
			rest = append(rest, a)
		default:
			flags = append(flags, a)
			if takesValue(command, a) {
				if i+1 == len(args) {
					return slices.Concat(args[:at], flags) // the value is what is missing, not what stands in front
				}
				i++
				flags = append(flags, args[i])
			}
		}
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0], "--") {
		flags = append(flags, "--")
	}
	return slices.Concat(args[:at], flags, rest)
}

// globalsBehind moves the flags that every command has from in front of the command to behind it.
func globalsBehind(app *cli.App, args []string) []string {
	at := 1
	for at < len(args) && slices.Contains([]string{"--json", "-json", "--quiet", "-quiet", "-q", "--no-color", "-no-color"}, args[at]) {
		at++
	}
	commands, end := app.Commands, at
	for end < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[end]) })
		if i < 0 {
			break
		}
		commands, end = commands[i].Subcommands, end+1
	}
	if at == 1 || end == at {
		return args
	}
	return slices.Concat(args[:1], args[at:end], args[1:at], args[end:])
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
