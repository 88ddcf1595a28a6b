package delta

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// action is a line of the log. One field is set.
type action struct {
	CommitInfo *commitInfo `json:"commitInfo,omitempty"`
	Protocol   *protocol   `json:"protocol,omitempty"`
	MetaData   *metaData   `json:"metaData,omitempty"`
	Txn        *txn        `json:"txn,omitempty"`
	Add        *addFile    `json:"add,omitempty"`
	Remove     *removeFile `json:"remove,omitempty"`
	Sidecar    *sidecar    `json:"sidecar,omitempty"` // in checkpoints alone
}

type commitInfo struct {
	Timestamp           int64             `json:"timestamp"`
	Operation           string            `json:"operation"`
	OperationParameters map[string]string `json:"operationParameters"`
	IsBlindAppend       bool              `json:"isBlindAppend"`
	EngineInfo          string            `json:"engineInfo"`
	TxnID               string            `json:"txnId,omitempty"`
}

type protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

type metaData struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           fileFormat        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      int64             `json:"createdTime,omitempty"`
}

type fileFormat struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

type txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"`
}

type addFile struct {
	Path             string             `json:"path"`
	PartitionValues  map[string]*string `json:"partitionValues"`
	Size             int64              `json:"size"`
	ModificationTime int64              `json:"modificationTime"`
	DataChange       bool               `json:"dataChange"`
	Stats            string             `json:"stats,omitempty"`
	DeletionVector   *deletionVector    `json:"deletionVector,omitempty"`
}

// key tells the files of a version apart: by their path and their deletion vector.
func (a *addFile) key() string { return fileKey(a.Path, a.DeletionVector) }

func fileKey(path string, d *deletionVector) string {
	if d == nil {
		return path
	}
	return path + "\x00" + d.id()
}

type removeFile struct {
	Path                 string             `json:"path"`
	DeletionTimestamp    int64              `json:"deletionTimestamp,omitempty"`
	DataChange           bool               `json:"dataChange"`
	ExtendedFileMetadata bool               `json:"extendedFileMetadata,omitempty"`
	PartitionValues      map[string]*string `json:"partitionValues,omitempty"`
	Size                 int64              `json:"size,omitempty"`
	DeletionVector       *deletionVector    `json:"deletionVector,omitempty"`
}

// sidecar is a file with a part of a checkpoint's files.
type sidecar struct {
	Path        string `json:"path"`
	SizeInBytes int64  `json:"sizeInBytes"`
}

// readable and writable tell what tables may ask of readers and writers.
func readable(feature string) bool {
	switch feature {
	case "timestampNtz", "deletionVectors", "columnMapping", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening", "typeWidening-preview":
		return true
	}
	return false
}

func writable(feature string) bool {
	switch feature {
	case "timestampNtz", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck", "appendOnly", "invariants":
		return true
	}
	return false
}

// mayRead refuses tables that need more of a reader than this package does.
func (p *protocol) mayRead() error {
	if p.MinReaderVersion > 3 {
		return fmt.Errorf("the table needs reader version %d, supported is 3", p.MinReaderVersion)
	}
	if p.MinReaderVersion == 3 {
		for _, f := range p.ReaderFeatures {
			if !readable(f) {
				return fmt.Errorf("the table uses the feature %q, which is not supported: drop it (ALTER TABLE … DROP FEATURE), or read a copy of the table without it", f)
			}
		}
	}
	return nil
}

// mayWrite refuses tables that need more of a writer than this package does.
func (p *protocol) mayWrite() error {
	if err := p.mayRead(); err != nil {
		return err
	}
	switch {
	case p.MinReaderVersion == 2:
		return errors.New("the table maps columns (reader version 2), which is not supported for writing: write to another table")
	case p.MinWriterVersion <= 2:
		return nil
	case p.MinWriterVersion == 7:
		for _, f := range p.WriterFeatures {
			if !writable(f) {
				return fmt.Errorf("the table uses the feature %q, which is not supported for writing: drop it, or write to another table", f)
			}
		}
		return nil
	}
	return fmt.Errorf("the table needs writer version %d, supported are 2, and 7 with some features", p.MinWriterVersion)
}

// appendOnly tells whether the table's files must stay.
func (m *metaData) appendOnly() bool {
	return strings.EqualFold(m.Configuration["delta.appendOnly"], "true")
}

// escapePath writes a relative path for the log, as a URL.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// place is where a file of the log lies.
func place(dir, path string) (string, error) {
	u, err := url.Parse(path)
	if err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	switch {
	case u.Scheme == "file" || u.Scheme == "" && filepath.IsAbs(u.Path):
		return filepath.FromSlash(u.Path), nil
	case u.Scheme != "":
		return "", fmt.Errorf("path %q lies on another file system", path)
	}
	return filepath.Join(dir, filepath.FromSlash(u.Path)), nil
}
