package sql

import "strings"

// collation reads the collation of STRING COLLATE name and checks that Spark would know it.
func (p *parser) collation(d *Type) error {
	start := p.i
	name, err := p.name()
	if err != nil {
		return err
	}
	written := name[len(name)-1].Name
	known := false
	if d.Collation, known = Collation(written); !known {
		p.fault(p.spanFrom(start), "COLLATION_INVALID_NAME",
			"The value %s does not represent a correct collation name. Suggested valid collation names: [%s].",
			written, strings.Join(nearCollations(strings.ToUpper(written)), ", "))
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

// Collation is the name of a collation as Spark writes it, and whether it is one: UTF8_BINARY, UTF8_LCASE, UNICODE or
// a locale, each but the first two perhaps without regard to case (CI) or accents (AI), all perhaps with right trimming.
// What holds anyway, CS and AS, is not written.
func Collation(name string) (string, bool) {
	base, upper := name, strings.ToUpper(name)
	var trim, ci, ai string
	seen := ""
	for {
		cut := strings.LastIndexByte(upper[:len(base)], '_')
		if cut < 0 {
			break
		}
		suffix := upper[cut:len(base)]
		switch suffix {
		case "_RTRIM":
			trim = suffix
		case "_CI":
			ci = suffix
		case "_AI":
			ai = suffix
		case "_CS", "_AS":
		default:
			cut = -1
		}
		if cut < 0 {
			break
		}
		if strings.Contains(seen, suffix[1:2]) { // twice, or CI beside CS
			return upper, false
		}
		seen += suffix[1:2]
		base = base[:cut]
	}
	switch upper = upper[:len(base)]; upper {
	case "UNICODE":
		return upper + ci + ai + trim, true
	case "UTF8_BINARY", "UTF8_LCASE":
		return upper + trim, strings.Trim(seen, "R") == ""
	}
	for _, l := range strings.Fields(locales) {
		if strings.EqualFold(l, base) {
			return l + ci + ai + trim, true
		}
	}
	return strings.ToUpper(name), false
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
