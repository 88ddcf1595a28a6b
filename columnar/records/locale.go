package records

import (
	"strconv"
	"strings"
)

// localeNames holds the names of months and days of a language, full and short.
type localeNames struct {
	months, shortMonths [12]string
	days, shortDays     [7]string // from Monday on
}

var english = localeNames{
	months:      [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	shortMonths: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	days:        [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	shortDays:   [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
}

// numberedMonths are the names of languages that count their months. Days have their English names, which no text of
// such a language has.
func numberedMonths(word string) *localeNames {
	n := &localeNames{days: english.days, shortDays: english.shortDays}
	for i := range n.months {
		n.months[i] = strconv.Itoa(i+1) + word
		n.shortMonths[i] = n.months[i]
	}
	return n
}

// namesOf gives the names of a locale's language, nil for English and for languages that are not known here. The
// names are those of CLDR, in the form that they have within a date.
func namesOf(locale string) *localeNames {
	lang, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), "-")
	switch lang {
	case "ja", "zh":
		return numberedMonths("月")
	case "ko":
		return numberedMonths("월")
	case "de":
		return &localeNames{
			months:      [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
			shortMonths: [12]string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."},
			days:        [7]string{"Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"},
			shortDays:   [7]string{"Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."},
		}
	case "fr":
		return &localeNames{
			months:      [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
			shortMonths: [12]string{"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
			days:        [7]string{"lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"},
			shortDays:   [7]string{"lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."},
		}
	case "es":
		return &localeNames{
			months:      [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
			shortMonths: [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
			days:        [7]string{"lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"},
			shortDays:   [7]string{"lun", "mar", "mié", "jue", "vie", "sáb", "dom"},
		}
	case "it":
		return &localeNames{
			months:      [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
			shortMonths: [12]string{"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
			days:        [7]string{"lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"},
			shortDays:   [7]string{"lun", "mar", "mer", "gio", "ven", "sab", "dom"},
		}
	case "pt":
		return &localeNames{
			months:      [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
			shortMonths: [12]string{"jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."},
			days:        [7]string{"segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"},
			shortDays:   [7]string{"seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom."},
		}
	case "nl":
		return &localeNames{
			months:      [12]string{"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"},
			shortMonths: [12]string{"jan.", "feb.", "mrt.", "apr.", "mei", "jun.", "jul.", "aug.", "sep.", "okt.", "nov.", "dec."},
			days:        [7]string{"maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"},
			shortDays:   [7]string{"ma", "di", "wo", "do", "vr", "za", "zo"},
		}
	}
	return nil
}

// isWord tells whether r is part of a name, so that no name is found within another word.
func isWord(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80)
}

// indexFold is strings.Index without regard to case, as texts are read.
func indexFold(s, name string) int {
	for i := 0; i+len(name) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(name)], name) {
			return i
		}
	}
	return -1
}

// swap replaces words of s that are in from by those of to at the same place; longer ones go first.
func swap(s string, from, to *localeNames) string {
	replace := func(name, by string) bool {
		if name == "" || by == "" {
			return false
		}
		for at := 0; ; {
			i := indexFold(s[at:], name)
			if i < 0 {
				return false
			}
			i += at
			if !isWord(s, i-1) && !isWord(s, i+len(name)) {
				s = s[:i] + by + s[i+len(name):]
				return true
			}
			at = i + 1
		}
	}
	month := func() {
		for i, n := range from.months {
			if replace(n, to.months[i]) {
				return
			}
		}
		for i, n := range from.shortMonths {
			if replace(n, to.shortMonths[i]) {
				return
			}
		}
	}
	day := func() {
		for i, n := range from.days {
			if replace(n, to.days[i]) {
				return
			}
		}
		for i, n := range from.shortDays {
			if replace(n, to.shortDays[i]) {
				return
			}
		}
	}
	month()
	day()
	return s
}

// only keeps the full or the short names of months and days, as a pattern has them.
func (n *localeNames) only(fullMonths, fullDays bool) *localeNames {
	if n == nil {
		return nil
	}
	out := *n
	if fullMonths {
		out.shortMonths = [12]string{}
	} else {
		out.months = [12]string{}
	}
	if fullDays {
		out.shortDays = [7]string{}
	} else {
		out.days = [7]string{}
	}
	return &out
}

// toEnglish makes English names of the locale's.
func (n *localeNames) toEnglish(s string) string {
	if n == nil {
		return s
	}
	if out := swap(s, n, &english); out != s || swap(s, &english, n) == s {
		return out
	}
	return "" // an English name where the locale has another one fits no pattern
}

// fromEnglish makes the locale's names of English ones.
func (n *localeNames) fromEnglish(s string) string {
	if n == nil {
		return s
	}
	return swap(s, &english, n)
}
