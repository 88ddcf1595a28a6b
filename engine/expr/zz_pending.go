package expr

import "regexp"

func compileRegex(p string) (func(string) bool, error) {
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}
