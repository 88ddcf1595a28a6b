package main

import (
	"strings"

	"github.com/wstream/wstream/pipeline"
)

// loadSet reads pipeline files and applies --set KEY=VALUE.
func (p *program) loadSet(paths, sets []string) ([]*pipeline.File, error) {
	files, err := p.loadFiles(paths)
	if err != nil {
		return nil, err
	}
	for _, kv := range sets {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, invalid("flag --set: found %q, expected KEY=VALUE", kv)
		}
		hit := false
		var last error
		for _, f := range files {
			if err := f.Set(k, v); err != nil {
				last = err
				continue
			}
			hit = true
		}
		if !hit {
			return nil, &coded{last, exitInvalid}
		}
	}
	return files, nil
}

// pipelineSets are the --set flags that concern the file rather than the session.
func pipelineSets(sets []string) []string {
	var out []string
	for _, kv := range sets {
		if k, _, _ := strings.Cut(kv, "="); strings.Contains(k, ".") && !strings.HasPrefix(k, "spark.") {
			out = append(out, kv)
		}
	}
	return out
}
