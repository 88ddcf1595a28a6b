package jsonfmt

import (
	"encoding/json"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
)

// parseInterval reads the text of an interval as CAST does.
func parseInterval(t *columnar.Type, s string) (columnar.Datum, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, badCast(s, t)
	}
	v, err := datumjson.Parse(t, text)
	if err != nil {
		return nil, badCast(s, t)
	}
	return v, nil
}
