// Package archtest keeps the table of packages in docs/ARCHITECTURE.md true: its test fails on an import that the table
// forbids, and on a package that the table does not know.
package archtest

// Module is the path of the module whose imports are looked at.
const Module = "github.com/wstream/wstream"

// Layer is a line of the table: a folder with all that lies below it, and what it may import.
type Layer struct {
	// Name is the folder relative to the module's root.
	Name string
	// May names the layers of ours that it may import besides itself and the ones open to all.
	May []string
	// Any says that it may import every layer.
	Any bool
}

// Open names the folders of ours that every layer may import. What lies in them imports none of ours but one another.
func Open() []string { return []string{"internal"} }

// Layers is the table. Where one folder lies inside another, the longer name holds.
func Layers() []Layer {
	engine := []string{"columnar", "state", "checkpoint"}
	connect := append([]string{"engine", "host", "abi"}, engine...)
	return []Layer{
		{Name: "columnar"},
		{Name: "abi", May: []string{"columnar"}},
		{Name: "host", May: []string{"abi", "columnar"}},
		{Name: "state", May: []string{"columnar"}},
		{Name: "checkpoint"},
		{Name: "engine", May: engine},
		{Name: "connect", May: connect},
		{Name: "pipeline", May: append([]string{"connect"}, connect...)},
		{Name: "server", May: append([]string{"pipeline", "connect"}, connect...)},
		{Name: "cmd", Any: true},
		{Name: "bench", Any: true},
		{Name: "internal/sim", Any: true}, // a program of its own, which nothing imports
		{Name: "sdk"},
		{Name: "guests", May: []string{"sdk"}},
	}
}

// Foreign names modules of others that only some layers may import, so that a format, a protocol or a runtime stays
// behind the one package that answers for it. A module that is not named here may be imported anywhere.
func Foreign() map[string][]string {
	return map[string][]string{
		"github.com/tetratelabs/wazero":  {"host"},
		"github.com/dgraph-io/badger/v4": {"state"},
		"github.com/twmb/franz-go":       {"connect", "bench", "cmd"},
		"github.com/jackc/pgx/v5":        {"connect", "bench"},
		"github.com/go-sql-driver/mysql": {"connect", "bench"},
		"modernc.org/sqlite":             {"connect", "bench"},
		"github.com/urfave/cli/v2":       {"cmd"},
		"github.com/minio/minio-go/v7":   {"internal"},
	}
}
