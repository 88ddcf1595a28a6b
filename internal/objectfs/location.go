package objectfs

import (
	"fmt"
	"strings"
)

// scheme is how the names of objects begin. filepath.Join and filepath.Dir take one of the slashes away, so that one is enough.
const scheme = "s3:/"

// IsLocation says whether a name is that of an object: "s3://bucket/key".
func IsLocation(name string) bool { return strings.HasPrefix(name, scheme) }

// parse splits a name into bucket and key; the key has no slash at its ends, and is empty for the bucket itself.
func parse(name string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(name, scheme)
	if !ok {
		return "", "", fmt.Errorf("%q is not an object; expected s3://BUCKET/KEY", name)
	}
	bucket, key, _ = strings.Cut(strings.Trim(rest, "/"), "/")
	if bucket == "" {
		return "", "", fmt.Errorf("%q names no bucket; expected s3://BUCKET/KEY", name)
	}
	return bucket, key, nil
}
