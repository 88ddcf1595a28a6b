// Package schemaregistry talks to a schema registry by the HTTP API that Confluent's has and others have taken over,
// and knows the frame that its producers put around a message: a zero byte, the schema's number in four bytes, the value.
package schemaregistry

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The options of a client, as Confluent's clients and ABRiS call them.
const (
	OptionURL     = "schema.registry.url"
	OptionSubject = "schema.registry.subject"
	OptionVersion = "schema.registry.version" // a number, or latest
	OptionUser    = "basic.auth.user.info"    // user:password
	OptionToken   = "bearer.auth.token"
)

const (
	mediaType   = "application/vnd.schemaregistry.v1+json"
	timeout     = 10 * time.Second
	largestBody = 16 << 20

	deepestPath  = 64      // messages within messages
	largestIndex = 1 << 20 // messages of a file
)

// Client asks one registry. It remembers schemas by number, which never change, and may be shared.
type Client struct {
	base, user, token string
	http              http.Client

	mu   sync.Mutex
	byID map[int32]Schema
}

// Schema is a schema as a registry has it.
type Schema struct {
	ID   int32  `json:"id"`
	Type string `json:"schemaType"` // "" or AVRO, PROTOBUF, JSON
	Text string `json:"schema"`

	References []Reference `json:"references"` // what the schema imports
}

// Reference is a schema that another one imports, under the name that it imports it by.
type Reference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// New makes a client of options; without an address it is nil.
func New(options map[string]string) (*Client, error) {
	base := options[OptionURL]
	if base == "" {
		return nil, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("option %q is %q, which is no address of a schema registry; write http://host:port", OptionURL, base)
	}
	return &Client{
		base: strings.TrimRight(base, "/"), user: options[OptionUser], token: options[OptionToken],
		http: http.Client{Timeout: timeout}, byID: map[int32]Schema{},
	}, nil
}

// Version is the schema of a subject in a version; "" is the latest.
func (c *Client) Version(subject, version string) (Schema, error) {
	if version == "" {
		version = "latest"
	}
	var s Schema
	err := c.call(http.MethodGet, "/subjects/"+url.PathEscape(subject)+"/versions/"+url.PathEscape(version), nil, &s)
	return s, err
}

// ByID is the schema of a number.
func (c *Client) ByID(id int32) (Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.byID[id]; ok {
		return s, nil
	}
	s := Schema{ID: id}
	if err := c.call(http.MethodGet, fmt.Sprintf("/schemas/ids/%d", id), nil, &s); err != nil {
		return Schema{}, err
	}
	s.ID = id
	c.byID[id] = s
	return s, nil
}

// Register gives the number of a schema under a subject, new or known.
func (c *Client) Register(subject string, s Schema) (int32, error) {
	in := map[string]string{"schema": s.Text}
	if s.Type != "" {
		in["schemaType"] = s.Type
	}
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	var out Schema
	err = c.call(http.MethodPost, "/subjects/"+url.PathEscape(subject)+"/versions", body, &out)
	return out.ID, err
}

func (c *Client) call(method, path string, body []byte, out any) error {
	req, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", mediaType)
	if body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	switch user, password, ok := strings.Cut(c.user, ":"); {
	case ok:
		req.SetBasicAuth(user, password)
	case c.token != "":
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("schema registry: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, largestBody))
	if err != nil {
		return fmt.Errorf("schema registry: %s %s: %w", method, c.base+path, err)
	}
	if res.StatusCode != http.StatusOK {
		var fault struct {
			Code    int    `json:"error_code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &fault) == nil && fault.Message != "" {
			return fmt.Errorf("schema registry: %s %s: %s (code %d)", method, c.base+path, fault.Message, fault.Code)
		}
		return fmt.Errorf("schema registry: %s %s: status %s", method, c.base+path, res.Status)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("schema registry: %s %s: the answer is no JSON: %w", method, c.base+path, err)
	}
	return nil
}

// Unframe takes a message apart; ok is false for one without the frame.
func Unframe(message []byte) (id int32, value []byte, ok bool) {
	if len(message) < 5 || message[0] != 0 {
		return 0, nil, false
	}
	return int32(binary.BigEndian.Uint32(message[1:])), message[5:], true
}

// UnframeIndexes takes what stands between the frame and the value of a Protobuf message apart: which message of the
// schema it is, by positions as in a file's list of messages and, further in, in a message's list. ok is false for bytes
// that are no such list.
func UnframeIndexes(b []byte) (path []int, value []byte, ok bool) {
	n, k := binary.Varint(b)
	if k <= 0 || n < 0 || n > deepestPath {
		return nil, nil, false
	}
	if b = b[k:]; n == 0 {
		return []int{0}, b, true // the first message, in a byte instead of two
	}
	for range n {
		i, k := binary.Varint(b)
		if k <= 0 || i < 0 || i > largestIndex {
			return nil, nil, false
		}
		path, b = append(path, int(i)), b[k:]
	}
	return path, b, true
}

// AppendIndexes appends which message of a schema follows.
func AppendIndexes(dst []byte, path []int) []byte {
	if len(path) == 1 && path[0] == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(len(path)))
	for _, i := range path {
		dst = binary.AppendVarint(dst, int64(i))
	}
	return dst
}

// AppendFrame appends what stands before the value of a message.
func AppendFrame(dst []byte, id int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(id))
}
