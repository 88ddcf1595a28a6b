package formattest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/internal/testdirs"
)

// Inputs gives the bytes of the inputs of all golden cases of a format, those of testdata/cases and those of the shared
// folder when it is there, to be the seeds of a fuzz test. Large ones are left out: mutations of them find nothing new.
func Inputs(t testing.TB, format string, add func(data []byte)) {
	t.Helper()
	for _, dir := range []string{filepath.Join("testdata", "cases"), filepath.Join(testdirs.Root(t), "..", "shared", "oracle", "formats")} {
		names, _ := filepath.Glob(filepath.Join(dir, format+"-*", "input.*"))
		for _, n := range names {
			data, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) <= 64<<10 {
				add(data)
			}
		}
	}
}
