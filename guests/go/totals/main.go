// Command totals keeps counts in a table of a database, by a foreachBatch function of two kinds: set overwrites a row by what
// the query says it is, so that it may be handed over twice; add adds what came, which is right since the host notes the
// batch in the same transaction (its ledger) and never hands it over again.
package main

import (
	"errors"

	"github.com/wstream/wstream/sdk/go"
)

func main() {}

const (
	create = "CREATE TABLE IF NOT EXISTS totals (item VARCHAR(200) NOT NULL PRIMARY KEY, total BIGINT NOT NULL)"
	set    = "INSERT INTO totals (item, total) VALUES ($1, $2) ON CONFLICT (item) DO UPDATE SET total = excluded.total"
	add    = "INSERT INTO totals (item, total) VALUES ($1, $2) ON CONFLICT (item) DO UPDATE SET total = totals.total + excluded.total"
)

// write makes a function that runs a statement for the rows of each batch.
func write(name, statement, doc string) wstream.Function {
	return wstream.Function{
		Name: name, Kind: wstream.ForeachBatch, Doc: doc + "; config connection", Input: "item STRING, total BIGINT",
		Bind: func(b *wstream.Bind) (wstream.Handler, error) {
			connection := b.Config["connection"]
			if connection == "" {
				connection = "results"
			}
			return func(c *wstream.Call) error {
				if c.First() {
					if _, err := c.ExecOnce(connection, create); err != nil {
						return errors.New("create table: " + err.Error())
					}
				}
				if c.Commit() || c.Rows() == 0 {
					return nil
				}
				if _, err := c.Exec(connection, statement); err != nil {
					return errors.New(name + ": " + err.Error())
				}
				return nil
			}, nil
		},
	}
}

var _ = wstream.Export(wstream.Module{
	Name: "totals", Version: "1.0.0", Statements: []string{create, set, add},
	Functions: []wstream.Function{
		write("set", set, "totals per item, overwritten: idempotent without a ledger"),
		write("add", add, "amounts per item, added up: exactly once by the ledger"),
	},
})
