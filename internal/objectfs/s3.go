package objectfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// NewS3 returns a file system over buckets with the S3 API. Where they are and who we are is taken from the environment, as
// the tools of AWS do: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID with
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the shared credentials file with AWS_PROFILE, and last the role of the
// machine or container. Without an endpoint it is that of AWS.
func NewS3(getenv func(string) string, o Options) *FS {
	return New(func(bucket string) (Store, error) { return OpenS3(bucket, getenv) }, o)
}

// Environment is NewS3 over the environment of the process, with default options but for WSTREAM_S3_LEASE, a duration.
func Environment() (*FS, error) {
	var o Options
	if v := os.Getenv("WSTREAM_S3_LEASE"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 100*time.Millisecond {
			return nil, fmt.Errorf("WSTREAM_S3_LEASE is %q; expected a duration of at least 100ms, such as 10s", v)
		}
		o.Lease = d
	}
	return NewS3(os.Getenv, o), nil
}

type s3Store struct {
	core   minio.Core
	bucket string
	where  string
}

func firstOf(getenv func(string) string, names ...string) string {
	for _, n := range names {
		if v := getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// OpenS3 opens a bucket, see NewS3.
func OpenS3(bucket string, getenv func(string) string) (Store, error) {
	host, secure := "s3.amazonaws.com", true
	region := firstOf(getenv, "AWS_REGION", "AWS_DEFAULT_REGION")
	lookup := minio.BucketLookupAuto
	if endpoint := firstOf(getenv, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"); endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("the endpoint %q is not a URL such as https://host:port", endpoint)
		}
		host, secure, lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		if region == "" {
			region = "us-east-1"
		}
	}
	creds := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.FileAWSCredentials{Profile: getenv("AWS_PROFILE")}, &credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}},
	})
	if id := getenv("AWS_ACCESS_KEY_ID"); id != "" {
		creds = credentials.NewStaticV4(id, getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"))
	}
	c, err := minio.NewCore(host, &minio.Options{
		Creds: creds, Secure: secure, Region: region, BucketLookup: lookup, MaxRetries: 1, // the FS repeats, which knows what a lost answer means
	})
	if err != nil {
		return nil, err
	}
	scheme := map[bool]string{true: "https", false: "http"}[secure]
	return &s3Store{core: *c, bucket: bucket, where: scheme + "://" + host}, nil
}

// fault gives an error of the client its kind.
func (s *s3Store) fault(err error) error {
	if err == nil {
		return nil
	}
	var r minio.ErrorResponse
	answered := errors.As(err, &r) // or the client refuses to ask
	code := r.StatusCode
	switch {
	case code == http.StatusPreconditionFailed || r.Code == "PreconditionFailed":
		return ErrPrecondition
	case r.Code == "NoSuchBucket":
		return fmt.Errorf("there is no bucket %q at %s: %w", s.bucket, s.where, err)
	case r.Code == "NoSuchKey":
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case code == http.StatusForbidden || code == http.StatusUnauthorized || r.Code == "InvalidAccessKeyId":
		return fmt.Errorf("%w: bucket %q at %s: %w (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who asks)", fs.ErrPermission, s.bucket, s.where, err)
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusConflict, r.Code == "SlowDown":
		return &TransientError{fmt.Errorf("%s: %w", s.where, err)}
	case !answered || code == http.StatusOK: // no answer, or half of one
		return &TransientError{fmt.Errorf("%s: %w", s.where, err)}
	}
	return fmt.Errorf("%s: %w", s.where, err)
}

// Get implements Store.
func (s *s3Store) Get(ctx context.Context, key string) ([]byte, string, error) {
	body, at, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", s.fault(err)
	}
	data, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, "", &TransientError{fmt.Errorf("%s: %w", s.where, err)}
	}
	if int64(len(data)) != at.Size {
		return nil, "", &TransientError{fmt.Errorf("%s: %d bytes came of %d", s.where, len(data), at.Size)}
	}
	return data, at.ETag, nil
}

// Put implements Store.
func (s *s3Store) Put(ctx context.Context, key string, data []byte, cond Condition) (string, error) {
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
	if cond.IfAbsent {
		o.SetMatchETagExcept("*")
	}
	if cond.IfMatch != "" {
		o.SetMatchETag(cond.IfMatch)
	}
	at, err := s.core.Client.PutObject(ctx, s.bucket, key, bytes.NewReader(data), int64(len(data)), o)
	if err = s.fault(err); cond.IfMatch != "" && errors.Is(err, fs.ErrNotExist) {
		err = ErrPrecondition // nothing is there that could match
	}
	return strings.Trim(at.ETag, `"`), err
}

// Delete implements Store.
func (s *s3Store) Delete(ctx context.Context, key string) error {
	err := s.fault(s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements Store.
func (s *s3Store) List(ctx context.Context, prefix string, flat bool) ([]Object, error) {
	var out []Object
	for o := range s.core.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: !flat}) {
		if o.Err != nil {
			return nil, s.fault(o.Err)
		}
		dir := flat && strings.HasSuffix(o.Key, "/")
		out = append(out, Object{Key: o.Key, Size: o.Size, ETag: strings.Trim(o.ETag, `"`), Modified: o.LastModified, Dir: dir})
	}
	return out, nil
}
