import java.time.*;
import java.util.*;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes the tables in ../testdata that need Spark 4.2's jars on the class path: java -cp 'JARS/*' SparkGolden.java TABLE > ../testdata/TABLE.txt
 * A number behind TABLE asks for so many lines. The table "casing" is ../casing.txt.
 */
public class SparkGolden {
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "number": numbers(Integer.parseInt(args.length > 1 ? args[1] : "1000")); break;
      case "interval": intervals(Integer.parseInt(args.length > 1 ? args[1] : "1000")); break;
      case "casing": casing(); break;
      case "case": cases(Integer.parseInt(args.length > 1 ? args[1] : "600")); break;
      case "text": texts(Integer.parseInt(args.length > 1 ? args[1] : "800")); break;
      case "uri": uris(Integer.parseInt(args.length > 1 ? args[1] : "1200")); break;
      case "like": likes(Integer.parseInt(args.length > 1 ? args[1] : "800")); break;
      case "pattern": patterns(Integer.parseInt(args.length > 1 ? args[1] : "1200")); break;
      case "printf": printfs(Integer.parseInt(args.length > 1 ? args[1] : "1500")); break;
      case "decimalformat": decimalFormats(Integer.parseInt(args.length > 1 ? args[1] : "1200")); break;
      case "tochar": toChars(Integer.parseInt(args.length > 1 ? args[1] : "1500")); break;
      case "round": rounds(Integer.parseInt(args.length > 1 ? args[1] : "1000")); break;
      case "datetime": datetimes(Integer.parseInt(args.length > 1 ? args[1] : "1500"), args.length > 2 ? Integer.parseInt(args[2]) : 19); break;
    }
  }

  static String quote(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < ' ' || c == 0x7f) b.append(String.format("\\x%02x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }

  static String mutate(Random r, String s, String alphabet) {
    StringBuilder b = new StringBuilder(s);
    for (int n = r.nextInt(3); n > 0; n--) {
      int i = b.length() == 0 ? 0 : r.nextInt(b.length());
      char c = alphabet.charAt(r.nextInt(alphabet.length()));
      switch (r.nextInt(3)) {
        case 0: b.insert(i, c); break;
        case 1: if (b.length() > 0) b.deleteCharAt(i); break;
        default: if (b.length() > 0) b.setCharAt(i, c);
      }
    }
    return b.toString();
  }

  static String show(Object o) {
    scala.Option<?> x = (scala.Option<?>) o;
    return x.isEmpty() ? "-" : x.get().toString();
  }

  // text \t zone \t date \t timestamp \t timestamp_ntz \t time, "-" where it is none
  static void datetimes(int n, int seed) {
    Random r = new Random(seed);
    String[] seeds = {"2026-03-01", "2026-3-1", "2026", "2026-03", "2026-03-01 10:11:12", "2026-03-01T10:11:12.123456789Z", "2026-03-01 10:11:12.5+02:00",
      "2026-03-08 02:30:00 America/New_York", "10:11:12", "T10:11", "10:11:12.5 PM", "9:05am", "-290308-12-21 19:59:05.224192", "294247-01-10 04:00:54.775807",
      "+10000-01-01 00:00:00", "-0001-12-31", "5881580-07-11", "-5877641-06-23", "2026-03-01 10:11 GMT+2", "2026-03-01 10:11:12.1 UTC-03:30", "  2026-12-31 23:59:59.999999  ",
      "2026-03-01 10", "0000-01-01 00:00", "2024-02-29T23:59:59+0530", "2026-03-01 1:2:3.4-2", "2026-10-25 02:30:00 Europe/Berlin", "2026-03-01Thello", "1883-11-18 12:00:00",
      "2026-03-01 10:11:12 PST", "2026-03-01 10:11:12+1:30", "12:00 AM", "12:59:59.999999pm", "2026-03-01 10:11:12.1234567 +02:00:30"};
    String[] zones = {"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "America/Sao_Paulo", "Africa/Casablanca"};
    for (int i = 0; i < n; i++) {
      String s = i < seeds.length ? seeds[i] : mutate(r, seeds[r.nextInt(seeds.length)], "0123456789-+:. TZApPm/_\tU");
      String z = zones[r.nextInt(zones.length)];
      UTF8String u = UTF8String.fromString(s);
      // Times alone are of today, so that their timestamps cannot stand in a table.
      String ts = show(DateTimeUtils.stringToTimestamp(u, ZoneId.of(z)));
      if (s.trim().matches("(T.*|\\d+:.*)") && !ts.equals("-")) ts = "today";
      System.out.println(quote(s) + "\t" + z + "\t" + show(DateTimeUtils.stringToDate(u)) + "\t" + ts + "\t"
          + show(DateTimeUtils.stringToTimestampWithoutTimeZone(u)) + "\t" + show(DateTimeUtils.stringToTime(u)));
    }
  }

  // text \t bigint \t bigint without ANSI \t boolean \t decimal(12,3) \t decimal(38,10) \t Java's double \t Java's float \t conv 10 to -16
  static void numbers(int n) {
    Random r = new Random(20);
    String[] seeds = {"1", "-7", "+3", " 12 ", "\t5\n", "1.5", ".5", "1.", "1e3", "1E-2", "0x1F", "", " ", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
      "99999999999999999999", "0x1.8p3", "1d", "1.5F", "NaN", "Infinity", "-Infinity", "+NaN", "1e400", "-1e-400", "4.9e-324", "1e38", "1e39", "0e100", "123456789.1235", "999999999.9995",
      "12345678901234567890123456789012345678.5", "0.00000000005", "0.00000000004999", "-0.0005", "t", "TRUE", " y ", "No", "1e2147483648", "1e99999999999", "00012", "--1", "\u0661\u0662", "\uff11.\uff12",
      "1.7976931348623159e308", "3.4028236e38", "16777217", "1e-10", "ff", "-FF", "zz", "18446744073709551615", "18446744073709551616", "-1", "-9223372036854775809", "1,000", "\u0000 1", "\u007f1\u007f", "0x1p", "0x.8p1", "0x1.p-2d"};
    for (int i = 0; i < n; i++) {
      String s = i < seeds.length ? seeds[i] : mutate(r, seeds[r.nextInt(seeds.length)], "0123456789-+.eE xXpdDfFaA");
      UTF8String u = UTF8String.fromString(s);
      UTF8String.LongWrapper w = new UTF8String.LongWrapper();
      String exact = "-", loose = "-", b = "-";
      try { exact = "" + u.toLongExact(); } catch (Exception e) { }
      if (s.matches("(?s).*[eE]-?\\d{5,}.*") && !s.contains("1e2147483648")) continue; // takes BigDecimal too long
      if (u.toLong(w)) loose = "" + w.value;
      if (org.apache.spark.sql.catalyst.util.StringUtils.isTrueString(u)) b = "true";
      if (org.apache.spark.sql.catalyst.util.StringUtils.isFalseString(u)) b = "false";
      String d = "-", f = "-";
      try { d = Long.toHexString(Double.doubleToLongBits(Double.parseDouble(s))); } catch (NumberFormatException e) { }
      try { f = Integer.toHexString(Float.floatToIntBits(Float.parseFloat(s))); } catch (NumberFormatException e) { }
      UTF8String c = org.apache.spark.sql.catalyst.util.NumberConverter.convert(u.trim().getBytes(), 10, -16, false, null);
      UTF8String c2 = org.apache.spark.sql.catalyst.util.NumberConverter.convert(u.trim().getBytes(), 36, 10, false, null);
      System.out.println(quote(s) + "\t" + exact + "\t" + loose + "\t" + b + "\t" + decimal(u, 12, 3) + "\t" + decimal(u, 38, 10) + "\t" + d + "\t" + f + "\t" + c + "\t" + c2);
    }
  }

  static String decimal(UTF8String u, int p, int s) {
    DecimalType t = new DecimalType(p, s);
    Decimal d;
    try {
      d = Decimal.fromStringANSI(u, t, null);
    } catch (Exception e) {
      return e.toString().contains("NUMERIC_OUT_OF_SUPPORTED_RANGE") ? "unsupported" : "-";
    }
    Decimal x = d.toPrecision(p, s, Decimal.ROUND_HALF_UP(), true, null);
    return x == null ? "large" : x.toJavaBigDecimal().setScale(s).toPlainString();
  }

  // bits of a double \t places \t half up \t half even \t ceiling \t floor as doubles \t half up as a float \t decimal(20,4) of the double
  static void rounds(int n) {
    Random r = new Random(21);
    for (int i = 0; i < n; i++) {
      double d;
      switch (i % 6) {
        case 0: d = r.nextInt(100000) / 1000.0; break;
        case 1: d = -r.nextInt(20001) / 200.0; break;
        case 2: d = r.nextLong() * Math.pow(10, r.nextInt(40) - 30); break;
        case 3: d = (r.nextInt(2001) - 1000) / 2.0; break;
        case 4: d = Double.longBitsToDouble(r.nextLong()); if (d != d || Double.isInfinite(d)) d = -0.0; break;
        default: d = 9.995 * Math.pow(10, r.nextInt(12) - 6);
      }
      int p = i % 6 == 4 ? r.nextInt(400) - 200 : r.nextInt(8) - 4;
      scala.math.BigDecimal b = scala.math.BigDecimal.decimal(d);
      StringBuilder out = new StringBuilder(Long.toHexString(Double.doubleToRawLongBits(d)) + "\t" + p);
      for (java.math.RoundingMode m : new java.math.RoundingMode[] {java.math.RoundingMode.HALF_UP, java.math.RoundingMode.HALF_EVEN, java.math.RoundingMode.CEILING, java.math.RoundingMode.FLOOR}) {
        double x = b.bigDecimal().setScale(p, m).doubleValue();
        out.append("\t").append(x);
      }
      float f = (float) d;
      out.append("\t").append(Float.isInfinite(f) ? "-" : "" + scala.math.BigDecimal.decimal((double) f).bigDecimal().setScale(p, java.math.RoundingMode.HALF_UP).floatValue());
      Decimal x = Decimal.apply(d).toPrecision(20, 4, Decimal.ROUND_HALF_UP(), true, null);
      out.append("\t").append(x == null ? "large" : x.toJavaBigDecimal().setScale(4).toPlainString());
      System.out.println(out);
    }
  }

  // "text" \t start \t end \t value or condition (- for a bare Java exception) \t as Spark prints it
  static void intervals(int n) {
    Random r = new Random(22);
    String[] seeds = {"1 year 2 months", "interval 1 day -2 hours 3.5 seconds", "1 week 2 days", "-1 microsecond 5 milliseconds", "1-2", "-1-2", "1 02:03:04.5", "-1 02:03:04.123456789",
      "30:00:00", "5:6", "1 2", "1 2:3", "INTERVAL '1-2' YEAR TO MONTH", "interval -'1 02:03:04.5' day to second", "INTERVAL '5' DAY", "interval +'-5.5' second", "178956970-7", "106751991 04:00:54.775807",
      "106751991 04:00:54.775808", "2562047788:00:54.775807", "1.5", "-0.5", "999999999", "9223372036854.775807", ".5 seconds", "1. second", "+ 1 day", "-  3 hours", "INTERVAL '03:04.5' MINUTE TO SECOND",
      "Interval '1 2' Day To Hour", "2147483647 months", "2147483648 days", "9223372036854775807 microseconds", "1 years 2 weeks 3 days 4 hours 5 minutes 6.789 seconds", "|5", "12", "1 day 1 day"};
    byte[][] types = {{-1, -1}, {0, 0}, {0, 1}, {1, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 5}, {3, 3}, {3, 4}, {3, 5}, {4, 4}, {4, 5}, {5, 5}};
    for (int i = 0; i < n; i++) {
      String s = i < seeds.length ? seeds[i] : mutate(r, seeds[r.nextInt(seeds.length)], "0123456789-+:. |'\tsydIE");
      byte[] t = types[r.nextInt(types.length)];
      String value, text = "";
      try {
        UTF8String u = UTF8String.fromString(s);
        if (t[0] < 0) {
          org.apache.spark.unsafe.types.CalendarInterval c = org.apache.spark.sql.catalyst.util.IntervalUtils.stringToInterval(u);
          value = c.months + "," + c.days + "," + c.microseconds;
          text = c.toString();
        } else if (t[0] < 2) {
          int m = org.apache.spark.sql.catalyst.util.IntervalUtils.castStringToYMInterval(u, t[0], t[1]);
          value = "" + m;
          text = org.apache.spark.sql.catalyst.util.IntervalUtils.toYearMonthIntervalString(m, org.apache.spark.sql.catalyst.util.IntervalStringStyles.ANSI_STYLE(), t[0], t[1]);
        } else {
          long m = org.apache.spark.sql.catalyst.util.IntervalUtils.castStringToDTInterval(u, (byte) (t[0] - 2), (byte) (t[1] - 2));
          value = "" + m;
          text = org.apache.spark.sql.catalyst.util.IntervalUtils.toDayTimeIntervalString(m, org.apache.spark.sql.catalyst.util.IntervalStringStyles.ANSI_STYLE(), (byte) (t[0] - 2), (byte) (t[1] - 2));
        }
      } catch (Exception e) {
        value = e instanceof org.apache.spark.SparkThrowable ? ((org.apache.spark.SparkThrowable) e).getCondition() : "-";
        if (value == null) value = "-";
      }
      System.out.println(quote(s) + "\t" + t[0] + "\t" + t[1] + "\t" + value + "\t" + text);
    }
  }

  static String pick(Random r, String[] parts, int most) {
    StringBuilder b = new StringBuilder();
    for (int k = r.nextInt(most + 1); k > 0; k--) b.append(parts[r.nextInt(parts.length)]);
    return b.toString();
  }

  // text, upper, lower, initcap
  static void cases(int n) {
    Random r = new Random(24);
    String[] parts = {"a", "B", "straße", "ΑΣ", "Σ", "σ", "ς", " ", "-", ".", "'", "İ", "ı", "i\u0307", "ﬁ", "ǆ", "ǅ", "Ǆ", "é", "É", "e\u0301", "1", "_", "日本", "😀", "\t", "\u00a0", "\u0345", "ᾳ", "ΐ", "ŉ", "Ω", "\u2126", "ꟺ", "𐐀", "𐐨", "(", "\n", "ß", "ẞ", "\u3000", ":", "\u00ad"};
    for (int i = 0; i < n; i++) {
      UTF8String u = UTF8String.fromString(pick(r, parts, 7));
      System.out.println(quote(u.toString()) + "\t" + quote(org.apache.spark.sql.catalyst.util.CollationSupport.Upper.exec(u, 0, true).toString()) + "\t"
          + quote(org.apache.spark.sql.catalyst.util.CollationSupport.Lower.exec(u, 0, true).toString()) + "\t"
          + quote(org.apache.spark.sql.catalyst.util.CollationSupport.InitCap.exec(u, 0, true).toString()));
    }
  }

  static String hex(byte[] b) {
    StringBuilder s = new StringBuilder();
    for (byte x : b) s.append(String.format("%02x", x));
    return s.toString();
  }

  // two texts as hex: characters of the first, is it valid, made valid, soundex, Levenshtein of both, with threshold 2, position, length, substring,
  // URL encoded, URL decoded, unbase64, to_binary, encodings in UTF-16, UTF-16LE, UTF-32, ISO-8859-1, US-ASCII, decodings from them
  static void texts(int n) throws Exception {
    Random r = new Random(25);
    String[] parts = {"a", "b", "R", "obert", "Ashcraft", " ", "é", "日本", "😀", "%41", "%", "+", "%e6%97%a5", "%zz", "=", "==", "YWJj", "YQ", "/", "\n", "-", "_", "~", "*", "\u0000", "\ufeff", "Z", "1", "%+1", "%ff"};
    byte[][] raw = {{(byte) 0xff}, {(byte) 0xc3}, {(byte) 0xe6, (byte) 0x97}, {(byte) 0xf0, (byte) 0x9f, (byte) 0x98}, {(byte) 0xc0, (byte) 0x80}, {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, {(byte) 0x80}, {(byte) 0xf5, 0x41}, {(byte) 0xd8, 0x3d}, {(byte) 0xfe, (byte) 0xff}, {0, 0x61}, {0, 0, 0, 0x62}};
    for (int i = 0; i < n; i++) {
      java.io.ByteArrayOutputStream o = new java.io.ByteArrayOutputStream();
      for (int k = r.nextInt(5); k > 0; k--) {
        if (i % 3 == 0 && r.nextInt(3) == 0) o.write(raw[r.nextInt(raw.length)]);
        else o.write(parts[r.nextInt(parts.length)].getBytes("UTF-8"));
      }
      UTF8String u = UTF8String.fromBytes(o.toByteArray());
      UTF8String v = UTF8String.fromString(i % 2 == 0 ? pick(r, parts, 3) : mutate(r, u.makeValid().toString(), "abé"));
      int[] positions = {0, 1, 2, 3, -1, -2, -5, 10, Integer.MIN_VALUE, Integer.MAX_VALUE};
      int[] lengths = {0, 1, 2, 3, -1, 100, Integer.MAX_VALUE, Integer.MIN_VALUE};
      int p = positions[r.nextInt(positions.length)], l = lengths[r.nextInt(lengths.length)];
      StringBuilder b = new StringBuilder(hex(u.getBytes()) + "\t" + hex(v.getBytes()));
      b.append("\t").append(u.numChars()).append("\t").append(u.isValid()).append("\t").append(hex(u.makeValid().getBytes())).append("\t").append(hex(u.soundex().getBytes()));
      b.append("\t").append(u.levenshteinDistance(v)).append("\t").append(u.levenshteinDistance(v, 2));
      b.append("\t").append(p).append("\t").append(l).append("\t").append((u.isValid() ? hex(u.substringSQL(p, l).getBytes()) : "?")); // beyond the end of an ill-formed text Spark reads what is behind it
      b.append("\t").append(java.net.URLEncoder.encode(u.toString(), "UTF-8"));
      String d;
      try { d = hex(java.net.URLDecoder.decode(u.toString(), "UTF-8").getBytes("UTF-8")); } catch (IllegalArgumentException e) { d = "-"; }
      b.append("\t").append(d);
      try { d = hex(java.util.Base64.getMimeDecoder().decode(u.toString())); } catch (IllegalArgumentException e) { d = "-"; }
      b.append("\t").append(d);
      try { d = org.apache.spark.sql.catalyst.expressions.UnBase64.isValidBase64(u) ? hex(java.util.Base64.getMimeDecoder().decode(u.toString())) : "-"; } catch (IllegalArgumentException e) { d = "-"; }
      b.append("\t").append(d);
      for (String c : new String[] {"UTF-16", "UTF-16LE", "UTF-32", "ISO-8859-1", "US-ASCII"}) {
        try { d = hex(bytes(java.nio.charset.Charset.forName(c).newEncoder().encode(java.nio.CharBuffer.wrap(u.toString())))); } catch (java.nio.charset.CharacterCodingException e) { d = "-"; }
        b.append("\t").append(d);
        try { d = hex(java.nio.charset.Charset.forName(c).newDecoder().decode(java.nio.ByteBuffer.wrap(u.getBytes())).toString().getBytes("UTF-8")); } catch (java.nio.charset.CharacterCodingException e) { d = "-"; }
        b.append("\t").append(d);
      }
      System.out.println(b);
    }
  }

  static byte[] bytes(java.nio.ByteBuffer b) {
    byte[] x = new byte[b.remaining()];
    b.get(x);
    return x;
  }

  // URI, "-" or its host, path, query, fragment, scheme, authority, user info, null where there is none
  static void uris(int n) {
    Random r = new Random(26);
    String[] seeds = {"http://user:pw@spark.apache.org:8080/path/a%20b?query=1&k=v%20w#Ref", "/relative?x=1", "mailto:a@b.c", "http://[::1]:80/x", "https://例え.jp/パス?q=日本", "https://example.com", "http://h/p?a=1&a=2", "http://1.2.3.4:80",
      "http://1.2.3/", "http://[fe80::1%25eth0]/", "http://[1:2:3:4:5:6:7:8]", "http://[::ffff:1.2.3.4]", "http://[1::2:3]/", "file:///etc/passwd", "http://", "urn:isbn:123", "//host/path", "a:b", "http://a-.b/", "http://a_b.c/", "?q", "#f", "http://h:99999999999/", "http://h:/x",
      "http://u@h@i/", "http://%41/", "http://a.1/", "http://256.1.1.1/", "1http://x", "http://x/ y", "jdbc:postgresql://h/d", "http://[::1", "http://ex ample", "http://[1:2:3:4:5:6:7]", "http://a..b/"};
    for (int i = 0; i < n; i++) {
      String s = i < seeds.length ? seeds[i] : mutate(r, seeds[r.nextInt(seeds.length)], "ah1:/?#[]@%.-_ é&=;,+2f\\\"<>{}|^`~!$'()*");
      String out;
      try {
        java.net.URI u = new java.net.URI(s);
        out = u.getHost() + "\t" + u.getRawPath() + "\t" + u.getRawQuery() + "\t" + u.getRawFragment() + "\t" + u.getScheme() + "\t" + u.getRawAuthority() + "\t" + u.getRawUserInfo();
      } catch (java.net.URISyntaxException e) {
        out = "-";
      }
      System.out.println(quote(s) + "\t" + out);
    }
  }

  // text, pattern, escape, true, false or the condition
  static void likes(int n) {
    Random r = new Random(27);
    String[] parts = {"a", "b", "ab", "%", "_", "\\", "/", "é", "😀", "\n", ".", "*"};
    for (int i = 0; i < n; i++) {
      String s = pick(r, parts, 6), p = r.nextInt(3) == 0 ? s : pick(r, parts, 5);
      if (r.nextInt(2) == 0) p = mutate(r, p, "%_ab");
      char e = "\\/a".charAt(r.nextInt(3));
      String out;
      try {
        out = "" + java.util.regex.Pattern.compile(org.apache.spark.sql.catalyst.util.StringUtils.escapeLikeRegex(p, e)).matcher(s).matches();
      } catch (Throwable x) {
        out = ((org.apache.spark.SparkThrowable) x).getCondition();
      }
      System.out.println(quote(s) + "\t" + quote(p) + "\t" + e + "\t" + out);
    }
  }

  static String conditions(Throwable e) {
    StringBuilder b = new StringBuilder();
    for (Throwable c = e; c != null; c = c.getCause()) {
      String n = c instanceof org.apache.spark.SparkThrowable ? ((org.apache.spark.SparkThrowable) c).getCondition() : null;
      if (n != null) b.append(b.length() > 0 ? "<" : "").append(n);
    }
    return b.length() == 0 ? "java" : b.toString();
  }

  static org.apache.spark.sql.catalyst.util.TimestampFormatter formatter(String p, ZoneId z, boolean reading) {
    return org.apache.spark.sql.catalyst.util.TimestampFormatter$.MODULE$.apply(p, z, Locale.US, org.apache.spark.sql.catalyst.util.LegacyDateFormats$.MODULE$.SIMPLE_DATE_FORMAT(), reading);
  }

  // write \t pattern \t zone \t microseconds \t text, and read \t pattern \t zone \t text \t microseconds or message; in place of both the conditions of a refusal
  static void patterns(int n) {
    Random r = new Random(28);
    String letters = "GyYMLwWDdFEuaHkKhmsSzZXxVvOqQgecAnNBpbCfijJloIPRtTUr";
    List<String> singles = new ArrayList<>();
    for (char c : letters.toCharArray()) for (int k = 1; k <= 11; k++) if (k < 6 || n > 10000 || r.nextInt(4) == 0) singles.add(String.valueOf(c).repeat(k));
    singles.addAll(Arrays.asList("'", "''", "'a''b'", "[", "]", "[yyyy", "yyyy]", "{", "}", "#", "", "日", "yyyy'", "[[yyyy]", "'[", "G''y"));
    String[] common = {"yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "dd/MM/yyyy", "yyyyMMdd", "yyyyMMddHHmmssSSS", "yyyy-MM-dd HH:mm:ss[.SSS]", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "EEE, d MMM yyyy", "hh:mm a", "yyyy-DDD", "MM/dd/yy h:mm a",
      "yyyy-MM-dd HH:mm:ss VV", "yyyy-MM-dd HH:mm:ss z", "yyyy-MM-dd HH:mm zzzz", "yyyy-MM-dd OOOO", "dd MMMM yyyy G", "yyMMdd", "HH:mm:ss.SSSSSS", "d.M.y", "MMM d, yyyy h:mm:ss a", "y-M-d H:m:s", "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd HH:mm:ssx", "QQQ yyyy", "kk:mm", "K:mm a", "HH", "a", "uuuu", "g", "yyyy-MM-dd HH:mm:ss O", "yyyy'年'MM'月'dd'日'", "yyyy-MM-dd v",
      "dMy", "HHmm", "Hmm", "ssSSS", "yyyyDDD", "D", "M", "MMM", "LLLL", "MMdd", "d MMM", "G y", "GGGG yyyy MM dd", "hh a", "h", "k", "mm:ss", "S", "ss.S", "HH:mm:ss[.SSSSSS][ VV][XXX]", "yyyy[-MM[-dd]]", "'on' yyyy-MM-dd 'at' HH:mm"};
    String[] tokens = {"yyyy", "yy", "y", "MM", "M", "MMM", "MMMM", "dd", "d", "HH", "H", "hh", "h", "mm", "ss", "S", "SSS", "SSSSSS", "a", "DDD", "D", "E", "EEEE", "VV", "z", "X", "XXX", "xx", "Z", "O", "OOOO", "-", "/", ":", " ", ".", "'T'", "[", "]", "Q", "QQQ", "G", "kk", "K", "F", "L"};
    String[] zones = {"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "-03:00", "Europe/Dublin", "America/Sao_Paulo", "Asia/Kathmandu", "GMT+8", "Z", "Africa/Casablanca", "Pacific/Apia", "GMT", "Etc/GMT+5", "CET", "US/Pacific", "Antarctica/Troll"};
    for (int i = 0; i < n; i++) {
      String p;
      if (i < 2 * singles.size()) p = singles.get(i / 2);
      else if (r.nextInt(3) > 0) p = common[r.nextInt(common.length)];
      else p = pick(r, tokens, 7);
      boolean reading = i < 2 * singles.size() ? i % 2 == 1 : r.nextInt(3) > 0;
      ZoneId z = org.apache.spark.sql.catalyst.util.DateTimeUtils.getZoneId(zones[r.nextInt(zones.length)]);
      long us = 1772359872123456L;
      switch (r.nextInt(6)) {
        case 0: us = (long) ((r.nextDouble() - 0.4) * 4e15); break;
        case 1: us = (long) ((r.nextDouble() - 0.6) * 1e17); break;
        case 2: us = (long) ((r.nextDouble()) * 2e15) / 86400000000L * 86400000000L; break;
        case 3: us = (long) ((r.nextDouble()) * 2e15) / 60000000L * 60000000L; break;
        case 4: us = (long) ((r.nextDouble() - 0.5) * 6e17); break;
      }
      String head = (reading ? "read" : "write") + "\t" + quote(p) + "\t" + z + "\t";
      org.apache.spark.sql.catalyst.util.TimestampFormatter f;
      try {
        f = formatter(p, z, reading);
        f.validatePatternString(true);
      } catch (Throwable e) {
        System.out.println(head + conditions(e));
        continue;
      }
      if (!reading) {
        String out;
        try { out = quote(f.format(us)); } catch (Throwable e) { out = "-"; }
        System.out.println(head + us + "\t" + out);
        continue;
      }
      String text;
      try { text = formatter(p, z, false).format(us); } catch (Throwable e) { text = "2026-03-01"; }
      if (r.nextInt(3) == 0) text = mutate(r, text, "0123456789 -:/.TZ+APMaprgmt");
      if (r.nextInt(10) == 0) text = r.nextBoolean() ? text.toUpperCase() : text.toLowerCase();
      String out;
      try { out = "" + f.parse(text); } catch (Throwable e) { out = e instanceof java.time.DateTimeException ? quote(e.getMessage()) : "-"; }
      System.out.println(head + quote(text) + "\t" + out);
    }
  }

  // format \t arguments as class:value \t text or the exception
  static void printfs(int n) {
    Random r = new Random(29);
    String conv = "bBhHsScCdoxXeEfgGaA%nzt";
    for (int i = 0; i < n; i++) {
      StringBuilder f = new StringBuilder();
      for (int k = 1 + r.nextInt(2); k > 0; k--) {
        if (r.nextInt(3) == 0) f.append(new String[] {"|", " ", "a", "日", "%%", ""}[r.nextInt(6)]);
        f.append('%');
        if (r.nextInt(10) == 0) f.append(1 + r.nextInt(3)).append('$');
        int flags = r.nextInt(5) == 0 ? 2 : r.nextInt(2);
        for (int m = flags; m > 0; m--) f.append("-#+ 0,(<".charAt(r.nextInt(r.nextInt(8) == 0 ? 8 : 7)));
        if (r.nextInt(2) == 0) f.append(1 + r.nextInt(15));
        if (r.nextInt(3) == 0) f.append('.').append(r.nextInt(8));
        char c = r.nextInt(3) == 0 ? "dsfegx".charAt(r.nextInt(6)) : conv.charAt(r.nextInt(conv.length()));
        f.append(c);
        if (c == 't') f.append("HIklMNLQpzTsSaAbBCdehjmyYrRcDFZx".charAt(r.nextInt(32)));
        if (r.nextInt(6) == 0) f.append("$.x%".charAt(r.nextInt(4)));
      }
      int count = r.nextInt(8) == 0 ? 0 : 3;
      Object[] args = new Object[count];
      StringBuilder shown = new StringBuilder();
      for (int k = 0; k < count; k++) {
        long v = r.nextInt(3) == 0 ? r.nextLong() : r.nextInt(2001) - 1000;
        double d;
        switch (r.nextInt(5)) {
          case 0: d = r.nextInt(200001) / 1000.0 - 100; break;
          case 1: d = Double.longBitsToDouble(r.nextLong()); break;
          case 2: d = r.nextInt(2000) * Math.pow(10, r.nextInt(40) - 20); break;
          case 3: d = new double[] {0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.5, 1.5, 2.5, 9.9999995, 1e23, 4.9e-324, 0.00012345, 123456.5, 999999.5}[r.nextInt(14)]; break;
          default: d = (r.nextInt(2001) - 1000) / 8.0;
        }
        switch (r.nextInt(9)) {
          case 0: args[k] = null; break;
          case 1: args[k] = r.nextBoolean(); break;
          case 2: args[k] = (byte) v; break;
          case 3: args[k] = (short) v; break;
          case 4: args[k] = (int) v; break;
          case 5: args[k] = v; break;
          case 6: args[k] = (float) d; break;
          case 7: args[k] = d; break;
          default: args[k] = UTF8String.fromString(pick(r, new String[] {"a", "B", "日本", "😀", " ", "straße", "xyz"}, 4));
        }
        if (k > 0) shown.append(',');
        shown.append(args[k] == null ? "null" : args[k].getClass().getSimpleName() + ":" + args[k]);
      }
      String out;
      try {
        StringBuffer sb = new StringBuffer();
        new Formatter(sb, Locale.US).format(f.toString(), args);
        out = quote(sb.toString());
      } catch (IllegalFormatException e) {
        out = e.getClass().getSimpleName();
      }
      System.out.println(quote(f.toString()) + "\t" + shown + "\t" + out);
    }
  }

  // pattern \t number as L, D or decimal \t text or "-"
  static void decimalFormats(int n) {
    Random r = new Random(30);
    String[] patterns = {"#,###.00", "#,##0.###", "0", "0.00", "#", "#.##", "###,###", "0.###E0", "00.00E00", "##0.##E0", "0%", "#,##0.0‰", "$#,##0.00;($#,##0.00)", "'#'0", "0.0 'a''b'", "#.", ".00", ".##", "000,000.0", "#,####", "¤0.00", "0;-0", "0.0;'neg '0.0", "#E0", "0.0E000", "", "x", "0.0.0", "#0#", "0,", "#,##0.00 ;x", "-0", "##.#", "00", "#,#,##0"};
    for (int i = 0; i < n; i++) {
      String p;
      if (r.nextInt(3) == 0) p = mutate(r, patterns[r.nextInt(patterns.length)], "#0,.;E%'-x ");
      else if (r.nextInt(2) == 0) p = "#,###,###,###,###,###,##0" + (r.nextInt(4) == 0 ? "" : "." + "0".repeat(1 + r.nextInt(6)));
      else p = patterns[r.nextInt(patterns.length)];
      Object v;
      switch (r.nextInt(6)) {
        case 0: v = r.nextLong() >> r.nextInt(63); break;
        case 1: v = (r.nextInt(200001) - 100000) / 1000.0; break;
        case 2: v = new double[] {0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.5, 1.5, 2.5, 0.125, 1e23, 4.9e-324, 1e15, 0.05, 0.005, -0.001, 1.005, 12332.123456, 1e-10}[r.nextInt(18)]; break;
        case 3: v = (r.nextInt(4001) - 2000) / 16.0; break;
        case 4: v = r.nextInt(2000) * Math.pow(10, r.nextInt(40) - 20); break;
        default: v = new java.math.BigDecimal(new java.math.BigInteger(r.nextInt(110) + 1, r), r.nextInt(20)); if (r.nextBoolean()) v = ((java.math.BigDecimal) v).negate();
      }
      String out;
      try {
        java.text.DecimalFormat f = new java.text.DecimalFormat("", new java.text.DecimalFormatSymbols(Locale.US));
        f.applyLocalizedPattern(p.isEmpty() ? "#,###,###,###,###,###,##0" : p);
        out = quote(f.format(v));
      } catch (IllegalArgumentException e) {
        out = "-";
      }
      System.out.println(quote(p) + "\t" + (v instanceof Long ? "L" + v : v instanceof Double ? "D" + v : ((java.math.BigDecimal) v).toPlainString()) + "\t" + out);
    }
  }

  // format \t condition, or precision,scale \t number \t to_char \t text \t to_number
  static void toChars(int n) {
    Random r = new Random(31);
    String[] seeds = {"999", "000", "9,999.99", "S999", "999S", "MI999", "999MI", "999PR", "$99.99", "S$9,999.9", "9G999D9", "0,000.00", "99.", ".99", "$9.9PR", "00", "9", "S9PR", "99,99", "090.90", "s99d9mi", "MI$0.0S", "9,9,9"};
    for (int i = 0; i < n; i++) {
      String f = seeds[r.nextInt(seeds.length)];
      if (r.nextInt(2) == 0) f = mutate(r, f, "09,.GDS$MIPRx ");
      org.apache.spark.sql.catalyst.util.ToNumberParser p = new org.apache.spark.sql.catalyst.util.ToNumberParser(f.toUpperCase(Locale.ROOT), false);
      org.apache.spark.sql.catalyst.analysis.TypeCheckResult c = p.checkInputDataTypes();
      if (c.isFailure()) {
        System.out.println(quote(f) + "\t" + ((org.apache.spark.sql.catalyst.analysis.TypeCheckResult.InvalidFormat) c).errorSubClass());
        continue;
      }
      java.math.BigDecimal v = new java.math.BigDecimal(new java.math.BigInteger(r.nextInt(20) + 1, r), r.nextInt(4));
      if (r.nextInt(3) == 0) v = v.negate();
      String shown;
      try { shown = quote(p.format(Decimal.apply(v)).toString()); } catch (Exception e) { shown = "-"; }
      String text = r.nextInt(3) > 0 && shown.length() > 1 ? p.format(Decimal.apply(v)).toString() : v.toPlainString();
      if (r.nextInt(3) == 0) text = mutate(r, text, "0123456789,.$+-<> \t");
      if (r.nextInt(2) == 0) text = text.trim();
      String read;
      try { Decimal d = p.parse(UTF8String.fromString(text)); read = d == null ? "null" : d.toJavaBigDecimal().toPlainString(); } catch (Exception e) { read = "-"; }
      System.out.println(quote(f) + "\t" + p.parsedDecimalType().precision() + "," + p.parsedDecimalType().scale() + "\t" + v.toPlainString() + "\t" + shown + "\t" + quote(text) + "\t" + read);
    }
  }

  // The table casing.txt: U(pper), L(ower) or T(itle), a letter, and what it becomes, where that is not what java.lang.Character has for the letter alone.
  static void casing() {
    for (int c = 0x80; c <= 0x10ffff; c++) {
      if (c >= 0xd800 && c < 0xe000) continue;
      UTF8String u = UTF8String.fromString(new String(Character.toChars(c)));
      casing("U", c, org.apache.spark.sql.catalyst.util.CollationSupport.Upper.exec(u, 0, true).toString(), Character.toUpperCase(c));
      casing("L", c, org.apache.spark.sql.catalyst.util.CollationSupport.Lower.exec(u, 0, true).toString(), Character.toLowerCase(c));
      casing("T", c, org.apache.spark.sql.catalyst.util.CollationSupport.InitCap.exec(u, 0, true).toString(), Character.toTitleCase(c));
    }
  }

  static void casing(String kind, int c, String to, int plain) {
    if (to.equals(new String(Character.toChars(plain)))) return;
    StringBuilder b = new StringBuilder(kind + " " + Integer.toHexString(c));
    to.codePoints().forEach(x -> b.append(' ').append(Integer.toHexString(x)));
    System.out.println(b);
  }
}
