module github.com/wstream/wstream/guests/go

go 1.24

require github.com/wstream/wstream/sdk/go v0.0.0

replace github.com/wstream/wstream/sdk/go => ../../sdk/go
