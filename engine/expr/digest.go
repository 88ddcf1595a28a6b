package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash/crc32"

	"github.com/wstream/wstream/columnar"
)

// digestFunctions are the checksums of binary values, as SQL has them: none of them protects anything here.
func digestFunctions() []*Function {
	const family = "hash"
	hexOf := func(f func(v []byte) []byte) func(b *Binder, args []Expr) (Expr, error) {
		return typed{specs: []spec{isBinary}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.FinishScratch(hex.AppendEncode(w.Scratch(), f(raw(a[0], i))))
			return nil
		}}.bind
	}
	return []*Function{
		{Name: "md5", Family: family, Signature: "md5(expr)", Doc: "MD5 in hexadecimal digits.", Example: "SELECT md5('Spark') → 8cde774d6f7333752ed72cacddb05126", Bind: hexOf(func(v []byte) []byte { s := md5.Sum(v); return s[:] })},
		{Name: "sha1", Aliases: []string{"sha"}, Family: family, Signature: "sha1(expr)", Doc: "SHA-1 in hexadecimal digits.", Example: "SELECT sha1('Spark') → 85f5955f4b27a9a4c2aab6ffe5d7189fc298b92c", Bind: hexOf(func(v []byte) []byte { s := sha1.Sum(v); return s[:] })},
		{
			Name: "sha2", Family: family, Signature: "sha2(expr, bits)", Doc: "SHA-2 of 224, 256 (or 0), 384 or 512 bits in hexadecimal digits, NULL for other lengths.", Example: "SELECT sha2('Spark', 224) → dbeab94971678d36af2195851c0f7485775a2a7c60073d62fc04549c",
			Bind: typed{specs: []spec{isBinary, isInt}, out: columnar.String, nullable: true, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
				v := raw(a[0], i)
				var sum []byte
				switch i32(a[1], i) {
				case 0, 256:
					s := sha256.Sum256(v)
					sum = s[:]
				case 224:
					s := sha256.Sum224(v)
					sum = s[:]
				case 384:
					s := sha512.Sum384(v)
					sum = s[:]
				case 512:
					s := sha512.Sum512(v)
					sum = s[:]
				default:
					w.AppendNull()
					return nil
				}
				w.FinishScratch(hex.AppendEncode(w.Scratch(), sum))
				return nil
			}}.bind,
		},
		{
			Name: "crc32", Family: family, Signature: "crc32(expr)", Doc: "The CRC-32 checksum.", Example: "SELECT crc32('Spark') → 1557323817",
			Bind: typed{specs: []spec{isBinary}, out: columnar.Int64, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
				w.AppendInt(int64(crc32.ChecksumIEEE(raw(a[0], i))))
				return nil
			}}.bind,
		},
	}
}
