// Command gen makes wire.pb.go of wire.proto, without programs from elsewhere.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	// source is the name under which programs that link the messages know them.
	source = "holdfast/messages/wire/wire.proto"
	target = "wire.pb.go"
)

func main() {
	code, err := generate(".")
	if err == nil {
		err = os.WriteFile(target, code, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate returns the Go code of the messages in a directory.
func generate(dir string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{Accessor: func(name string) (io.ReadCloser, error) {
			return os.Open(filepath.Join(dir, filepath.Base(name)))
		}},
		SourceInfoMode: protocompile.SourceInfoStandard, // comments become those of the code
	}
	files, err := compiler.Compile(context.Background(), source)
	if err != nil {
		return nil, err
	}
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{source}, Parameter: proto.String("paths=source_relative"),
		ProtoFile: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])},
	})
	if err != nil {
		return nil, err
	}
	internal_gengo.GenerateFile(plugin, plugin.Files[0])
	response := plugin.Response()
	if response.Error != nil {
		return nil, fmt.Errorf("%s: %s", source, *response.Error)
	}
	return []byte(response.GetFile()[0].GetContent()), nil
}
