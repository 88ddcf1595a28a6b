package javatext

// JavaError is a refusal that Spark lets through as a bare Java exception, without an error condition of
// its own: a wrong printf format, a date that does not exist, a zone that nobody knows.
type JavaError struct {
	// Exception is the Java class, such as "java.util.MissingFormatArgumentException".
	Exception string
	// Text is the exception's message.
	Text string
}

// Error returns the message, or the class if there is none.
func (e *JavaError) Error() string {
	if e.Text == "" {
		return e.Exception
	}
	return e.Text
}
