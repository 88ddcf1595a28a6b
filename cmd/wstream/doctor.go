package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/connect/sqldb"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/pipeline"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "would `run` work here: files, brokers, databases, modules and checkpoints, each with its fix", ArgsUsage: "FILE…",
		Description: "Nothing is changed but for a file that is written into folders and removed again. Ends with 3 if something is wrong.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "set", Usage: "change a setting or an option: `KEY=VALUE`"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"},
			&cli.DurationFlag{Name: "timeout", Value: 5 * time.Second, Usage: "give up on a broker or database after `DURATION`"},
		},
		Action: p.doctor,
	}
}

// diagnosis is a line of `doctor`.
type diagnosis struct {
	What    string `json:"what"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail,omitempty"`
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

func (p *program) doctor(c *cli.Context) error {
	files, err := p.loadSet(c.Args().Slice(), c.StringSlice("set"))
	if err != nil {
		return err
	}
	env, done, err := p.environment(c.Context, nil)
	if err != nil {
		return err
	}
	defer done()
	d := &doctor{ctx: c.Context, timeout: c.Duration("timeout"), host: env.Host, dirs: c.StringSlice("modules"), env: env}
	for _, f := range files {
		d.file(f)
	}
	var text strings.Builder
	wrong := 0
	for _, x := range d.found {
		switch {
		case !x.OK:
			wrong++
			fmt.Fprintf(&text, "%s %s: %s\n        fix: %s\n", p.paint("31", "problem"), x.What, x.Problem, x.Fix)
		case !p.quiet && x.Detail != "":
			fmt.Fprintf(&text, "%s      %s: %s\n", p.paint("32", "ok"), x.What, x.Detail)
		case !p.quiet:
			fmt.Fprintf(&text, "%s      %s\n", p.paint("32", "ok"), x.What)
		}
	}
	if wrong == 0 {
		p.succeed("doctor", text.String(), d.found)
		return nil
	}
	err = environment(fmt.Errorf("%s found", count(wrong, "problem")))
	if p.json {
		p.printJSON(result{Command: "doctor", Result: d.found, Error: failureOf(err)})
	} else {
		fmt.Fprint(p.out, text.String())
	}
	return &coded{&reported{err}, exitEnvironment}
}

// doctor looks at everything that files name. A thing that is named twice is looked at once.
type doctor struct {
	ctx     context.Context
	timeout time.Duration
	host    *host.Host
	env     *pipeline.Environment
	dirs    []string
	found   []diagnosis
	seen    map[string]bool
}

// look notes what a probe says of a thing: what was seen, or an error, with its fix.
func (d *doctor) look(what, fix string, probe func(ctx context.Context) (string, error)) {
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	if d.seen[what] {
		return
	}
	d.seen[what] = true
	ctx, cancel := context.WithTimeout(d.ctx, d.timeout)
	defer cancel()
	detail, err := probe(ctx)
	x := diagnosis{What: what, OK: err == nil, Detail: detail}
	if err != nil {
		x.Detail, x.Problem, x.Fix = "", strings.Join(strings.Fields(err.Error()), " "), fix
	}
	d.found = append(d.found, x)
}

func (d *doctor) file(f *pipeline.File) {
	for _, m := range f.Modules {
		one := *f
		one.Modules = []*pipeline.Module{m}
		d.look(fmt.Sprintf("module %q", m.Name), "build it with `wstream module build`, or correct `path` or `sha256`", func(context.Context) (string, error) {
			loaded, err := pipeline.LoadModules(d.ctx, d.host, &one, d.dirs, host.Capabilities{})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("sha256 %.12s…, %s", loaded[m.Name].Hash(), count(len(loaded[m.Name].Functions()), "function")), nil
		})
	}
	for _, c := range f.Connections {
		d.database(f, c.Name, c.Driver, c.DSN)
	}
	for _, s := range f.Sources {
		d.endpoint(f, fmt.Sprintf("source %q", s.Name), s.Format, connector.NewOptions(s.Options), true)
	}
	for _, s := range f.Sinks {
		d.endpoint(f, fmt.Sprintf("sink %q", s.Name), s.Format, connector.NewOptions(s.Options), false)
		if s.Checkpoint != "" {
			path := in(f.Dir, s.Checkpoint)
			d.look(fmt.Sprintf("sink %q: checkpoint %s", s.Name, path), "stop the process that has it, give this user the right to write there, or change `checkpointLocation`", func(context.Context) (string, error) {
				return checkpointUsable(path)
			})
		}
	}
	rt, err := d.env.Open(d.ctx, f, nil)
	if err == nil {
		if faults := rt.Lint(); len(faults) > 0 {
			err = faults
		}
	}
	d.look("pipeline "+f.Path, "see `wstream lint "+f.Path+"`", func(context.Context) (string, error) { return "no faults", err })
}

// endpoint looks at what a source reads or a sink writes.
func (d *doctor) endpoint(f *pipeline.File, what, format string, o connector.Options, source bool) {
	switch strings.ToLower(format) {
	case "kafka":
		servers, _ := o.Get("kafka.bootstrap.servers")
		var topics []string
		for _, t := range strings.Split(o.String("subscribe", ""), ",") {
			if t = strings.TrimSpace(t); t != "" && source {
				topics = append(topics, t)
			}
		}
		d.look(fmt.Sprintf("%s: kafka %s", what, servers), "start the broker, correct `kafka.bootstrap.servers`, or make the topics", func(ctx context.Context) (string, error) {
			return brokerAnswers(ctx, servers, o.String("kafka.security.protocol", "PLAINTEXT"), topics)
		})
	case "socket":
		addr := net.JoinHostPort(o.String("host", "localhost"), o.String("port", ""))
		d.look(fmt.Sprintf("%s: %s", what, addr), "start the server, or correct `host` and `port`", func(ctx context.Context) (string, error) { return "", dials(ctx, addr) })
	case "postgres", "mysql", "sqlite":
		if dsn, ok := o.Get("dsn"); ok {
			d.database(f, what, format, dsn)
		}
	default:
		path, ok := o.Get("path")
		if !ok {
			return
		}
		path = in(f.Dir, path)
		if source {
			d.look(fmt.Sprintf("%s: %s", what, path), "make the folder or correct `path`; relative paths start from the pipeline file's folder", func(context.Context) (string, error) { return readable(path) })
		} else {
			d.look(fmt.Sprintf("%s: %s", what, path), "give this user the right to write there, or change `path`", func(context.Context) (string, error) { return writable(path) })
		}
	}
}

func (d *doctor) database(f *pipeline.File, name, driver, dsn string) {
	d.look(fmt.Sprintf("connection %q (%s)", name, driver), "start the database, or correct `dsn`", func(ctx context.Context) (string, error) {
		switch sqldb.DriverName(driver) {
		case "postgres", "mysql":
			db, err := sqldb.Open(connector.Env{BaseDir: f.Dir}, connector.Connection{Name: name, Driver: driver, DSN: dsn})
			if err != nil {
				return "", err
			}
			defer db.Close()
			return "it answers", db.Ping(ctx)
		case "sqlite":
			path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
			if path == "" || strings.HasPrefix(path, ":memory:") {
				return "in memory", nil
			}
			return writable(filepath.Dir(in(f.Dir, path)))
		}
		return "", fmt.Errorf("driver %q is unknown; there are postgres, mysql and sqlite", driver)
	})
}

// in is a path of a pipeline file.
func in(dir, path string) string {
	if filepath.IsAbs(path) || strings.Contains(path, "://") {
		return path
	}
	return filepath.Join(dir, path)
}

func readable(path string) (string, error) {
	if strings.ContainsAny(path, "*?[{") {
		return "a pattern; not looked at", nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if !st.IsDir() {
		return fmt.Sprintf("a file of %d bytes", st.Size()), nil
	}
	names, err := f.Readdirnames(-1)
	return fmt.Sprintf("a folder with %d entries", len(names)), err
}

// writable tries to write into a folder, or the nearest one above it that is there.
func writable(path string) (string, error) {
	dir := path
	for {
		st, err := os.Stat(dir)
		if err == nil && !st.IsDir() {
			return "", fmt.Errorf("%s is a file, expected a folder", dir)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
		dir = filepath.Dir(dir)
	}
	t, err := os.CreateTemp(dir, ".wstream-doctor-")
	if err != nil {
		return "", err
	}
	t.Close()
	if err := os.Remove(t.Name()); err != nil {
		return "", err
	}
	if dir != path {
		return "will be made", nil
	}
	return "can be written", nil
}

// bucketUsable tries to put an object below a location, and to delete it.
func bucketUsable(location string) (string, error) {
	fsys, err := objectfs.For(location)
	if err != nil {
		return "", err
	}
	probe := vfs.Join(location, ".wstream-doctor")
	if err := vfs.WriteFile(fsys, probe, []byte("probe\n")); err != nil {
		return "", err
	}
	return "objects can be put there", fsys.Remove(probe)
}

// checkpointUsable tells whether a run could own a checkpoint.
func checkpointUsable(path string) (string, error) {
	if objectfs.IsLocation(path) {
		return bucketUsable(path)
	}
	detail, err := writable(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(path, "lock")); err != nil {
		return detail, nil //nolint:nilerr // no lock: nobody has it
	}
	l, err := vfs.OS().Lock(filepath.Join(path, "lock"))
	if errors.Is(err, vfs.ErrLocked) {
		return "", errors.New("another process owns it")
	}
	if err != nil {
		return "", err
	}
	return "can be written, and nobody owns it", l.Close()
}

func dials(ctx context.Context, addr string) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// brokerAnswers asks brokers for the metadata of topics. Where they want credentials, only whether one of them is there is
// looked at.
func brokerAnswers(ctx context.Context, servers, protocol string, topics []string) (string, error) {
	list := strings.Split(servers, ",")
	var err error
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
		if _, _, bad := net.SplitHostPort(list[i]); bad != nil {
			list[i] = net.JoinHostPort(list[i], "9092")
		}
		if err = dials(ctx, list[i]); err == nil {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if !strings.EqualFold(protocol, "PLAINTEXT") {
		return "it listens; whether it takes the credentials was not tried", nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(list...))
	if err != nil {
		return "", err
	}
	defer cl.Close()
	md, err := kadm.NewClient(cl).Metadata(ctx)
	if err != nil {
		return "", err
	}
	var missing []string
	for _, t := range topics {
		if !md.Topics.Has(t) {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return "", fmt.Errorf("the broker has no topic %s", strings.Join(missing, ", "))
	}
	return fmt.Sprintf("%s, %s", count(len(md.Brokers), "broker"), count(len(md.Topics), "topic")), nil
}
