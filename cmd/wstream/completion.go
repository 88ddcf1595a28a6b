package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) completionCommand() *cli.Command {
	shell := func(name, how string, script func([]command) string) *cli.Command {
		return &cli.Command{Name: name, Usage: "print the completion of " + name, Description: "Use it with: " + how, Action: func(*cli.Context) error {
			fmt.Fprint(p.out, script(reference()))
			return nil
		}}
	}
	return &cli.Command{Name: "completion", Usage: "print a script that completes commands and flags in a shell", Subcommands: []*cli.Command{
		shell("bash", "source <(wstream completion bash)", bashCompletion),
		shell("zsh", "source <(wstream completion zsh)", zshCompletion),
		shell("fish", "wstream completion fish | source", fishCompletion),
		{Name: "man", Usage: "print the manual page", Description: "Read it with: wstream completion man | man -l -", Action: func(*cli.Context) error {
			fmt.Fprint(p.out, manPage(reference()))
			return nil
		}},
	}}
}

// words are what may follow a command: its subcommands, or its flags and those that stand everywhere.
func (c command) words() []string {
	if len(c.subs) > 0 {
		return c.subs
	}
	var out []string
	for _, f := range append(c.flags[:len(c.flags):len(c.flags)], globalFlags()...) {
		for _, n := range f.names {
			out = append(out, dashed(n))
		}
	}
	return out
}

// top are the names of the commands that are in no group.
func top(commands []command) []string {
	var out []string
	for _, c := range commands {
		if len(c.path) == 1 {
			out = append(out, c.path[0])
		}
	}
	return out
}

// shellCases are two case statements that bash and zsh share: one follows the words typed so far down the commands, the
// other gives the words that may come next.
func shellCases(commands []command) (path, next string) {
	var p, n strings.Builder
	fmt.Fprintf(&n, "    '') next='%s' ;;\n", strings.Join(top(commands), " "))
	for i, c := range commands {
		if i > 0 {
			p.WriteString("|")
		}
		fmt.Fprintf(&p, "'/%s'", strings.Join(c.path, "/"))
		fmt.Fprintf(&n, "    '/%s') next='%s' ;;\n", strings.Join(c.path, "/"), strings.Join(c.words(), " "))
	}
	return p.String(), n.String()
}

func bashCompletion(commands []command) string {
	path, next := shellCases(commands)
	return `_wstream() {
  local at='' next='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/${COMP_WORDS[i]}" in
    ` + path + `) at="$at/${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
` + next + `  esac
  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))
  if [[ -n $at && ${COMP_WORDS[COMP_CWORD]} != -* && $next == -* ]]; then COMPREPLY=(); fi
}
complete -o default -F _wstream wstream
`
}

func zshCompletion(commands []command) string {
	path, next := shellCases(commands)
	return `#compdef wstream
_wstream() {
  local at='' next='' i
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/${words[i]}" in
    ` + path + `) at="$at/${words[i]}" ;;
    esac
  done
  case "$at" in
` + next + `  esac
  if [[ -n $at && ${words[CURRENT]} != -* && $next == -* ]]; then _files; else compadd -- ${=next}; fi
}
compdef _wstream wstream
`
}

func fishCompletion(commands []command) string {
	var b strings.Builder
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, c := range commands {
		cond := "__fish_use_subcommand"
		if len(c.path) > 1 {
			group := c.path[:len(c.path)-1]
			cond = "__fish_seen_subcommand_from " + strings.Join(group, " ")
		}
		fmt.Fprintf(&b, "complete -c wstream -f -n %s -a %s -d %s\n", quote(cond), c.path[len(c.path)-1], quote(c.usage))
	}
	for _, c := range commands {
		var cond []string
		for _, w := range c.path {
			cond = append(cond, "__fish_seen_subcommand_from "+w)
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c wstream -n %s", quote(strings.Join(cond, "; and ")))
			fishFlag(&b, f, quote)
		}
	}
	for _, f := range globalFlags() {
		b.WriteString("complete -c wstream")
		fishFlag(&b, f, quote)
	}
	return b.String()
}

func fishFlag(b *strings.Builder, f flagDoc, quote func(string) string) {
	for _, n := range f.names {
		if len(n) == 1 {
			fmt.Fprintf(b, " -s %s", n)
		} else {
			fmt.Fprintf(b, " -l %s", n)
		}
	}
	if f.value != "" {
		b.WriteString(" -r")
	}
	fmt.Fprintf(b, " -d %s\n", quote(f.usage))
}
