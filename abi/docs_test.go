package abi

import (
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPicture compares the picture of a frame in docs/abi.md with the bytes that are kept: every byte that it shows, and
// nothing but zeros where it shows none.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	dump, err := os.ReadFile("testdata/filter_input.hex")
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for line := range strings.Lines(string(dump)) {
		digits, _, _ := strings.Cut(line[10:], "|")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	got := make([]byte, len(want))
	rows := regexp.MustCompile(`(?m)^([0-9a-f]{3})  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 20 {
		t.Fatalf("found %d rows of the picture", len(rows))
	}
	for _, r := range rows {
		at, err := strconv.ParseUint(r[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(strings.ReplaceAll(r[2], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		copy(got[at:], b)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("byte %#x is %#02x in the picture, %#02x in the frame", i, got[i], want[i])
		}
	}
}
