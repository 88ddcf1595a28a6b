package state

import "github.com/wstream/wstream/columnar"

// FindRows looks up many keys at once, which is several times faster than one by one when the table is larger than the
// processor's cache, and reads the cold store in one pass. rows names the rows of keys and hashes that belong to this
// part; refs[i] becomes the entry of row rows[i], or 0. refs must be as long as rows.
func (p *Part) FindRows(keys *columnar.RowKeys, hashes []uint64, rows []int32, refs []Ref) {
	p.warmRows(hashes, rows)
	for len(rows) > 0 {
		n := min(len(rows), prefetchRows)
		p.prefetch(hashes, rows[:n])
		for i, r := range rows[:n] {
			refs[i] = p.Find(hashes[r], keys.Row(int(r)))
		}
		rows, refs = rows[n:], refs[n:]
	}
}

// UpsertRows is Upsert for many keys at once, in order of rows; see FindRows. refs and created must be as long as rows;
// created may be nil.
func (p *Part) UpsertRows(keys *columnar.RowKeys, hashes []uint64, rows []int32, size int, refs []Ref, created []bool) {
	p.warmRows(hashes, rows)
	for len(rows) > 0 {
		n := min(len(rows), prefetchRows)
		p.prefetch(hashes, rows[:n])
		for i, r := range rows[:n] {
			var isNew bool
			refs[i], isNew = p.Upsert(hashes[r], keys.Row(int(r)), size)
			if created != nil {
				created[i] = isNew
			}
		}
		rows, refs = rows[n:], refs[n:]
		if created != nil {
			created = created[n:]
		}
	}
}

// Warm reads from the cold store, in one pass, what looking up keys of the given hashes may need. The methods for many keys do
// so themselves; who knows more keys in advance saves them the same pages again and again.
func (p *Part) Warm(hashes ...[]uint64) { p.warm(hashes) }
