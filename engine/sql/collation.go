package sql

import (
	"slices"
	"strings"
)

// collation reads the collation of STRING COLLATE name and checks that Spark would know it.
func (p *parser) collation(d *Type) error {
	start := p.i
	name, err := p.name()
	if err != nil {
		return err
	}
	d.Collation = strings.ToUpper(name[len(name)-1].Name)
	if !knownCollation(d.Collation) {
		p.fault(p.spanFrom(start), "COLLATION_INVALID_NAME",
			"The value %s does not represent a correct collation name. Suggested valid collation names: [%s].",
			name[len(name)-1].Name, strings.Join(nearCollations(d.Collation), ", "))
	}
	return nil
}

// locales are the locales that ICU has a collation for: a language, perhaps with a script and a
// country of three letters.
const locales = "af am ar ars as az be bg bn bo br bs bs_Cyrl ca ceb chr cs cy da de de_AUT dsb dz ee el en en_USA " +
	"eo es et fa fa_AFG ff ff_Adlm fi fil fo fr fr_CAN fy ga gl gu ha haw he hi hr hsb hu hy id ig is it ja ka kk kl km kn " +
	"ko kok ku ky la lb lkt ln lo lt lv mi mk ml mn mr ms mt my nb ne nl nn no nso om or pa pa_Guru pl ps pt ro ru sa se si sk " +
	"sl smn so sq sr sr_Cyrl sr_Cyrl_BIH sr_Cyrl_MNE sr_Latn sr_Latn_BIH st sv sw ta te th tk tn to tr ug uk ur uz vi wae wo xh " +
	"yi yo zh zh_Hans zh_Hans_SGP zh_Hant zh_Hant_HKG zh_Hant_MAC zu"

// knownCollation tells whether name, in upper case, is a collation: UTF8_BINARY, UTF8_LCASE,
// UNICODE or a locale, each but the first two with case and accent sensitivity, all perhaps with
// right trimming.
func knownCollation(name string) bool {
	base := name
	for {
		cut := base
		for _, suffix := range []string{"_RTRIM", "_CI", "_CS", "_AI", "_AS"} {
			cut = strings.TrimSuffix(cut, suffix)
		}
		if cut == base {
			break
		}
		base = cut
	}
	switch base {
	case "UNICODE":
		return true
	case "UTF8_BINARY", "UTF8_LCASE":
		return name == base || name == base+"_RTRIM"
	}
	return slices.ContainsFunc(strings.Fields(locales), func(l string) bool { return strings.EqualFold(l, base) })
}

// nearCollations are a few locales that are spelt like the name, or else the usual collations.
func nearCollations(name string) []string {
	var out []string
	for _, l := range strings.Fields(locales) {
		if len(out) < 3 && editDistance(strings.ToUpper(l), name) <= 2 {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		out = []string{"UTF8_BINARY", "UTF8_LCASE", "UNICODE"}
	}
	return out
}
