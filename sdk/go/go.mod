module github.com/wstream/wstream/sdk/go

go 1.24
