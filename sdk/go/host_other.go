//go:build !wasip1

package wstream

// Outside of a guest, as in its unit tests, the host denies everything.

func hostLog(int, string)                  {}
func hostMetric(bool, string, float64)     {}
func hostExec(_, _ string, _ []byte) int64 { return statusDenied }
func hostProduce(string, []byte) int64     { return statusDenied }
func hostGet(string, []byte, []byte) int64 { return statusDenied }
func hostPut(string, []byte, []byte) int64 { return statusDenied }
func hostDelete(string, []byte) int64      { return statusDenied }
