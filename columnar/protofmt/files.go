package protofmt

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Files are the descriptors of one or several .proto files. They are immutable.
type Files struct {
	list  []protoreflect.FileDescriptor
	types *protoregistry.Files
}

// ParseDescriptorSet reads a FileDescriptorSet, as protoc writes it with --descriptor_set_out and --include_imports.
// Bytes that are none are CANNOT_PARSE_PROTOBUF_DESCRIPTOR, an import that is not in the set PROTOBUF_DEPENDENCY_NOT_FOUND.
func ParseDescriptorSet(data []byte) (*Files, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		return nil, unusable(err)
	}
	return newFiles(&set)
}

func unusable(cause error) error {
	return sparkerr.New("CANNOT_PARSE_PROTOBUF_DESCRIPTOR",
		"the bytes are no Protobuf FileDescriptorSet; write one by protoc --include_imports --descriptor_set_out=FILE").WithCause(cause)
}

func newFiles(set *descriptorpb.FileDescriptorSet) (*Files, error) {
	have := map[string]bool{}
	for _, f := range set.File {
		have[f.GetName()] = true
	}
	for _, f := range set.File {
		for _, d := range f.Dependency {
			if !have[d] {
				return nil, sparkerr.New("PROTOBUF_DEPENDENCY_NOT_FOUND",
					"could not find the dependency %q of %q; write the descriptor with protoc --include_imports", d, f.GetName())
			}
		}
	}
	types, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, unusable(err)
	}
	out := &Files{types: types}
	for _, f := range set.File {
		d, err := types.FindFileByPath(f.GetName())
		if err != nil {
			return nil, unusable(err)
		}
		out.list = append(out.list, d)
	}
	return out, nil
}

// Message finds a message by its name, with or without its package. A name that is not there is
// PROTOBUF_MESSAGE_NOT_FOUND.
func (f *Files) Message(name string) (protoreflect.MessageDescriptor, error) {
	for _, file := range f.list {
		all := file.Messages()
		for i := range all.Len() {
			if m := all.Get(i); string(m.Name()) == name || string(m.FullName()) == name {
				return m, nil
			}
		}
	}
	if d, err := f.types.FindDescriptorByName(protoreflect.FullName(name)); err == nil {
		if m, ok := d.(protoreflect.MessageDescriptor); ok {
			return m, nil
		}
	}
	var known []string
	for _, file := range f.list {
		all := file.Messages()
		for i := range all.Len() {
			known = append(known, string(all.Get(i).FullName()))
		}
	}
	if len(known) > 20 {
		known = append(known[:20], "…")
	}
	return nil, sparkerr.New("PROTOBUF_MESSAGE_NOT_FOUND", "unable to locate the message %q in the descriptor, which has %s", name, strings.Join(known, ", "))
}

// At finds the message at a path of positions in the first file: the first number is that of a message of the file, each
// further one that of a message within. It is how the frame of a registry names a message.
func (f *Files) At(path []int) (protoreflect.MessageDescriptor, error) {
	var m protoreflect.MessageDescriptor
	in := f.list[0].Messages()
	for _, i := range path {
		if i < 0 || i >= in.Len() {
			return nil, sparkerr.New("PROTOBUF_MESSAGE_NOT_FOUND", "the frame names message %v of %q, which has no message at %d", path, f.list[0].Path(), i)
		}
		m = in.Get(i)
		in = m.Messages()
	}
	if m == nil {
		return nil, sparkerr.New("PROTOBUF_MESSAGE_NOT_FOUND", "the frame names no message of %q", f.list[0].Path())
	}
	return m, nil
}

// PathOf is the path that At finds m by; ok is false for a message of another file than the first.
func (f *Files) PathOf(m protoreflect.MessageDescriptor) (path []int, ok bool) {
	if m.ParentFile().Path() != f.list[0].Path() {
		return nil, false
	}
	for d := protoreflect.Descriptor(m); ; d = d.Parent() {
		if _, is := d.(protoreflect.MessageDescriptor); !is {
			return path, true
		}
		path = append([]int{d.Index()}, path...)
	}
}
