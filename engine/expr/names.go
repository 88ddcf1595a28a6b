package expr

import "strings"

// equalFold compares names without regard to case.
func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
