package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// driverSession is a connection through a driver of package database/sql, without its pool.
type driverSession struct {
	conn      driver.Conn
	lost      bool
	columnsOf func(driver.Rows) []resultColumn
}

func (s *driverSession) alive() bool {
	if v, ok := s.conn.(driver.Validator); ok && !v.IsValid() {
		return false
	}
	return !s.lost
}

func (s *driverSession) close() {
	s.lost = true
	s.conn.Close()
}

func (s *driverSession) note(err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		s.lost = true
	}
	return err
}

func (s *driverSession) exec(ctx context.Context, statement string) (int64, error) {
	r, err := s.conn.(driver.ExecerContext).ExecContext(ctx, statement, nil)
	if err != nil {
		return 0, s.note(err)
	}
	n, err := r.RowsAffected()
	return n, s.note(err)
}

func (s *driverSession) query(ctx context.Context, statement string, head func([]resultColumn) error, row func([][]byte) error) (err error) {
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, statement, nil)
	if err != nil {
		return s.note(err)
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = s.note(e)
		}
	}()
	if head != nil {
		if err := head(s.columnsOf(rows)); err != nil {
			return err
		}
	}
	values := make([]driver.Value, len(rows.Columns()))
	texts := make([][]byte, len(values))
	for {
		err := rows.Next(values)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.note(err)
		}
		for i, v := range values {
			texts[i] = driverText(texts[i], v)
		}
		if err := row(texts); err != nil {
			return err
		}
	}
}

// driverText is a value as text, nil for null; buf may be used again.
func driverText(buf []byte, v driver.Value) []byte {
	buf = buf[:0]
	if buf == nil {
		buf = []byte{}
	}
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return append(buf, v...)
	case string:
		return append(buf, v...)
	case int64:
		return strconv.AppendInt(buf, v, 10)
	case uint64:
		return strconv.AppendUint(buf, v, 10)
	case float64:
		return appendFloat(buf, v, 64)
	case float32:
		return appendFloat(buf, float64(v), 32)
	case bool:
		return strconv.AppendBool(buf, v)
	case time.Time:
		return v.UTC().AppendFormat(buf, "2006-01-02 15:04:05.999999")
	}
	return fmt.Append(buf, v)
}
