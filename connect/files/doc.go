// Package files reads and writes folders of files: JSON, CSV, text and Parquet, as sources that see
// new files, as static tables, and as sinks with a manifest.
//
// A source lists a folder or glob, in order of modification time and then of name, and reads each path once. Which files
// belong to which batch stands in the source's log in the checkpoint, durable before the batch is planned. A file is one
// partition; a text file is cut into chunks of lines that the engine decodes in parallel.
package files
