package sql

import "strings"

// keywordList holds the words that the parser gives a meaning to. None of them is reserved: each may
// also be a name wherever it cannot be the keyword.
const keywordList = `
AGGREGATE ALL AND ANTI ANY ANY_VALUE ARRAY AS ASC BETWEEN BIGINT BINARY BOOLEAN BOTH BUCKET BY BYTE
CASE CAST CHAR CHARACTER CLUSTER CODEGEN COLLATE COMMENT COST CREATE CROSS CUBE CURRENT
DATE DATEADD DATEDIFF DATE_ADD DATE_DIFF DAY DAYOFYEAR DAYS DEC DECIMAL DELAY DESC DESCRIBE DISTINCT DISTRIBUTE
DIV DOUBLE DROP ELSE END ESCAPE EXCEPT EXCLUDE EXISTS EXPLAIN EXTEND EXTENDED EXTRACT FALSE FILTER FIRST FLOAT
FOLLOWING FOR FORMATTED FROM FULL GEOGRAPHY GEOMETRY GLOBAL GROUP GROUPING HAVING HOUR HOURS IDENTIFIER IF IGNORE
ILIKE IN INCLUDE INNER INT INTEGER INTERSECT INTERVAL IS JOIN LAST LATERAL LEADING LEFT LEVEL LIKE LIMIT LOCAL LOGICAL
LONG MAP MAX MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS MINUS MINUTE MINUTES MONTH MONTHS NANOSECOND
NANOSECONDS NATURAL NOT NULL NULLS NUMERIC OF OFFSET ON OR ORDER OUT OUTER OVER OVERLAY PARTITION PERCENT PIVOT
PLACING POSITION PRECEDING QUALIFY QUARTER QUERY RANGE REAL RECURSION RECURSIVE REPEATABLE REPLACE RESPECT RIGHT RLIKE
ROLLUP ROW ROWS SECOND SECONDS SELECT SEMI SET SETS SHORT SINGLE SMALLINT SOME SORT STREAM STRING STRUCT SUBSTR
SUBSTRING SYSTEM_TIME SYSTEM_VERSION TABLE TABLESAMPLE TEMPORARY THEN TIME TIMEDIFF TIMESTAMP TIMESTAMPADD
TIMESTAMPDIFF TIMESTAMP_LTZ TIMESTAMP_NTZ TINYINT TO TRAILING TRIM TRUE TRY_CAST UNBOUNDED UNION UNKNOWN UNPIVOT
USING VALUES VARCHAR VARIANT VERSION VIEW VOID WATERMARK WEEK WEEKS WHEN WHERE WINDOW WITH WITHIN WITHOUT X YEAR
YEARS ZONE`

// synonyms are the words that Spark's lexer reads as another keyword.
const synonyms = "REGEXP RLIKE TEMP TEMPORARY"

// keywordTable maps each keyword, in upper case, to itself, and each synonym to its keyword.
type keywordTable map[string]string

// newKeywordTable makes the table.
func newKeywordTable() keywordTable {
	words := strings.Fields(keywordList)
	t := make(keywordTable, len(words)+2)
	for _, w := range words {
		t[w] = w
	}
	pairs := strings.Fields(synonyms)
	for i := 0; i < len(pairs); i += 2 {
		t[pairs[i]] = pairs[i+1]
	}
	return t
}

// keywords is never changed.
var keywords = newKeywordTable()

// maxKeywordLen is the length of the longest keyword.
const maxKeywordLen = 16

// keywordOf returns the keyword that the word spells in any case, or "".
func keywordOf(word string) string {
	if len(word) > maxKeywordLen {
		return ""
	}
	var buf [maxKeywordLen]byte
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	return keywords[string(buf[:len(word)])]
}

// strictWord tells whether the keyword cannot name a table without back quotes: it would be taken for
// the join or the set operation that follows a table.
func strictWord(word string) bool {
	switch word {
	case "ANTI", "CROSS", "EXCEPT", "FULL", "INNER", "INTERSECT", "JOIN", "LATERAL", "LEFT", "NATURAL",
		"ON", "RIGHT", "SEMI", "MINUS", "UNION", "USING":
		return true
	}
	return false
}

// clauseWords are the keywords that begin or continue a clause, the ones worth suggesting when a
// name looks like a misspelt one.
func clauseWords() []string {
	return []string{
		"SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION", "INTERSECT",
		"EXCEPT", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER", "LATERAL", "WINDOW", "VALUES", "WITH",
		"BETWEEN", "LIKE", "USING", "PARTITION", "CLUSTER", "DISTRIBUTE", "PIVOT", "UNPIVOT", "TABLESAMPLE",
	}
}
