package main

import (
	"fmt"
	"strings"
)

// manPage is the manual page of all commands, for man(1).
func manPage(commands []command) string {
	var b strings.Builder
	b.WriteString(".TH WSTREAM 1\n.SH NAME\nwstream \\- streams as tables: SQL, windows and Wasm in one binary\n" +
		".SH SYNOPSIS\n.B wstream\n.I COMMAND\n[flags] [arguments]\n.SH OPTIONS\nEvery command takes\n")
	manFlags(&b, globalFlags())
	b.WriteString(".SH COMMANDS\n")
	for _, c := range commands {
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(c.synopsis()), roff(sentence(c.usage)))
		if c.description != "" {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(c.description))
		}
		manFlags(&b, c.flags)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", e.code, roff(e.text))
	}
	return b.String()
}

func manFlags(b *strings.Builder, flags []flagDoc) {
	for _, f := range flags {
		text := f.usage
		if f.def != "" {
			text += " (default " + f.def + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(f.syntax()), roff(text))
	}
}

// roff escapes text: back-slashes and dashes mean something, as do dots and quotes where a line begins.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "").Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
