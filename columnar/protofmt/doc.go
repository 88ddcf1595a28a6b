// Package protofmt reads and writes single values in the binary form of Protocol Buffers: the messages of a broker, which
// have no file around them. A descriptor (of protoc, or of a schema in a registry) is compiled once against the types
// that Spark's protobuf connector gives; the bytes then go straight into the builders of columns, and from columns into
// bytes, without a message object in between.
package protofmt
