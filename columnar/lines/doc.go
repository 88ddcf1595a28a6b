// Package lines brings files of text to the decoders: it undoes compression, takes other character
// sets to UTF-8, drops a byte order mark, and cuts the text into chunks that end at line ends, so
// that chunks can be decoded one by one, on several goroutines.
package lines
