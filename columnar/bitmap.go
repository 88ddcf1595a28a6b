package columnar

import (
	"math/bits"
	"unsafe"
)

// Bitmap is one bit per row, least significant bit first, in 64-bit words: Arrow's bitmap on a
// little-endian machine. Bits beyond the length are unspecified unless a function says otherwise.
type Bitmap []uint64

// BitmapWords is the number of words for n bits.
func BitmapWords(n int) int { return (n + 63) >> 6 }

// NewBitmap makes a bitmap of n zero bits.
func NewBitmap(n int) Bitmap { return make(Bitmap, BitmapWords(n)) }

// NewBitmapSet makes a bitmap of n one bits.
func NewBitmapSet(n int) Bitmap {
	b := NewBitmap(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}

// Get tells whether bit i is set.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// SetTo sets bit i to v.
func (b Bitmap) SetTo(i int, v bool) {
	if v {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// Count is the number of one bits among the first n.
func (b Bitmap) Count(n int) int {
	c, full := 0, n>>6
	for _, w := range b[:full] {
		c += bits.OnesCount64(w)
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[full] & (1<<r - 1))
	}
	return c
}

// MaskTail clears the bits at n and beyond in the last word of n bits.
func (b Bitmap) MaskTail(n int) {
	if r := uint(n) & 63; r != 0 {
		b[n>>6] &= 1<<r - 1
	}
}

// Bytes is the same memory as bytes, 8 per word.
func (b Bitmap) Bytes() []byte {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b)*8)
}

// BitmapFromBytes copies n bits out of Arrow bytes that start at bit offset off.
func BitmapFromBytes(src []byte, off, n int) Bitmap {
	out := NewBitmap(n)
	if off&7 == 0 {
		copy(out.Bytes(), src[off>>3:min(len(src), (off+n+7)>>3)])
		out.MaskTail(n)
		return out
	}
	for i := 0; i < n; i++ {
		if j := off + i; src[j>>3]>>(uint(j)&7)&1 != 0 {
			out.Set(i)
		}
	}
	return out
}

// Slice copies bits [from, to).
func (b Bitmap) Slice(from, to int) Bitmap {
	n := to - from
	out := NewBitmap(n)
	s, w := uint(from)&63, from>>6
	for i := range out {
		v := b[w+i] >> s
		if s != 0 && w+i+1 < len(b) {
			v |= b[w+i+1] << (64 - s)
		}
		out[i] = v
	}
	out.MaskTail(n)
	return out
}

// And returns the bitwise and of two bitmaps of equal length; nil stands for all ones.
func And(a, b Bitmap) Bitmap {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := make(Bitmap, len(a))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// Indices appends the positions of the one bits among the first n to dst.
func (b Bitmap) Indices(dst []int32, n int) []int32 {
	for w := 0; w<<6 < n; w++ {
		v := b[w]
		if r := n - w<<6; r < 64 {
			v &= 1<<uint(r) - 1
		}
		for v != 0 {
			dst = append(dst, int32(w<<6+bits.TrailingZeros64(v)))
			v &= v - 1
		}
	}
	return dst
}
