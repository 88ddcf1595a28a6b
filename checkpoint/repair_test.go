package checkpoint

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

// finished is aged without a batch that is planned only.
func finished(t testing.TB) *vfs.Mem {
	m := aged(t)
	c := mustOpen(t, m, options())
	if err := finish(c, 18); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SourceLog("files"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	return m
}

// TestRepairMakesAnew deletes and damages the files that can be made from others.
func TestRepairMakesAnew(t *testing.T) {
	whole := finished(t)
	before := mustOpen(t, whole.Clone(), options())
	for _, kind := range []string{"metadata", "manifest-"} {
		for _, name := range whole.Walk(dir) {
			if !strings.HasPrefix(name, dir+"/"+kind) {
				continue
			}
			for _, damage := range []string{"deleted", "emptied", "flipped"} {
				m := whole.Clone()
				switch damage {
				case "deleted":
					if err := m.Remove(name); err != nil {
						t.Fatal(err)
					}
				default:
					_ = m.Corrupt(name, func(b []byte) []byte {
						if damage == "emptied" {
							return nil
						}
						b[len(b)/2] ^= 1
						return b
					})
				}
				if _, err := Open(m, dir, options()); err == nil {
					t.Fatalf("%s %s: it opened before the repair", name, damage)
				}
				found, err := Repair(m, dir)
				if err != nil || len(found) != 1 || !found[0].Repaired {
					t.Fatalf("%s %s: %+v, %v", name, damage, found, err)
				}
				c := mustOpen(t, m, options())
				if got := check(t, c); got != "0..18, 0..18" || c.QueryID() != before.QueryID() {
					t.Fatalf("%s %s: %s, query %s", name, damage, got, c.QueryID())
				}
				run(t, c, 19, 22)
				c.Close()
				if found, err := Repair(m, dir); err != nil || len(found) > 0 {
					t.Fatalf("%s %s: after the repair %+v, %v", name, damage, found, err)
				}
			}
		}
	}
}

// TestRepairFlips flips a bit of every byte of every file: after a repair either everything is there, or all but the last
// commit entry, whose batch runs again; or the repair has named the file and touched nothing that still reads well.
func TestRepairFlips(t *testing.T) {
	whole := finished(t)
	verdicts := map[string]int{}
	for _, name := range whole.Walk(dir) {
		b, err := vfs.ReadFile(whole, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b); i += stride(7) {
			m := whole.Clone()
			_ = m.Corrupt(name, func(b []byte) []byte { b[i] ^= 1 << (i % 8); return b })
			found, err := Repair(m, dir)
			if err != nil {
				t.Fatalf("%s, byte %d: %v", name, i, err)
			}
			left := false
			for _, f := range found {
				left = left || !f.Repaired
				if !strings.HasSuffix(name, f.File) {
					t.Fatalf("%s, byte %d: the finding is about %q", name, i, f.File)
				}
			}
			if left {
				verdicts["named"]++
				continue
			}
			c, err := Open(m, dir, options())
			if err != nil {
				t.Fatalf("%s, byte %d: repaired by %+v, and does not open: %v", name, i, found, err)
			}
			got, err := checkErr(c)
			switch {
			case err != nil:
				t.Fatalf("%s, byte %d: %v", name, i, err)
			case got == "0..18, 0..18":
				verdicts["whole"]++
			case got == "0..18, 0..17" && strings.Contains(name, "/commits/"):
				verdicts["one batch again"]++
				run(t, c, 19, 18) // nothing
				if err := finish(c, 18); err != nil {
					t.Fatal(err)
				}
			default:
				t.Fatalf("%s, byte %d: %s", name, i, got)
			}
			c.Close()
		}
	}
	t.Log(verdicts)
	if verdicts["whole"] == 0 || verdicts["one batch again"] == 0 || verdicts["named"] == 0 {
		t.Error("a verdict is missing")
	}
}

// TestRepairRefuses looks at what a repair may not touch.
func TestRepairRefuses(t *testing.T) {
	m := aged(t)
	c := mustOpen(t, m, options())
	var locked *LockedError
	if _, err := Repair(m, dir); !errors.As(err, &locked) {
		t.Error(err)
	}
	c.Close()
	if _, err := Repair(m, "/nowhere"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	_ = m.Corrupt(dir+"/metadata", func([]byte) []byte {
		b, _ := sealed(metadata{ID: c.QueryID(), Format: FormatVersion + 1})
		return b
	})
	before := snapshot(t, m)
	var newer *VersionError
	if _, err := Repair(m, dir); !errors.As(err, &newer) {
		t.Error(err)
	}
	if after := snapshot(t, m); after != before {
		t.Error("a newer checkpoint was touched")
	}
}

// TestCutCommit runs the last batch again.
func TestCutCommit(t *testing.T) {
	m := finished(t)
	if err := CutCommit(m, dir); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, m, options())
	if got := check(t, c); got != "0..18, 0..17" {
		t.Fatal(got)
	}
}

// stride is 1 in a soak and else what is quick.
func stride(quick int) int {
	if os.Getenv("WSTREAM_SOAK") != "" {
		return 1
	}
	return quick
}
