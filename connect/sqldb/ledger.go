package sqldb

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wstream/wstream/engine/connector"
)

// LedgerTable is the table in which every sink keeps the last batch that it has committed.
const LedgerTable = "wstream_ledger"

// ensureLedger makes the ledger table if it is not there.
func (db *DB) ensureLedger(ctx context.Context, s session) error {
	if db.ledger {
		return nil
	}
	have, err := db.d.columns(ctx, s, LedgerTable)
	if err != nil {
		return err
	}
	if have == nil {
		create := "CREATE TABLE IF NOT EXISTS " + LedgerTable + " (query_id VARCHAR(64) NOT NULL, sink VARCHAR(191) NOT NULL, " +
			"batch_id BIGINT NOT NULL, run_id VARCHAR(64), committed_at VARCHAR(40), PRIMARY KEY (query_id, sink))"
		if db.Driver() == "mysql" { // names that differ in case are different
			create += " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
		}
		if _, err := db.makeTable(ctx, s, LedgerTable, create); err != nil {
			return fmt.Errorf("table %q: %w", LedgerTable, err)
		}
	}
	db.ledger = true
	return nil
}

// lockLedger takes the row of a sink and gives the last batch in it, -1 for none.
func (db *DB) lockLedger(ctx context.Context, s session, query, sink string) (int64, error) {
	where := fmt.Sprintf(" WHERE query_id = %s AND sink = %s", db.d.text(query), db.d.text(sink))
	last, found, err := db.readLedger(ctx, s, where+db.d.lock())
	if err != nil || found {
		return last, err
	}
	row := fmt.Sprintf("(%s, %s, -1)", db.d.text(query), db.d.text(sink))
	insert := "INSERT INTO " + LedgerTable + " (query_id, sink, batch_id) VALUES " + row
	if db.Driver() == "mysql" {
		insert += " ON DUPLICATE KEY UPDATE batch_id = batch_id"
	} else {
		insert += " ON CONFLICT (query_id, sink) DO NOTHING"
	}
	if _, err := s.exec(ctx, insert); err != nil {
		return 0, fmt.Errorf("table %q: %w", LedgerTable, err)
	}
	last, _, err = db.readLedger(ctx, s, where+db.d.lock())
	return last, err
}

func (db *DB) readLedger(ctx context.Context, s session, where string) (last int64, found bool, err error) {
	last = -1
	err = s.query(ctx, "SELECT batch_id FROM "+LedgerTable+where, nil, func(v [][]byte) error {
		found = true
		var err error
		last, err = strconv.ParseInt(string(v[0]), 10, 64)
		return err
	})
	if err != nil {
		err = fmt.Errorf("table %q: %w", LedgerTable, err)
	}
	return last, found, err
}

// writeLedger writes the batch into the row that lockLedger has taken.
func (db *DB) writeLedger(ctx context.Context, s session, sink string, info connector.BatchInfo) error {
	n, err := s.exec(ctx, fmt.Sprintf("UPDATE %s SET batch_id = %d, run_id = %s, committed_at = CURRENT_TIMESTAMP WHERE query_id = %s AND sink = %s",
		LedgerTable, info.BatchID, db.d.text(info.RunID), db.d.text(info.QueryID), db.d.text(sink)))
	if err == nil && n != 1 {
		err = fmt.Errorf("the row of query %q and sink %q is gone", info.QueryID, sink)
	}
	if err != nil {
		err = fmt.Errorf("table %q: %w", LedgerTable, err)
	}
	return err
}
