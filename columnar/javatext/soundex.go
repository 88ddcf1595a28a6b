package javatext

// soundexCodes holds the codes of the letters A to Z; 7 is a letter that is passed over.
const soundexCodes = "01230127022455012623017202"

// Soundex returns the code of a word, such as "R163" for "Robert". A text that does not begin with a letter of ASCII
// is returned as it is.
func Soundex(s string) string {
	if s == "" || !isASCIILetter(s[0]) {
		return s
	}
	code := [4]byte{s[0] &^ 0x20, '0', '0', '0'}
	n := 1
	last := soundexCodes[code[0]-'A']
	for i := 1; i < len(s) && n < len(code); i++ {
		if !isASCIILetter(s[i]) {
			last = '0'
			continue
		}
		c := soundexCodes[s[i]&^0x20-'A']
		if c == '7' {
			continue
		}
		if c != '0' && c != last {
			code[n] = c
			n++
		}
		last = c
	}
	return string(code[:])
}

// Levenshtein returns the number of characters to insert, delete or replace to turn a into b. With a threshold that
// is not negative, a greater number is -1; without one, a threshold of -1 is given by levenshtein(a, b).
func Levenshtein(a, b string, threshold int) int {
	x, y := codePoints(a), codePoints(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	row := make([]int, len(x)+1)
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(y); j++ {
		diagonal := row[0]
		row[0] = j
		for i := 1; i <= len(x); i++ {
			cost := diagonal
			if x[i-1] != y[j-1] {
				cost = min(diagonal, row[i], row[i-1]) + 1
			}
			diagonal, row[i] = row[i], cost
		}
	}
	if d := row[len(x)]; threshold < 0 || d <= threshold {
		return d
	}
	return -1
}

// codePoints splits s into characters as CharLen sees them.
func codePoints(s string) []string {
	list := make([]string, 0, len(s))
	for i := 0; i < len(s); {
		n := min(CharLen(s[i]), len(s)-i)
		list = append(list, s[i:i+n])
		i += n
	}
	return list
}
