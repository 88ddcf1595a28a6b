package expr

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// aesArgs are the arguments of aes_encrypt and aes_decrypt of a row.
type aesArgs struct {
	function       string
	input, key     []byte
	mode, padding  string
	iv, additional []byte
}

const (
	gcmIVBytes = 12
	aesBlock   = aes.BlockSize
)

func (a *aesArgs) refuse(condition, format string, args ...any) error {
	return sparkerr.New("INVALID_PARAMETER_VALUE."+condition, "The value of parameter(s) in `"+a.function+"` is invalid: "+format, args...)
}

// check reads the mode and refuses what Spark refuses.
func (a *aesArgs) check() error {
	if n := len(a.key); n != 16 && n != 24 && n != 32 {
		return a.refuse("AES_KEY_LENGTH", "expects a binary value with 16, 24 or 32 bytes, but got %d bytes", n)
	}
	a.mode, a.padding = strings.ToUpper(a.mode), strings.ToUpper(a.padding)
	switch {
	case a.mode == "GCM" && (a.padding == "NONE" || a.padding == "DEFAULT"):
		if len(a.iv) != 0 && len(a.iv) != gcmIVBytes {
			return a.refuse("AES_IV_LENGTH", "GCM takes an initialization vector of %d bytes, but got %d", gcmIVBytes, len(a.iv))
		}
		return nil
	case (a.mode == "ECB" || a.mode == "CBC") && (a.padding == "PKCS" || a.padding == "DEFAULT"):
		if a.mode == "ECB" && len(a.iv) > 0 {
			return sparkerr.New("UNSUPPORTED_FEATURE.AES_MODE_IV", "AES-ECB with the function `%s` takes no initialization vector", a.function)
		}
		if a.mode == "CBC" && len(a.iv) != 0 && len(a.iv) != aesBlock {
			return a.refuse("AES_IV_LENGTH", "CBC takes an initialization vector of %d bytes, but got %d", aesBlock, len(a.iv))
		}
		if len(a.additional) > 0 {
			return sparkerr.New("UNSUPPORTED_FEATURE.AES_MODE_AAD", "AES-%s with the function `%s` takes no additional authenticated data", a.mode, a.function)
		}
		return nil
	}
	return sparkerr.New("UNSUPPORTED_FEATURE.AES_MODE", "AES-%s with the padding %s is not supported by the function `%s`; expected GCM, CBC or ECB", a.mode, a.padding, a.function)
}

// encrypt gives the initialization vector, the cipher text and, with GCM, the tag, one behind the other.
func (a *aesArgs) encrypt() ([]byte, error) {
	block, err := aes.NewCipher(a.key)
	if err != nil {
		return nil, err
	}
	vector := func(n int) ([]byte, error) {
		if len(a.iv) > 0 {
			return bytes.Clone(a.iv), nil
		}
		iv := make([]byte, n)
		_, err := rand.Read(iv)
		return iv, err
	}
	if a.mode == "GCM" {
		iv, err := vector(gcmIVBytes)
		if err != nil {
			return nil, err
		}
		g, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		return g.Seal(iv, iv, a.input, a.additional), nil
	}
	pad := aesBlock - len(a.input)%aesBlock
	text := append(bytes.Clone(a.input), bytes.Repeat([]byte{byte(pad)}, pad)...)
	if a.mode == "ECB" {
		for i := 0; i < len(text); i += aesBlock {
			block.Encrypt(text[i:i+aesBlock], text[i:i+aesBlock])
		}
		return text, nil
	}
	iv, err := vector(aesBlock)
	if err != nil {
		return nil, err
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	return append(iv, text...), nil
}

var errCipherText = errors.New("the input is too short or damaged, or the key is another one")

// decrypt is the reverse.
func (a *aesArgs) decrypt() ([]byte, error) {
	block, err := aes.NewCipher(a.key)
	if err != nil {
		return nil, err
	}
	in := a.input
	if a.mode == "GCM" {
		g, err := cipher.NewGCM(block)
		if err != nil || len(in) < gcmIVBytes {
			return nil, errors.Join(err, errCipherText)
		}
		return g.Open(nil, in[:gcmIVBytes], in[gcmIVBytes:], a.additional)
	}
	var iv []byte
	if a.mode == "CBC" {
		if len(in) < aesBlock {
			return nil, errCipherText
		}
		iv, in = in[:aesBlock], in[aesBlock:]
	}
	if len(in) == 0 || len(in)%aesBlock != 0 {
		return nil, errCipherText
	}
	text := bytes.Clone(in)
	if a.mode == "CBC" {
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(text, text)
	} else {
		for i := 0; i < len(text); i += aesBlock {
			block.Decrypt(text[i:i+aesBlock], text[i:i+aesBlock])
		}
	}
	pad := int(text[len(text)-1])
	if pad == 0 || pad > aesBlock || !bytes.Equal(text[len(text)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errCipherText
	}
	return text[:len(text)-pad], nil
}

// bindAES binds aes_encrypt(input, key[, mode[, padding[, iv[, aad]]]]), aes_decrypt(input, key[, mode[, padding[, aad]]]) and
// try_aes_decrypt.
func bindAES(encrypt, try bool) func(b *Binder, args []Expr) (Expr, error) {
	specs := []spec{isBinary, isBinary, isString, isString, isBinary, isBinary}
	empty := NewString("")
	defaults := []Expr{NewString("GCM"), NewString("DEFAULT"), empty, empty}
	if !encrypt {
		specs, defaults = specs[:5], defaults[:3]
	}
	return func(b *Binder, args []Expr) (Expr, error) {
		name := b.name()
		return typed{specs: specs, defaults: defaults, show: true, out: columnar.Binary, nullable: try, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			x := aesArgs{function: name, input: raw(a[0], i), key: raw(a[1], i), mode: str(a[2], i), padding: str(a[3], i)}
			if encrypt {
				x.iv, x.additional = raw(a[4], i), raw(a[5], i)
			} else {
				x.additional = raw(a[4], i)
			}
			err := x.check()
			var out []byte
			if err == nil {
				if encrypt {
					out, err = x.encrypt()
				} else if out, err = x.decrypt(); err != nil {
					err = x.refuse("AES_CRYPTO_ERROR", "detail message: %v", err)
				}
			}
			if err != nil {
				if try {
					w.AppendNull()
					return nil
				}
				return err
			}
			w.AppendBytes(out)
			return nil
		}}.bind(b, args)
	}
}

func aesFunctions() []*Function {
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: "hash", Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("aes_encrypt", "aes_encrypt(input, key[, mode[, padding[, iv[, aad]]]])", "The input encrypted by AES in the mode GCM, CBC or ECB, behind its initialization vector.", "", bindAES(true, false)),
		f("aes_decrypt", "aes_decrypt(input, key[, mode[, padding[, aad]]])", "What aes_encrypt was given.", "SELECT CAST(aes_decrypt(aes_encrypt('Spark', 'abcdefghijklmnop'), 'abcdefghijklmnop') AS STRING) → Spark", bindAES(false, false)),
		f("try_aes_decrypt", "try_aes_decrypt(input, key[, mode[, padding[, aad]]])", "The same, NULL where that fails.", "SELECT try_aes_decrypt(unhex('00'), '0000111122223333') → NULL", bindAES(false, true)),
	}
}
