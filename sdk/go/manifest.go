package wstream

// manifest is the module's description as JSON.
func (m *Module) manifest() []byte {
	b := []byte(`{"abi":1`)
	b = appendMember(b, "name", m.Name)
	b = appendMember(b, "version", m.Version)
	b = append(b, `,"functions":[`...)
	for i := range m.Functions {
		f := &m.Functions[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendString(b, f.Name)
		for _, kv := range [...][2]string{
			{"kind", string(f.Kind)},
			{"doc", f.Doc},
			{"input", f.Input},
			{"output", f.Output},
			{"key", f.Key},
			{"state", f.State},
			{"mode", f.Mode},
			{"timeout", f.Timeout},
			{"time", f.Time},
		} {
			if kv[1] != "" {
				b = appendMember(b, kv[0], kv[1])
			}
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	b = appendList(b, "statements", m.Statements)
	b = appendList(b, "metrics", m.Metrics)
	return append(b, '}')
}

func appendMember(b []byte, key, value string) []byte {
	b = append(b, ',')
	b = appendString(b, key)
	b = append(b, ':')
	return appendString(b, value)
}

func appendList(b []byte, key string, values []string) []byte {
	b = append(b, ',')
	b = appendString(b, key)
	b = append(b, ":["...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, v)
	}
	return append(b, ']')
}

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
