package records

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// decimalSymbols are the characters that a locale puts into numbers.
type decimalSymbols struct{ point, group string }

// symbolsOf knows the locales of the larger languages; nil stands for en-US, in which commas are dropped wherever they
// stand.
func symbolsOf(locale string) *decimalSymbols {
	if strings.EqualFold(strings.ReplaceAll(locale, "_", "-"), "en-US") || locale == "" {
		return nil
	}
	lang, region, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), "-")
	switch lang {
	case "de", "it", "rm":
		if region == "ch" || region == "li" {
			return &decimalSymbols{".", "’"}
		}
		if lang == "de" && region == "at" {
			return &decimalSymbols{",", "\u00a0"}
		}
		return &decimalSymbols{",", "."}
	case "es":
		switch region {
		case "mx", "us", "pr", "gt", "hn", "ni", "pa", "pe", "sv", "do":
			return &decimalSymbols{".", ","}
		}
		return &decimalSymbols{",", "."}
	case "nl", "pt", "da", "tr", "id", "in", "el", "ro", "hr", "sl", "sr", "vi", "is", "gl", "ca", "mk", "bs", "az":
		if lang == "pt" && region == "pt" {
			return &decimalSymbols{",", "\u00a0"}
		}
		return &decimalSymbols{",", "."}
	case "fr":
		if region == "ch" {
			return &decimalSymbols{",", "\u202f"}
		}
		return &decimalSymbols{",", "\u202f"}
	case "ru", "uk", "be", "cs", "sk", "bg", "fi", "sv", "nb", "nn", "no", "pl", "hu", "et", "lt", "lv", "kk", "ka", "hy", "sq":
		return &decimalSymbols{",", "\u00a0"}
	}
	return &decimalSymbols{".", ","}
}

// ParseDecimal reads a DECIMAL in the form of the locale: grouping characters may stand anywhere in front of the point.
// More digits behind the point than the type has are rounded half up.
func (f *Formats) ParseDecimal(t *columnar.Type, s string) (columnar.Dec128, error) {
	text := s
	if f.decimals == nil {
		text = strings.ReplaceAll(s, ",", "")
	} else {
		whole, frac, point := strings.Cut(text, f.decimals.point)
		if strings.Contains(frac, f.decimals.point) || strings.Contains(frac, f.decimals.group) || strings.ContainsAny(frac, ".") {
			return columnar.Dec128{}, BadCast(s, t)
		}
		if text = strings.ReplaceAll(whole, f.decimals.group, ""); f.decimals.point != "." && strings.Contains(text, ".") {
			return columnar.Dec128{}, BadCast(s, t)
		}
		if point {
			text += "." + frac
		}
	}
	if text == "" || text[0] <= ' ' || text[len(text)-1] <= ' ' {
		return columnar.Dec128{}, BadCast(s, t)
	}
	v, status := javatext.ParseDecimal(text, t.Precision, t.Scale)
	switch status {
	case javatext.DecimalOK:
		return columnar.Dec128{Lo: v.Lo, Hi: v.Hi}, nil
	case javatext.DecimalInvalid:
		return columnar.Dec128{}, BadCast(s, t)
	}
	return columnar.Dec128{}, sparkerr.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "%.60s does not fit %s", s, t.SQL())
}
