package records

// patterns takes the patterns of the options in use.
func (f *Formats) patterns(o FormatOptions) {
}
