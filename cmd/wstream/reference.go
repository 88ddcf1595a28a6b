package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// command is a command as documentation, completion and the manual page see it.
type command struct {
	path        []string // "module", "new"
	args        string
	usage       string
	description string
	flags       []flagDoc
	subs        []string
}

// flagDoc is a flag of a command.
type flagDoc struct {
	names    []string
	value    string // what stands for its value, "" for a switch
	usage    string
	def      string
	required bool
}

// reference is every command in the order of the documentation, a group before its members.
func reference() []command {
	var out []command
	var add func(path []string, c *cli.Command)
	add = func(path []string, c *cli.Command) {
		path = append(path[:len(path):len(path)], c.Name)
		d := command{path: path, args: c.ArgsUsage, usage: c.Usage, description: c.Description, flags: flagDocs(c.Flags)}
		for _, s := range c.Subcommands {
			d.subs = append(d.subs, s.Name)
		}
		out = append(out, d)
		for _, s := range c.Subcommands {
			add(path, s)
		}
	}
	for _, c := range (&program{}).commands() {
		add(nil, c)
	}
	return out
}

// globalFlags are the flags that stand everywhere.
func globalFlags() []flagDoc {
	var c cli.Command
	(&program{}).globals(&c)
	return flagDocs(c.Flags)
}

func flagDocs(flags []cli.Flag) []flagDoc {
	var out []flagDoc
	for _, f := range flags {
		d := flagDoc{names: f.Names()}
		if g, ok := f.(cli.DocGenerationFlag); ok {
			d.usage = g.GetUsage()
			if g.TakesValue() {
				d.value = "VALUE"
				if _, after, ok := strings.Cut(d.usage, "`"); ok {
					d.value, _, _ = strings.Cut(after, "`")
				}
				if d.def = g.GetDefaultText(); d.def == "" {
					d.def = g.GetValue()
				}
				d.def = strings.Trim(d.def, `"`)
			}
		}
		switch f := f.(type) {
		case *cli.Int64Flag: // -1 and 0 stand for "not given" in these
			d.def = ""
			d.required = f.Required
		case *cli.IntFlag:
			if f.Value == 0 && f.DefaultText == "" {
				d.def = ""
			}
		case *cli.StringSliceFlag:
			if f.Value == nil {
				d.def = ""
			}
		}
		d.usage = strings.ReplaceAll(d.usage, "`", "")
		out = append(out, d)
	}
	return out
}

// name is the command's path as one types it.
func (c command) name() string { return strings.Join(c.path, " ") }

// synopsis is how the command is called.
func (c command) synopsis() string {
	s := "wstream " + c.name()
	if len(c.subs) > 0 {
		return s + " " + strings.Join(c.subs, "|") + " …"
	}
	if len(c.flags) > 0 {
		s += " [flags]"
	}
	if c.args != "" {
		s += " " + c.args
	}
	return s
}

// syntax is the flag as one types it: "--json", "-q, --quiet", "--sink NAME".
func (f flagDoc) syntax() string {
	var names []string
	for _, n := range f.names {
		names = append(names, dashed(n))
	}
	s := strings.Join(names, ", ")
	if f.value != "" {
		s += " " + f.value
	}
	return s
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
